import { orNull, type Resource, relatedOne, resourceSchema, toOne } from '@keelson/jsonapi';
import { type TSchema, Type } from 'typebox';
import {
  LIMIT_ATTRIBUTES,
  RETAINED_KINDS,
  RETENTION_TYPES,
  type RetentionRule,
} from '../../base/retention/domain/retention-policy.ts';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import type { TargetedPolicy } from './retention-operations.ts';

export const OLDER = 'delete-older-than-n-days';
export const OLDER_IN_CAMEL_CASE = 'deleteOlderThanNDays';

const relationships = { target: relatedOne(['workspaces', 'organizations']) };

const kinds = (): Readonly<Record<string, TSchema>> => {
  const days = Type.Optional(
    orNull(Type.Integer({ description: 'Age in days; null: deleted at any age.' })),
  );
  const named = Object.fromEntries(
    RETAINED_KINDS.flatMap((kind): readonly (readonly [string, TSchema])[] => [
      [LIMIT_ATTRIBUTES[kind].isDeleted, Type.Optional(Type.Boolean())],
      [LIMIT_ATTRIBUTES[kind].days, days],
      [
        LIMIT_ATTRIBUTES[kind].keepLatest,
        Type.Optional(orNull(Type.Integer({ description: 'Number of the newest that are kept.' }))),
      ],
    ]),
  );
  return { ...named, ...toKebabKeys(named) };
};

const olderDays = Type.Optional(
  Type.Integer({ description: 'Age in days after which versions are deleted.' }),
);

export const RETENTION_DELETE_OLDER = resourceSchema({
  type: 'data-retention-policy-delete-olders',
  description:
    'Deletes old data: by one limit, or by the limits of each kind. Names are in both forms.',
  attributes: { [OLDER]: olderDays, [OLDER_IN_CAMEL_CASE]: olderDays, ...kinds() },
  relationships,
});

export const RETENTION_DONT_DELETE = resourceSchema({
  type: 'data-retention-policy-dont-deletes',
  attributes: {},
  relationships,
});

const toAttributes = (rule: RetentionRule): Readonly<Record<string, unknown>> => {
  switch (rule.kind) {
    case 'never-delete':
      return {};
    case 'delete-older':
      return { [OLDER]: rule.days, [OLDER_IN_CAMEL_CASE]: rule.days };
    case 'delete-by-kind': {
      const named = Object.fromEntries(
        RETAINED_KINDS.flatMap((kind) => {
          const { isDeleted, days, keepLatest } = LIMIT_ATTRIBUTES[kind];
          const limits = rule.limits[kind];
          return [
            [isDeleted, limits !== undefined],
            [days, limits?.days ?? null],
            [keepLatest, limits?.keepLatest ?? null],
          ];
        }),
      );
      return { ...named, ...toKebabKeys(named) };
    }
  }
};

export const toRetentionResource = ({
  policy,
  target,
}: TargetedPolicy): Resource<(typeof RETENTION_TYPES)[keyof typeof RETENTION_TYPES]> => ({
  id: policy.id,
  type: RETENTION_TYPES[policy.rule.kind],
  attributes: toAttributes(policy.rule),
  relationships: { target: target === null ? { data: null } : toOne(target.type, target.id) },
});
