/** Adds the current configuration and its README to workspace documents. */
import { type ResourceOf, relatedOne, resourceSchema, toOne } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { Type } from 'typebox';
import type { WorkspaceAccessResult } from '../../workspaces/access/access-operations.ts';
import { workspaceContribution } from '../../workspaces/seams/workspace-contributions.ts';
import {
  type CONFIGURATION_VERSION,
  type INGRESS_ATTRIBUTES,
  toConfigurationVersionResource,
  toIngressResources,
} from './configuration-version-document.ts';
import { configurationVersionRecords, workspaceReadmes } from './configuration-version-records.ts';

export const WORKSPACE_README = resourceSchema({
  type: 'workspace-readme',
  attributes: { 'raw-markdown': Type.String() },
});

const toReadmeId = (workspaceId: string): string => workspaceId.replace('ws-', 'readme-');

const loadReadme = async (
  reads: Reads,
  { workspace, permissions }: WorkspaceAccessResult,
): Promise<readonly ResourceOf<typeof WORKSPACE_README>[]> => {
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
): Promise<readonly ResourceOf<typeof CONFIGURATION_VERSION>[]> => {
  const version = await configurationVersionRecords.find(reads, versionId ?? '');
  return version === undefined ? [] : [toConfigurationVersionResource(version, null)];
};

/** The commit of the configuration version of this id, or none. */
export const loadIngress = async (
  reads: Reads,
  versionId: string | null | undefined,
): Promise<readonly ResourceOf<typeof INGRESS_ATTRIBUTES>[]> => {
  const version = await configurationVersionRecords.find(reads, versionId ?? '');
  return version === undefined ? [] : toIngressResources([version]);
};

export const WORKSPACE_CONFIGURATION_CONTRIBUTION = workspaceContribution({
  schema: {
    relationships: {
      'current-configuration-version': relatedOne('configuration-versions'),
      readme: relatedOne('workspace-readme'),
    },
  },
  relationships: ({ workspace, configuration }) => ({
    'current-configuration-version': toOne(
      'configuration-versions',
      configuration?.currentId ?? null,
    ),
    readme: toOne('workspace-readme', configuration?.hasReadme ? toReadmeId(workspace.id) : null),
  }),
  includes: {
    readme: {
      types: ['workspace-readme'],
      prepare:
        ({ context }) =>
        (access) =>
          loadReadme(context.store, access),
    },
    current_configuration_version: {
      types: ['configuration-versions'],
      prepare:
        ({ context }) =>
        async ({ configuration, permissions }) =>
          permissions.canReadRun
            ? loadConfigurationVersion(context.store, configuration?.currentId)
            : [],
    },
    'current_configuration_version.ingress_attributes': {
      types: ['ingress-attributes'],
      prepare:
        ({ context }) =>
        async ({ configuration, permissions }) =>
          permissions.canReadRun ? loadIngress(context.store, configuration?.currentId) : [],
    },
  },
});
