/** Adds the current configuration and its README to workspace documents. */
import { type Resource, toOne } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import type { WorkspaceAccessResult } from '../../workspaces/access/access-operations.ts';
import type { WorkspaceContribution } from '../../workspaces/seams/workspace-contributions.ts';
import {
  toConfigurationVersionResource,
  toIngressResources,
} from './configuration-version-document.ts';
import { configurationVersionRecords, workspaceReadmes } from './configuration-version-records.ts';

const toReadmeId = (workspaceId: string): string => workspaceId.replace('ws-', 'readme-');

const loadReadme = async (
  reads: Reads,
  { workspace, permissions }: WorkspaceAccessResult,
): Promise<readonly Resource[]> => {
  const readme = permissions.canReadRun
    ? await workspaceReadmes.find(reads, workspace.id)
    : undefined;
  if (readme === undefined) return [];
  const attributes = { 'raw-markdown': readme.markdown };
  return [{ id: toReadmeId(workspace.id), type: 'workspace-readme', attributes }];
};

/** The configuration version with this id, if any. */
export const loadConfigurationVersion = async (
  reads: Reads,
  versionId: string | null | undefined,
): Promise<readonly Resource[]> => {
  const version = await configurationVersionRecords.find(reads, versionId ?? '');
  return version === undefined ? [] : [toConfigurationVersionResource(version, null)];
};

/** The commit of the configuration version of this id, or none. */
export const loadIngress = async (
  reads: Reads,
  versionId: string | null | undefined,
): Promise<readonly Resource[]> => {
  const version = await configurationVersionRecords.find(reads, versionId ?? '');
  return version === undefined ? [] : toIngressResources([version]);
};

export const WORKSPACE_CONFIGURATION_CONTRIBUTION: WorkspaceContribution = {
  relationships: ({ workspace }) => ({
    'current-configuration-version': toOne(
      'configuration-versions',
      workspace.currentConfigurationVersionId,
    ),
    readme: toOne('workspace-readme', workspace.hasReadme ? toReadmeId(workspace.id) : null),
  }),
  includes: {
    readme: {
      prepare:
        ({ context }) =>
        (access) =>
          loadReadme(context.store, access),
    },
    current_configuration_version: {
      prepare:
        ({ context }) =>
        async ({ workspace, permissions }) =>
          permissions.canReadRun
            ? loadConfigurationVersion(context.store, workspace.currentConfigurationVersionId)
            : [],
    },
    'current_configuration_version.ingress_attributes': {
      prepare:
        ({ context }) =>
        async ({ workspace, permissions }) =>
          permissions.canReadRun
            ? loadIngress(context.store, workspace.currentConfigurationVersionId)
            : [],
    },
  },
};
