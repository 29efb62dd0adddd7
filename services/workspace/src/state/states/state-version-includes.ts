/** State versions as their readers see them, with the resources that `include` adds. */
import type { Resource } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import type { SignUrl } from '../../base/signed-urls/signed-url-operations.ts';
import { userRecords } from '../../identity/model/user-records.ts';
import { toUserResource } from '../../identity/users/user-document.ts';
import type { StateContext } from '../seams/state-context.ts';
import type { StateAccess } from '../seams/state-contributions.ts';
import {
  type ShownStateVersion,
  toOutputResource,
  toStateVersionResource,
} from './state-version-document.ts';
import { stateSummaries } from './state-version-records.ts';

const OUTPUTS = 'outputs';
const CREATED_BY = 'created_by';

/** Names allowed in `include`. */
export const toStateIncludeNames = ({ stateContributions }: StateContext): ReadonlySet<string> =>
  new Set([OUTPUTS, CREATED_BY, ...stateContributions.flatMap((part) => Object.keys(part))]);

/** @param sign creates the signed URLs for the reader */
export const loadStateVersionResource = async (
  reads: Reads,
  shown: ShownStateVersion,
  sign: SignUrl,
): Promise<Resource> => {
  const summary = await stateSummaries.find(reads, shown.version.id);
  return toStateVersionResource(shown, summary?.resources ?? [], sign);
};

const loadIncludedOf = async (
  { store: reads, stateContributions }: StateContext,
  include: ReadonlySet<string>,
  access: StateAccess,
): Promise<readonly Resource[]> => {
  const { id, createdBy } = access.version;
  const outputs = include.has(OUTPUTS) ? (await stateSummaries.find(reads, id))?.outputs : [];
  const user =
    include.has(CREATED_BY) && createdBy.kind === 'user'
      ? await userRecords.find(reads, createdBy.id)
      : undefined;
  const contributed = await Promise.all(
    stateContributions
      .flatMap((part) => Object.entries(part))
      .filter(([name]) => include.has(name))
      .map(([, load]) => load(reads, access)),
  );
  return [
    ...(outputs ?? []).map((output, index) => toOutputResource(id, index, output)),
    ...(user === undefined ? [] : [toUserResource(user, false)]),
    ...contributed.flat(),
  ];
};

/** The resources named in `include`, without duplicates. */
export const loadStateIncluded = async (
  context: StateContext,
  include: ReadonlySet<string>,
  versions: readonly StateAccess[],
): Promise<readonly Resource[]> => {
  const found = new Map<string, Resource>();
  for (const access of include.size === 0 ? [] : versions) {
    for (const resource of await loadIncludedOf(context, include, access)) {
      found.set(`${resource.type} ${resource.id}`, resource);
    }
  }
  return [...found.values()];
};
