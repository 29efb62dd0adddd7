/** A workspace's states, as its documents show them. */
import {
  API_PREFIX,
  type Resource,
  relatedMany,
  relatedOne,
  toMany,
  toOne,
} from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { Type } from 'typebox';
import { loadUrlSigner, type SignUrl } from '../../base/signed-urls/signed-url-operations.ts';
import type { ShownWorkspace } from '../../workspaces/access/shown-workspace.ts';
import { workspaceContribution } from '../../workspaces/seams/workspace-contributions.ts';
import { toOutputIds } from './domain/output-id.ts';
import { toWorkspaceOutputResource } from './state-version-document.ts';
import { loadStateVersionResource } from './state-version-includes.ts';
import { stateSummaries, stateVersionRecords } from './state-version-records.ts';

const loadOutputs = async (
  reads: Reads,
  { state: { currentId }, permissions }: ShownWorkspace,
): Promise<readonly Resource[]> => {
  if (!permissions.canReadStateOutputs) return [];
  const summary = currentId === null ? undefined : await stateSummaries.find(reads, currentId);
  return (summary?.outputs ?? []).map((output, index) =>
    toWorkspaceOutputResource(currentId ?? '', index, output),
  );
};

const loadCurrentState = async (
  reads: Reads,
  { state: { currentId }, permissions }: ShownWorkspace,
  sign: SignUrl,
): Promise<readonly Resource[]> => {
  if (!permissions.canReadStateVersions) return [];
  const version = await stateVersionRecords.find(reads, currentId ?? '');
  return version === undefined
    ? []
    : [await loadStateVersionResource(reads, { version, permissions }, sign)];
};

export const WORKSPACE_STATE_CONTRIBUTION = workspaceContribution({
  schema: {
    attributes: {
      'resource-count': Type.Integer({ description: 'Managed resources in the current state.' }),
    },
    relationships: {
      'current-state-version': relatedOne('state-versions', 'linked'),
      outputs: relatedMany('workspace-outputs'),
    },
  },
  attributes: ({ state }) => ({ 'resource-count': state.resourceCount }),
  relationships: ({ workspace, state, permissions }) => ({
    'current-state-version': toOne(
      'state-versions',
      permissions.canReadStateVersions ? state.currentId : null,
      `${API_PREFIX}/workspaces/${workspace.id}/current-state-version`,
    ),
    outputs: toMany(
      'workspace-outputs',
      permissions.canReadStateOutputs ? toOutputIds(state.currentId, state.outputCount) : [],
    ),
  }),
  includes: {
    outputs: {
      types: ['workspace-outputs'],
      isOpenToRuns: true,
      prepare:
        ({ context }) =>
        (access) =>
          loadOutputs(context.store, access),
    },
    current_state_version: {
      types: ['state-versions'],
      isOpenToRuns: true,
      prepare: async ({ context, caller }) => {
        const sign = await loadUrlSigner(context, caller);
        return (access) => loadCurrentState(context.store, access, sign);
      },
    },
    // The resources that a state manages are on the state version itself.
    'current_state_version.resources_processed': { types: [], prepare: () => async () => [] },
  },
});
