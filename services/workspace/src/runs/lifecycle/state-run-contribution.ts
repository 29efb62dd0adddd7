/** Includes the run that wrote a state version with the version. */
import type { Reads } from '@keelson/storage';
import { userRecords } from '../../identity/model/user-records.ts';
import { toUserResource } from '../../identity/users/user-document.ts';
import { loadConfigurationVersion } from '../../state/configuration-versions/workspace-configuration-contribution.ts';
import type { StateAccess, StateContribution } from '../../state/seams/state-contributions.ts';
import type { Run } from '../model/domain/run.ts';
import { runRecords } from '../model/run-records.ts';
import { loadComments } from './run-comment-operations.ts';
import { toRunResource } from './run-document.ts';

/** A writer may name any run; the permissions checked are those on the workspace of the state. */
const findRun = async (
  reads: Reads,
  { version, permissions, caller }: StateAccess,
): Promise<Run | undefined> => {
  // The token of a run reads states but not runs.
  if (!permissions.canReadRun || caller.kind === 'run') return undefined;
  const run = await runRecords.find(reads, version.runId ?? '');
  return run?.workspaceId === version.workspaceId ? run : undefined;
};

export const STATE_RUN_CONTRIBUTION: StateContribution = {
  run: {
    types: ['runs'],
    load: async (reads, access) => {
      const run = await findRun(reads, access);
      if (run === undefined) return [];
      return [toRunResource(run, await loadComments(reads, run.id), access.permissions)];
    },
  },
  'run.created_by': {
    types: ['users'],
    load: async (reads, access) => {
      const run = await findRun(reads, access);
      const user = await userRecords.find(reads, run?.createdById ?? '');
      return user === undefined ? [] : [toUserResource(user)];
    },
  },
  'run.configuration_version': {
    types: ['configuration-versions'],
    load: async (reads, access) => {
      const run = await findRun(reads, access);
      return loadConfigurationVersion(reads, run?.configurationVersionId);
    },
  },
};
