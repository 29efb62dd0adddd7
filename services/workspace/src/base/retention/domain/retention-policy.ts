/**
 * How long the service keeps the files of versions that are no longer current and the data of ended
 * runs: one limit for all, a limit for each kind, or no limit. A workspace without a policy
 * inherits its organization's, and an organization without one the site's.
 */

import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { Violation } from '../../validation/domain/violation.ts';

export const RETAINED_KINDS = ['stateVersions', 'configurationVersions', 'runData'] as const;
/** Run data are the logs of a run and the files that its agents upload. */
export const retainedKindShape = Type.Enum(RETAINED_KINDS);
export type RetainedKind = Shaped<typeof retainedKindShape>;

/**
 * At least one of the two is set. With both, data is deleted once it is old enough and not among
 * the newest.
 */
export const retentionLimitsShape = Type.Object({
  /** Age in days after which data is deleted; null means data of any age. */
  days: nullable(Type.Number()),
  /** Number of the newest items of a workspace that are kept; null if none are kept for being new. */
  keepLatest: nullable(Type.Number()),
});
export type RetentionLimits = Shaped<typeof retentionLimitsShape>;

export const retentionRuleShape = Type.Union([
  Type.Object({ kind: Type.Literal('delete-older'), days: Type.Number() }),
  Type.Object({
    kind: Type.Literal('delete-by-kind'),
    /** Kinds without limits are kept for ever. */
    limits: Type.Partial(Type.Record(retainedKindShape, retentionLimitsShape)),
  }),
  Type.Object({ kind: Type.Literal('never-delete') }),
]);
export type RetentionRule = Shaped<typeof retentionRuleShape>;

export const retentionPolicyShape = Type.Object({
  /** `drp-…`. */
  id: Type.String(),
  rule: retentionRuleShape,
});
export type RetentionPolicy = Shaped<typeof retentionPolicyShape>;

export const MAX_RETENTION_DAYS = 36_500;
export const MAX_KEPT_LATEST = 100_000;

/** Resource types of the rules. */
export const RETENTION_TYPES = {
  'delete-older': 'data-retention-policy-delete-olders',
  'delete-by-kind': 'data-retention-policy-delete-olders',
  'never-delete': 'data-retention-policy-dont-deletes',
} as const satisfies Record<RetentionRule['kind'], string>;

/** A rule of the same type keeps the policy's id; a rule of another type creates a new policy. */
export const decidePolicy = (
  current: RetentionPolicy | null,
  rule: RetentionRule,
  newId: () => string,
): RetentionPolicy =>
  current !== null && RETENTION_TYPES[current.rule.kind] === RETENTION_TYPES[rule.kind]
    ? { ...current, rule }
    : { id: newId(), rule };

/**
 * The limits that a rule sets for one kind; undefined when that kind is kept. A rule with a single
 * number of days covers versions only, because it predates the deletion of run data.
 */
export const limitsOf = (
  rule: RetentionRule | undefined,
  kind: RetainedKind,
): RetentionLimits | undefined => {
  switch (rule?.kind) {
    case 'delete-older':
      return kind === 'runData' ? undefined : { days: rule.days, keepLatest: null };
    case 'delete-by-kind':
      return rule.limits[kind];
    case 'never-delete':
    case undefined:
      return undefined;
  }
};

/** The limits of one kind in a request. */
export interface LimitsInput {
  readonly isDeleted: boolean | null | undefined;
  readonly days: number | null | undefined;
  readonly keepLatest: number | null | undefined;
}

/** Attribute names of one kind, by their meaning. */
export const LIMIT_ATTRIBUTES = {
  stateVersions: {
    isDeleted: 'deleteStateVersions',
    days: 'stateVersionsDeleteAfterNDays',
    keepLatest: 'stateVersionsKeepLatestCount',
  },
  configurationVersions: {
    isDeleted: 'deleteConfigurationVersions',
    days: 'configurationVersionsDeleteAfterNDays',
    keepLatest: 'configurationVersionsKeepLatestCount',
  },
  runData: {
    isDeleted: 'deleteRunDataAndLogs',
    days: 'runDataAndLogsDeleteAfterNDays',
    keepLatest: 'runDataKeepLatestCount',
  },
} as const satisfies Record<RetainedKind, Record<keyof LimitsInput, string>>;

/** A kind that is deleted must have a limit, and a kind that is kept must not have one. */
export const checkLimits = (kind: RetainedKind, given: LimitsInput): readonly Violation[] => {
  const names = LIMIT_ATTRIBUTES[kind];
  const refusal = (name: string, needs: string) => ({
    pointer: `/data/attributes/${name}`,
    text: `${name} needs ${needs}`,
  });
  if (given.isDeleted === true) {
    return given.days == null && given.keepLatest == null
      ? [refusal(names.isDeleted, `${names.days} or ${names.keepLatest}`)]
      : [];
  }
  return (['days', 'keepLatest'] as const)
    .filter((limit) => given[limit] != null)
    .map((limit) => refusal(names[limit], `${names.isDeleted} to be true`));
};
