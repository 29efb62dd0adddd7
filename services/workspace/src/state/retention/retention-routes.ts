import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  invalidAttribute,
  jsonApiRoutes,
  nullable,
  one,
  type ParamsOf,
  refuseInvalid,
  resourceBody,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import {
  checkLimits,
  LIMIT_ATTRIBUTES,
  type LimitsInput,
  MAX_KEPT_LATEST,
  MAX_RETENTION_DAYS,
  RETAINED_KINDS,
  RETENTION_TYPES,
  type RetainedKind,
  type RetentionRule,
} from '../../base/retention/domain/retention-policy.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import {
  loadRetentionPolicy,
  type RetentionTarget,
  removeRetentionPolicy,
  setRetentionPolicy,
} from './retention-operations.ts';
import { OLDER, OLDER_IN_CAMEL_CASE, toRetentionResource } from './retention-policy-document.ts';

// The policy type of early clients, which always deletes.
const EARLY_TYPE = 'data-retention-policies';

const LIMITS = Object.values(LIMIT_ATTRIBUTES);
const limit = (maximum: number) => Type.Optional(nullable(Type.Integer({ minimum: 1, maximum })));

const BODY = resourceBody(
  Type.Union(
    [...new Set([...Object.values(RETENTION_TYPES), EARLY_TYPE])].map((name) => Type.Literal(name)),
  ),
  Type.Object({
    [OLDER]: limit(MAX_RETENTION_DAYS),
    ...Object.fromEntries(
      LIMITS.flatMap(({ isDeleted, days, keepLatest }) => [
        [isDeleted, Type.Optional(nullable(Type.Boolean()))],
        [days, limit(MAX_RETENTION_DAYS)],
        [keepLatest, limit(MAX_KEPT_LATEST)],
      ]),
    ),
  }),
);

/** The API documents some of these names in camel case and others with hyphens; both are accepted. */
const ALIASES: Readonly<Record<string, string>> = {
  [OLDER_IN_CAMEL_CASE]: OLDER,
  ...(toKebabKeys(
    Object.fromEntries(LIMITS.flatMap((names) => Object.values(names).map((name) => [name, name]))),
  ) as Readonly<Record<string, string>>),
};

type AttributesInput = Readonly<Record<string, number | boolean | null | undefined>>;

const toGivenLimits = (attributes: AttributesInput, kind: RetainedKind): LimitsInput => {
  const { isDeleted, days, keepLatest } = LIMIT_ATTRIBUTES[kind];
  return {
    isDeleted: attributes[isDeleted] as boolean | null | undefined,
    days: attributes[days] as number | null | undefined,
    keepLatest: attributes[keepLatest] as number | null | undefined,
  };
};

/** The limits of each kind that is deleted; undefined when the request has no kinds. */
const toLimits = (attributes: AttributesInput) => {
  const given = RETAINED_KINDS.map((kind) => [kind, toGivenLimits(attributes, kind)] as const);
  if (given.every(([, limits]) => Object.values(limits).every((value) => value == null))) {
    return undefined;
  }
  refuseInvalid(given.flatMap(([kind, limits]) => checkLimits(kind, limits)));
  return Object.fromEntries(
    given
      .filter(([, { isDeleted }]) => isDeleted === true)
      .map(([kind, { days = null, keepLatest = null }]) => [kind, { days, keepLatest }]),
  );
};

const toRule = ({ data }: Static<typeof BODY>): RetentionRule => {
  const attributes = data.attributes as AttributesInput;
  if (data.type === RETENTION_TYPES['never-delete']) {
    refuseInvalid(
      Object.entries(attributes)
        .filter(([, value]) => value != null && value !== false)
        .map(([name]) => attributeViolation(name, `${name} is for policies that delete`)),
    );
    return { kind: 'never-delete' };
  }
  const days = attributes[OLDER] as number | null | undefined;
  const limits = toLimits(attributes);
  const pointer = `/data/attributes/${OLDER}`;
  if (limits === undefined) {
    if (days == null) throw invalidAttribute(pointer, `${OLDER} is required`);
    return { kind: 'delete-older', days };
  }
  if (days != null) {
    throw invalidAttribute(pointer, `${OLDER} cannot be given with limits for each kind`);
  }
  if (Object.keys(limits).length === 0) {
    throw invalidAttribute('/data/attributes', 'at least one kind must be deleted');
  }
  return { kind: 'delete-by-kind', limits };
};

const TYPES = [...new Set(Object.values(RETENTION_TYPES))];
const RELATIONSHIP = 'relationships/data-retention-policy';

export const retentionRoutes = (context: ServiceContext): Route[] => {
  const onTarget = <const Path extends string>(
    path: Path,
    name: string,
    toTarget: (params: ParamsOf<Path>) => RetentionTarget,
  ): readonly Endpoint[] => {
    const write = (method: 'POST' | 'PATCH'): Endpoint =>
      endpoint({
        method,
        path,
        summary: `Set the data retention policy of ${name}; POST without a body shows it`,
        answers: one(TYPES),
        body: {
          schema: BODY,
          optional: method === 'POST',
          aliases: ALIASES,
        },
        handle: async ({ principal, params, body }) => {
          const target = toTarget(params);
          const found =
            body === undefined
              ? await loadRetentionPolicy(context, principal, target)
              : await setRetentionPolicy(context, principal, target, toRule(body));
          return { document: { data: toRetentionResource(found) } };
        },
      });
    return [
      write('POST'),
      write('PATCH'),
      endpoint({
        method: 'GET',
        path,
        summary: `Show the data retention policy of ${name}`,
        answers: one(TYPES),
        handle: async ({ principal, params }) => ({
          document: {
            data: toRetentionResource(
              await loadRetentionPolicy(context, principal, toTarget(params)),
            ),
          },
        }),
      }),
      endpoint({
        method: 'DELETE',
        path,
        summary: `Remove the data retention policy of ${name}`,
        success: 204,
        handle: async ({ principal, params }) => {
          await removeRetentionPolicy(context, principal, toTarget(params));
          return undefined;
        },
      }),
    ];
  };
  return jsonApiRoutes('data retention', [
    ...onTarget(`/workspaces/:workspace_id/${RELATIONSHIP}`, 'a workspace', (params) => ({
      workspaceId: params.workspace_id,
    })),
    ...onTarget(
      `/organizations/:organization_name/${RELATIONSHIP}`,
      'an organization',
      (params) => ({
        organizationName: params.organization_name,
      }),
    ),
    ...onTarget('/admin/data-retention-policy-settings', 'the site', () => ({ site: true })),
  ]);
};
