/** Create and update requests of a workspace: their schema, old and vendor-specific names, and decoding. */
import {
  type CheckTexts,
  nullable,
  parseTimestampMs,
  refuseInvalid,
  resourceBody,
  type UnsupportedFields,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import { EXECUTION_MODES } from '../../base/execution/domain/execution.ts';
import { toCamelKeys } from '../../base/validation/attribute-names.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { checkActivityDuration, type SettingsInput } from '../model/domain/workspace-settings.ts';
import { GIVEN_BINDINGS } from '../tags/tag-request.ts';
import { checkSourceUrl, checkWorkspaceName, type WorkspaceInput } from './workspace-operations.ts';

const flag = Type.Optional(Type.Boolean());
const text = (maxLength: number) => Type.Optional(nullable(Type.String({ maxLength })));
const paths = Type.Optional(Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 100 }));

const attributes = {
  'agent-pool-id': text(64),
  'allow-destroy-plan': flag,
  'assessments-enabled': flag,
  'auto-apply': flag,
  'auto-apply-run-trigger': flag,
  'auto-destroy-at': text(40),
  'auto-destroy-activity-duration': text(40),
  description: text(65_536),
  'execution-mode': Type.Optional(
    nullable(Type.Union(EXECUTION_MODES.map((mode) => Type.Literal(mode)))),
  ),
  'file-triggers-enabled': flag,
  'inherits-project-auto-destroy': flag,
  'global-remote-state': flag,
  'project-remote-state': flag,
  operations: flag,
  'queue-all-runs': flag,
  'runtime-version': Type.Optional(Type.String({ maxLength: 200 })),
  'setting-overwrites': Type.Optional(
    nullable(
      Type.Object({
        'execution-mode': Type.Optional(nullable(Type.Boolean())),
        'agent-pool': Type.Optional(nullable(Type.Boolean())),
      }),
    ),
  ),
  'speculative-enabled': flag,
  'structured-run-output-enabled': flag,
  'trigger-patterns': paths,
  'trigger-prefixes': paths,
  'vcs-repo': Type.Optional(
    nullable(
      Type.Object({
        branch: text(255),
        identifier: text(512),
        'ingress-submodules': Type.Optional(Type.Boolean()),
        'oauth-token-id': text(64),
        'tags-regex': text(512),
      }),
    ),
  ),
  'working-directory': text(1024),
};

const relationships = Type.Object({
  project: Type.Optional(
    Type.Object({
      data: Type.Optional(
        nullable(
          Type.Object({
            type: Type.Optional(Type.Literal('projects')),
            id: Type.Optional(nullable(Type.String({ maxLength: 64 }))),
          }),
        ),
      ),
    }),
  ),
  tags: Type.Optional(
    Type.Object({
      data: Type.Optional(
        Type.Array(
          Type.Object({
            type: Type.Optional(Type.Literal('tags')),
            attributes: Type.Object({ name: Type.String({ maxLength: 255 }) }),
          }),
          { maxItems: 100 },
        ),
      ),
    }),
  ),
  'tag-bindings': Type.Optional(GIVEN_BINDINGS),
});

/** The operation checks form and length, so that its error can describe the rule. */
const name = Type.String();

export const CREATE_WORKSPACE = resourceBody(
  'workspaces',
  Type.Object({
    ...attributes,
    name,
    'source-name': text(255),
    'source-url': text(2048),
  }),
  relationships,
);

export const UPDATE_WORKSPACE = resourceBody(
  'workspaces',
  Type.Object({ ...attributes, name: Type.Optional(name) }),
  relationships,
);

/** Old and vendor-specific names of attributes. Both are accepted, and refused if they contradict. */
const WORKSPACE_ALIASES = {
  'drift-detection': 'assessments-enabled',
  'terraform-version': 'runtime-version',
} as const;

const NO_INSTALLATIONS = 'there are no installations of applications; use oauth-token-id';

/** Settings of features that are not offered. */
const WORKSPACE_NOT_OFFERED: UnsupportedFields = {
  'attributes/hyok-enabled': 'encryption with keys of your own (HYOK) is not offered',
  'attributes/migration-environment': 'there are no environments to migrate from',
  'attributes/vcs-repo/github-app-installation-id': NO_INSTALLATIONS,
  'attributes/vcs-repo/vcs-app-installation-id': NO_INSTALLATIONS,
};

const toAutoDestroyAtMs = (given: string | null | undefined): number | null | undefined => {
  if (!given) return given === undefined ? undefined : null;
  const atMs = parseTimestampMs(given);
  if (atMs === undefined) {
    refuseInvalid([attributeViolation('auto-destroy-at', 'auto-destroy-at is not a timestamp')]);
  }
  return atMs;
};

/** Validation errors of the texts in a request, reported together with its other errors. */
const checkWorkspaceTexts: CheckTexts = ({
  name,
  'source-url': sourceUrl,
  'auto-destroy-activity-duration': duration,
}) => [
  ...(name === undefined ? [] : checkWorkspaceName(name)),
  ...checkSourceUrl(sourceUrl),
  ...checkActivityDuration(duration),
];

/** Names, checks and refusals that creation and update have in common. */
export const WORKSPACE_FORM = {
  aliases: WORKSPACE_ALIASES,
  check: checkWorkspaceTexts,
  notOffered: WORKSPACE_NOT_OFFERED,
};

/** The decoded document in the form that the operations take. */
export const fromWorkspaceDocument = (
  document: Static<typeof UPDATE_WORKSPACE>,
): WorkspaceInput => {
  const {
    name,
    'agent-pool-id': agentPoolId,
    'auto-destroy-at': autoDestroyAt,
    'execution-mode': mode,
    operations,
    'setting-overwrites': overwrites,
    'vcs-repo': vcsRepo,
    ...plain
  } = document.data.attributes;
  const autoDestroyAtMs = toAutoDestroyAtMs(autoDestroyAt);
  const settings: SettingsInput = {
    ...toCamelKeys(plain),
    ...(autoDestroyAtMs === undefined ? {} : { autoDestroyAtMs }),
    ...(vcsRepo === undefined ? {} : { vcsRepo: vcsRepo && toCamelKeys(vcsRepo) }),
  };
  const related = document.data.relationships;
  return {
    id: document.data.id,
    name,
    settings,
    execution: {
      mode,
      agentPoolId,
      operations,
      overwrites: overwrites && toCamelKeys(overwrites),
    },
    projectId: related?.project?.data?.id ?? undefined,
    tagBindings: related?.['tag-bindings']?.data?.map((item) => item.attributes),
    flatTags: related?.tags?.data?.map((item) => item.attributes.name),
  };
};
