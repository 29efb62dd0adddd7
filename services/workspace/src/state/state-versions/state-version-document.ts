import {
  API_PREFIX,
  choice,
  dictionary,
  orNull,
  type ResourceOf,
  relatedMany,
  relatedOne,
  resourceSchema,
  timestamp,
  toMany,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { SignUrl } from '../../base/signed-urls/signed-url-operations.ts';
import type { WorkspacePermissions } from '../../workspaces/access/domain/workspace-permissions.ts';
import { STATE_STATUSES, type StateVersion } from '../model/domain/state-version.ts';
import { toOutputId, toOutputIds } from './domain/output-id.ts';
import { type StateOutput, type StateResource, toOutputType } from './domain/state-summary.ts';

export type ContentKind = 'state' | 'json-state';

export const uploadPath = (id: string, kind: ContentKind): string =>
  `/uploads/state-versions/${id}/${kind}`;
export const downloadPath = (id: string, kind: ContentKind): string =>
  `/downloads/state-versions/${id}/${kind}`;

const HOLDER_TYPES = { user: 'users', team: 'teams', run: 'runs' } as const;

const uploadUrl = orNull(
  Type.String({ description: 'Signed; null except while the state is pending.' }),
);
const downloadUrl = orNull(
  Type.String({ description: 'Signed; null unless there is content to download.' }),
);
const counts = dictionary(dictionary(Type.Integer()), {
  description: 'Resource types with their numbers, by name.',
});

export const STATE_VERSION = resourceSchema({
  type: 'state-versions',
  attributes: {
    'created-at': timestamp(),
    serial: Type.Integer(),
    md5: Type.String({ description: 'Hexadecimal, of the bytes of the state.' }),
    lineage: orNull(Type.String()),
    size: Type.Integer({ description: 'In bytes.' }),
    status: choice(STATE_STATUSES),
    intermediate: Type.Boolean({
      description: 'Uploaded during an apply; it becomes current when the lock is released.',
    }),
    'state-version': orNull(Type.Integer({ description: 'Version of the format.' })),
    'terraform-version': orNull(Type.String()),
    'runtime-version': orNull(Type.String({ description: 'The same as `terraform-version`.' })),
    'resources-processed': Type.Boolean({
      description: 'Whether resources and outputs have been read from the state.',
    }),
    'billable-rum-count': Type.Integer({ description: 'Number of managed resources.' }),
    resources: Type.Array(
      Type.Object({
        name: Type.String(),
        type: Type.String(),
        module: Type.String({ description: '`root`, or the address of the module.' }),
        provider: Type.String(),
        count: Type.Integer(),
      }),
    ),
    modules: counts,
    providers: counts,
    'vcs-commit-sha': orNull(Type.String({ description: 'Always null.' })),
    'vcs-commit-url': orNull(Type.String({ description: 'Always null.' })),
    'hosted-state-upload-url': uploadUrl,
    'hosted-json-state-upload-url': uploadUrl,
    'hosted-state-download-url': downloadUrl,
    'hosted-json-state-download-url': downloadUrl,
  },
  relationships: {
    workspace: relatedOne('workspaces', 'linked'),
    run: relatedOne('runs'),
    'created-by': relatedOne(Object.values(HOLDER_TYPES)),
    'rollback-state-version': relatedOne('state-versions'),
    outputs: relatedMany('state-version-outputs'),
  },
  links: ['self'],
});

const OUTPUT = {
  name: Type.String(),
  sensitive: Type.Boolean(),
  value: Type.Unknown({ description: 'Null where it is sensitive or too large to be shown.' }),
};
const outputType = Type.String({ description: '`string`, `number`, `bool`, `array` or `map`.' });

export const STATE_VERSION_OUTPUT = resourceSchema({
  type: 'state-version-outputs',
  attributes: {
    ...OUTPUT,
    type: outputType,
    'detailed-type': Type.Unknown({
      description: 'The type as the state has it: a text, or a list that begins with one.',
    }),
  },
});

export const WORKSPACE_OUTPUT = resourceSchema({
  type: 'workspace-outputs',
  attributes: { ...OUTPUT, 'output-type': outputType },
});

export interface ShownStateVersion {
  readonly version: StateVersion;
  /** Permissions of the reader. */
  readonly permissions: Pick<WorkspacePermissions, 'canCreateStateVersions'>;
}

const toUrls = ({ version, permissions }: ShownStateVersion, sign: SignUrl) => {
  const { id, status, state, jsonState } = version;
  // Both are present while the state is pending, because clients retry when a URL is absent.
  const upload = (kind: ContentKind) =>
    status === 'pending' && permissions.canCreateStateVersions
      ? sign('PUT', uploadPath(id, kind))
      : null;
  const download = (kind: ContentKind, content: unknown) =>
    status === 'finalized' && content !== null ? sign('GET', downloadPath(id, kind)) : null;
  return {
    'hosted-state-upload-url': upload('state'),
    'hosted-json-state-upload-url': upload('json-state'),
    'hosted-state-download-url': download('state', state),
    'hosted-json-state-download-url': download('json-state', jsonState),
  };
};

/** Resource types counted for each module and each provider, with hyphens instead of underscores. */
const countBy = (
  resources: readonly StateResource[],
  group: (resource: StateResource) => string,
): Record<string, Record<string, number>> => {
  const counts = new Map<string, Map<string, number>>();
  for (const resource of resources) {
    const name = group(resource);
    const types = counts.get(name) ?? new Map<string, number>();
    const type = `${resource.isManaged ? '' : 'data.'}${resource.type.replaceAll('_', '-')}`;
    counts.set(name, types.set(type, (types.get(type) ?? 0) + resource.count));
  }
  return Object.fromEntries([...counts].map(([name, types]) => [name, Object.fromEntries(types)]));
};

/** A state version document. `sign` creates its signed URLs for the reader. */
export const toStateVersionResource = (
  { version, permissions }: ShownStateVersion,
  resources: readonly StateResource[],
  sign: SignUrl,
): ResourceOf<typeof STATE_VERSION> => ({
  id: version.id,
  type: 'state-versions',
  attributes: {
    'created-at': toTimestamp(version.createdAtMs),
    serial: version.serial,
    md5: version.md5,
    lineage: version.lineage,
    size: version.state?.sizeBytes ?? 0,
    status: version.status,
    intermediate: version.isIntermediate,
    'state-version': version.formatVersion,
    'terraform-version': version.runtimeVersion,
    'runtime-version': version.runtimeVersion,
    'resources-processed': version.status !== 'pending',
    'billable-rum-count': version.managedCount,
    resources: resources.map(({ name, type, module, provider, count }) => ({
      name,
      type,
      module,
      provider,
      count,
    })),
    modules: countBy(resources, ({ module }) => module),
    providers: countBy(resources, ({ provider }) => provider),
    'vcs-commit-sha': null,
    'vcs-commit-url': null,
    ...toUrls({ version, permissions }, sign),
  },
  relationships: {
    workspace: toOne(
      'workspaces',
      version.workspaceId,
      `${API_PREFIX}/workspaces/${version.workspaceId}`,
    ),
    run: toOne('runs', version.runId),
    'created-by': toOne(HOLDER_TYPES[version.createdBy.kind], version.createdBy.id),
    'rollback-state-version': toOne('state-versions', version.rollbackOf),
    outputs: toMany('state-version-outputs', toOutputIds(version.id, version.outputCount)),
  },
  links: { self: `${API_PREFIX}/state-versions/${version.id}` },
});

const toShown = (output: StateOutput, showsSensitive: boolean) => {
  const { detail, isSensitive } = output;
  return detail === null || (isSensitive && !showsSensitive) ? null : detail.value;
};

/** Clients read the output from the state itself when they find no detailed type. */
export const toOutputResource = (
  stateVersionId: string,
  index: number,
  output: StateOutput,
  showsSensitive = false,
): ResourceOf<typeof STATE_VERSION_OUTPUT> => ({
  id: toOutputId(stateVersionId, index),
  type: 'state-version-outputs',
  attributes: {
    name: output.name,
    sensitive: output.isSensitive,
    type: toOutputType(output),
    'detailed-type': output.detail?.type ?? null,
    value: toShown(output, showsSensitive),
  },
});

/** The same output in the form that its workspace shows. */
export const toWorkspaceOutputResource = (
  stateVersionId: string,
  index: number,
  output: StateOutput,
): ResourceOf<typeof WORKSPACE_OUTPUT> => ({
  id: toOutputId(stateVersionId, index),
  type: 'workspace-outputs',
  attributes: {
    name: output.name,
    sensitive: output.isSensitive,
    'output-type': toOutputType(output),
    value: toShown(output, false),
  },
});
