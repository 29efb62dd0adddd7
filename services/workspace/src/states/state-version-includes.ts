/** State versions as their readers see them, and what is shown beside them. */
import type { Resource } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { toConfigurationVersionResource } from '../configuration-versions/configuration-version-document.ts';
import { configurationVersionRecords } from '../configuration-versions/configuration-version-records.ts';
import { loadComments } from '../runs/run-comment-operations.ts';
import { toRunResource } from '../runs/run-document.ts';
import { runRecords } from '../runs/run-records.ts';
import type { SignUrl } from '../signed-urls/signed-url-operations.ts';
import { toUserResource } from '../users/user-document.ts';
import { userRecords } from '../users/user-records.ts';
import {
  type ShownStateVersion,
  toOutputResource,
  toStateVersionResource,
} from './state-version-document.ts';
import type { StateAccess } from './state-version-operations.ts';
import { stateSummaries } from './state-version-records.ts';

export const STATE_VERSION_INCLUDES: ReadonlySet<string> = new Set([
  'outputs',
  'run',
  'created_by',
  'run.created_by',
  'run.configuration_version',
]);

/** @param sign makes the addresses that its reader may use */
export const loadStateVersionResource = async (
  reads: Reads,
  shown: ShownStateVersion,
  sign: SignUrl,
): Promise<Resource> => {
  const summary = await stateSummaries.find(reads, shown.version.id);
  return toStateVersionResource(shown, summary?.resources ?? [], sign);
};

const loadIncludedOf = async (
  reads: Reads,
  include: ReadonlySet<string>,
  { version: { id, createdBy, runId, workspaceId }, permissions, standing }: StateAccess,
): Promise<readonly Resource[]> => {
  const outputs = include.has('outputs') ? (await stateSummaries.find(reads, id))?.outputs : [];
  const user =
    include.has('created_by') && createdBy.kind === 'user'
      ? await userRecords.find(reads, createdBy.id)
      : undefined;
  // The token of a run reads states, and no runs.
  const named =
    permissions.canReadRun && standing.kind !== 'run'
      ? await runRecords.find(reads, runId ?? '')
      : undefined;
  // A writer may name any run; the permissions are those on this workspace.
  const run = named?.workspaceId === workspaceId ? named : undefined;
  const starter = include.has('run.created_by')
    ? await userRecords.find(reads, run?.createdById ?? '')
    : undefined;
  const configuration = include.has('run.configuration_version')
    ? await configurationVersionRecords.find(reads, run?.configurationVersionId ?? '')
    : undefined;
  return [
    ...(outputs ?? []).map((output, index) => toOutputResource(id, index, output)),
    ...(user === undefined ? [] : [toUserResource(user, false)]),
    ...(run === undefined || !include.has('run')
      ? []
      : [toRunResource(run, await loadComments(reads, run.id), permissions)]),
    ...(starter === undefined ? [] : [toUserResource(starter, false)]),
    ...(configuration === undefined ? [] : [toConfigurationVersionResource(configuration, null)]),
  ];
};

/** The resources that `include` names, each once. */
export const loadStateIncluded = async (
  reads: Reads,
  include: ReadonlySet<string>,
  versions: readonly StateAccess[],
): Promise<readonly Resource[]> => {
  const found = new Map<string, Resource>();
  for (const access of include.size === 0 ? [] : versions) {
    for (const resource of await loadIncludedOf(reads, include, access)) {
      found.set(`${resource.type} ${resource.id}`, resource);
    }
  }
  return [...found.values()];
};
