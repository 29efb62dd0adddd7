/** State versions as their readers see them, with the resources that `include` adds. */
import { type Includes, type Resource, type ResourceOf } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { IncludedResources } from '../../base/included-resources.ts';
import type { SignUrl } from '../../base/signed-urls/signed-url-operations.ts';
import { userRecords } from '../../identity/model/user-records.ts';
import { toUserResource } from '../../identity/users/user-document.ts';
import type { StateContext } from '../seams/state-context.ts';
import type { StateAccess } from '../seams/state-contributions.ts';
import {
  type ShownStateVersion,
  type STATE_VERSION,
  toOutputResource,
  toStateVersionResource,
} from './state-version-document.ts';
import { stateSummaries } from './state-version-records.ts';

const OUTPUTS = 'outputs';
const CREATED_BY = 'created_by';

/** Names allowed in `include`, with the types of what is included. */
export const toStateIncludes = ({ stateContributions }: StateContext): Includes => {
  const contributed = stateContributions.flatMap((part) =>
    Object.entries(part).map(([name, { types }]) => [name, types] as const),
  );
  return {
    [OUTPUTS]: ['state-version-outputs'],
    [CREATED_BY]: ['users'],
    ...Object.fromEntries(contributed),
  };
};

/** @param sign creates the signed URLs for the reader */
export const loadStateVersionResource = async (
  reads: Reads,
  shown: ShownStateVersion,
  sign: SignUrl,
): Promise<ResourceOf<typeof STATE_VERSION>> => {
  const summary = await stateSummaries.find(reads, shown.version.id);
  return toStateVersionResource(shown, summary?.resources ?? [], sign);
};

/** The resources named in `include`, without duplicates. */
export const loadStateIncluded = async (
  context: StateContext,
  include: ReadonlySet<string>,
  versions: readonly StateAccess[],
): Promise<readonly Resource[]> => {
  const { store: reads, stateContributions } = context;
  const included = new IncludedResources();
  const loadOutputs = async ({ version: { id } }: StateAccess): Promise<readonly Resource[]> => {
    const outputs = (await stateSummaries.find(reads, id))?.outputs ?? [];
    return outputs.map((output, index) => toOutputResource(id, index, output));
  };
  const loadCreator = async ({ version }: StateAccess): Promise<Resource | undefined> => {
    const { kind, id } = version.createdBy;
    const user = kind === 'user' ? await userRecords.find(reads, id) : undefined;
    return user && toUserResource(user);
  };
  const contributed = stateContributions
    .flatMap((part) => Object.entries(part))
    .flatMap(([name, { load }]) => (include.has(name) ? [load] : []));
  for (const access of versions) {
    if (include.has(OUTPUTS)) await included.add(loadOutputs(access));
    if (include.has(CREATED_BY)) await included.add(loadCreator(access));
    for (const load of contributed) await included.add(load(reads, access));
  }
  return included.all;
};
