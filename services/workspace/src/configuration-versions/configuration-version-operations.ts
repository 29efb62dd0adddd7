import { KeelsonError } from '@keelson/errors';
import { newResourceId, type Page } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import type { Kysely } from 'kysely';
import {
  notFound,
  requireWorkspace,
  type WorkspaceAccessResult,
} from '../access/access-operations.ts';
import { requireAnnouncer } from '../access/upload-access-operations.ts';
import { hasRuns } from '../agents/run-executor-operations.ts';
import { queueUploadedRun } from '../runs/run-creation.ts';
import type { ServiceContext } from '../service-context.ts';
import {
  adoptContent,
  readLooseContent,
  releaseContent,
  storeContent,
} from '../states/state-content-operations.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import type { ConfigurationVersionTables } from './configuration-version-projections.ts';
import {
  configurationVersionRecords,
  workspaceConfigurationVersions,
  workspaceReadmes,
} from './configuration-version-records.ts';
import {
  type ConfigurationVersion,
  isGzip,
  MAX_ARCHIVE_BYTES,
} from './domain/configuration-version.ts';
import { findReadme } from './readme-reader.ts';

export type GivenConfigurationVersion = Pick<
  ConfigurationVersion,
  'autoQueueRuns' | 'speculative' | 'provisional'
>;

/** Announces an upload. */
export const createConfigurationVersion = (
  { store, clock }: ServiceContext,
  principal: Principal,
  workspaceId: string,
  given: GivenConfigurationVersion,
): Promise<ConfigurationVersion> =>
  store.transact(async (tx) => {
    await requireWorkspace(tx, principal, { workspaceId }, 'canQueueRun');
    const createdAtMs = clock.nowMs();
    const version: ConfigurationVersion = {
      ...given,
      id: newResourceId('cv'),
      workspaceId,
      status: 'pending',
      statusTimesMs: {},
      source: 'tfe-api',
      archive: null,
      createdById: principal.kind === 'user' ? principal.id : null,
      hasRun: false,
      announcedWith: principal.tokenId,
      createdAtMs,
    };
    configurationVersionRecords.write(tx, [version.id], version);
    workspaceConfigurationVersions.write(tx, [workspaceId, version.id], {});
    return version;
  });

/** The first upload, and others in its place until a run has the files. */
const requireReplaceable = ({ status, hasRun }: ConfigurationVersion): void => {
  if (status === 'pending' || (status === 'uploaded' && !hasRun)) return;
  throw new KeelsonError('workspace.conflict', {
    text: hasRun
      ? 'a run was queued with the uploaded configuration, whose files stay as they are'
      : `a configuration version that is ${status} takes no upload`,
  });
};

/** It becomes the workspace's current one. */
const becomesCurrent = ({ speculative, provisional }: GivenConfigurationVersion): boolean =>
  !speculative && !provisional;

const storeReadme = (tx: Transaction, ownerId: string, markdown: string | null): void => {
  if (markdown === null) workspaceReadmes.delete(tx, ownerId);
  else workspaceReadmes.write(tx, [ownerId], { markdown });
};

/**
 * Takes the archive of an announced version, in place of one that came before and that no run has, and
 * queues the run that it asks for. Called with a
 * signed address; the rights are those that the announcer has now.
 * @throws KeelsonError `request.too_large`, `workspace.conflict`, `workspace.not_found` when the announcer
 *   may no longer queue runs
 */
export const uploadConfiguration = async (
  context: ServiceContext,
  versionId: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const { store, clock } = context;
  const announced = await configurationVersionRecords.find(store, versionId);
  if (announced === undefined) throw notFound('configuration version');
  const owner = await requireAnnouncer(store, announced, 'canQueueRun', clock.nowMs());
  requireReplaceable(announced);
  let sizeBytes = 0;
  const content = await storeContent(context, pieces, (piece) => {
    if (sizeBytes === 0 && piece.byteLength > 1 && !isGzip(piece)) {
      throw new KeelsonError('request.invalid', { text: 'the configuration is not a tar.gz file' });
    }
    sizeBytes += piece.byteLength;
    if (sizeBytes > MAX_ARCHIVE_BYTES) {
      throw new KeelsonError('request.too_large', { limitBytes: MAX_ARCHIVE_BYTES });
    }
  });
  const folder = owner.workspace.settings.workingDirectory ?? '';
  const readme = !announced.speculative
    ? await findReadme(readLooseContent(store, content), folder)
    : null;
  await store.transact(async (tx) => {
    const version = await configurationVersionRecords.find(tx, versionId);
    const workspace = version && (await workspaceRecords.find(tx, version.workspaceId));
    if (version === undefined || workspace === undefined) throw notFound('configuration version');
    const { permissions } = await requireAnnouncer(tx, version, 'canQueueRun', clock.nowMs());
    requireReplaceable(version);
    await releaseContent(tx, version.archive);
    const uploaded: ConfigurationVersion = {
      ...version,
      status: 'uploaded',
      statusTimesMs: { uploaded: clock.nowMs() },
      archive: await adoptContent(context, tx, content),
    };
    configurationVersionRecords.write(tx, [versionId], uploaded);
    const next = becomesCurrent(version)
      ? { ...workspace, currentConfigurationVersionId: version.id, hasReadme: readme !== null }
      : workspace;
    if (!version.speculative)
      storeReadme(tx, next === workspace ? version.id : workspace.id, readme);
    workspaceRecords.write(tx, [workspace.id], next);
    if (version.autoQueueRuns && (await hasRuns(tx, next))) {
      const origin = {
        mayApply: permissions.canQueueApply,
        nowMs: clock.nowMs(),
        order: context.nextRunOrder(),
      };
      await queueUploadedRun(tx, next, uploaded, origin);
    }
  });
};

export interface ConfigurationVersionAccess extends WorkspaceAccessResult {
  readonly version: ConfigurationVersion;
}

/** @throws KeelsonError `workspace.not_found` */
export const requireConfigurationVersion = async (
  reads: Reads,
  principal: Principal,
  versionId: string,
  permission: 'canReadRun' | 'canQueueRun' | 'canUpdate' = 'canReadRun',
): Promise<ConfigurationVersionAccess> => {
  const version = await configurationVersionRecords.find(reads, versionId);
  if (version === undefined) throw notFound('configuration version');
  const address = { workspaceId: version.workspaceId };
  return { ...(await requireWorkspace(reads, principal, address, permission)), version };
};

export interface ConfigurationVersionPage {
  readonly versions: readonly ConfigurationVersion[];
  readonly totalCount: number;
}

/** Those of a workspace, newest first. */
export const listConfigurationVersions = async (
  { store }: ServiceContext,
  principal: Principal,
  workspaceId: string,
  { number, size }: Page,
): Promise<ConfigurationVersionPage> => {
  await requireWorkspace(store, principal, { workspaceId }, 'canReadRun');
  const [counted] = await store.select((tables: Kysely<ConfigurationVersionTables>) =>
    tables
      .selectFrom('configuration_version')
      .where('workspace_id', '=', workspaceId)
      .select((rows) => rows.fn.countAll<number | bigint>().as('versions')),
  );
  const rows = await store.select((tables: Kysely<ConfigurationVersionTables>) =>
    tables
      .selectFrom('configuration_version')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(size)
      .offset((number - 1) * size),
  );
  const found = await Promise.all(
    rows.map(({ id }) => configurationVersionRecords.find(store, id)),
  );
  return {
    versions: found.filter((version) => version !== undefined),
    totalCount: Number(counted?.versions ?? 0),
  };
};
