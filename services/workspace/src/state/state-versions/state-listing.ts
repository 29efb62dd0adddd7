import type { Page } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { readableOnly, type Store } from '@keelson/storage';
import type { Kysely } from 'kysely';
import type { ServiceContext } from '../../base/service-context.ts';
import {
  requireWorkspace,
  type WorkspaceAddress,
} from '../../workspaces/access/access-operations.ts';
import type { StateAccess } from '../seams/state-contributions.ts';
import type { StateVersionTables } from './state-version-projections.ts';
import { stateVersionRecords } from './state-version-records.ts';

type Tables = Kysely<StateVersionTables>;

const selectIds = (
  store: Pick<Store, 'select'>,
  workspaceId: string,
  statuses: readonly string[],
  { number, size }: Page,
) =>
  store.select((tables: Tables) => {
    const found = tables
      .selectFrom('state_version')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .orderBy('number', 'desc')
      .limit(size)
      .offset((number - 1) * size);
    return statuses.length === 0 ? found : found.where('status', 'in', statuses);
  });

const countVersions = async (
  store: Pick<Store, 'select'>,
  workspaceId: string,
  statuses: readonly string[],
): Promise<number> => {
  const [row] = await store.select((tables: Tables) => {
    const found = tables
      .selectFrom('state_version')
      .select((rows) => rows.fn.countAll<number | bigint>().as('versions'))
      .where('workspace_id', '=', workspaceId);
    return statuses.length === 0 ? found : found.where('status', 'in', statuses);
  });
  return Number(row?.versions ?? 0);
};

export interface StatePage {
  readonly versions: readonly StateAccess[];
  readonly totalCount: number;
}

/** The states of a workspace, newest first. */
export const listStateVersions = async (
  { store }: ServiceContext,
  principal: Principal,
  address: WorkspaceAddress,
  statuses: readonly string[],
  page: Page,
): Promise<StatePage> => {
  const access = await requireWorkspace(store, principal, address, 'canReadStateVersions');
  const { id } = access.workspace;
  const totalCount = await countVersions(store, id, statuses);
  const rows = totalCount === 0 ? [] : await selectIds(store, id, statuses, page);
  const versions = await Promise.all(
    rows.map((row) => stateVersionRecords.find(readableOnly(store), row.id)),
  );
  return {
    versions: versions
      .filter((version) => version !== undefined)
      .map((version) => ({ ...access, version })),
    totalCount,
  };
};

/** Ids of a workspace's states, unordered. */
export const findStateIdsOf = async (
  store: Pick<Store, 'select'>,
  workspaceId: string,
  limit: number,
): Promise<readonly string[]> =>
  (await selectIds(store, workspaceId, [], { number: 1, size: limit })).map(({ id }) => id);
