/**
 * How long the files of versions that are no longer current, and what ended runs left, are kept: all of
 * them alike, each kind by limits of its own, or for ever. A workspace without a policy of its own has
 * its organization's, an organization without one the site's.
 */
import type { Violation } from '../../validation/domain/violation.ts';

export const RETAINED_KINDS = ['stateVersions', 'configurationVersions', 'runData'] as const;
/** Run data are the logs of a run and the files that agents leave of it. */
export type RetainedKind = (typeof RETAINED_KINDS)[number];

/** At least one of the two is given; with both, what is old goes unless it is among the newest. */
export interface RetentionLimits {
  /** Older ones go; null: whatever their age. */
  readonly days: number | null;
  /** So many of the newest of a workspace stay; null: none for being new. */
  readonly keepLatest: number | null;
}

export type RetentionRule =
  | { readonly kind: 'delete-older'; readonly days: number }
  | {
      readonly kind: 'delete-by-kind';
      /** Kinds without limits are kept. */
      readonly limits: { readonly [K in RetainedKind]?: RetentionLimits };
    }
  | { readonly kind: 'never-delete' };

export interface RetentionPolicy {
  /** `drp-…`. */
  readonly id: string;
  readonly rule: RetentionRule;
}

export const MAX_RETENTION_DAYS = 36_500;
export const MAX_KEPT_LATEST = 100_000;

/** Resource types of the rules. */
export const RETENTION_TYPES = {
  'delete-older': 'data-retention-policy-delete-olders',
  'delete-by-kind': 'data-retention-policy-delete-olders',
  'never-delete': 'data-retention-policy-dont-deletes',
} as const satisfies Record<RetentionRule['kind'], string>;

/** A new rule of the same type keeps the policy's id; another type is another policy. */
export const decidePolicy = (
  current: RetentionPolicy | null,
  rule: RetentionRule,
  newId: () => string,
): RetentionPolicy =>
  current !== null && RETENTION_TYPES[current.rule.kind] === RETENTION_TYPES[rule.kind]
    ? { ...current, rule }
    : { id: newId(), rule };

/**
 * What a rule says of one kind; undefined: it is kept. One number of days for all is about the files of
 * versions alone, as it was before runs had a part in policies.
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

/** The limits of one kind as a request gives them. */
export interface GivenLimits {
  readonly isDeleted: boolean | null | undefined;
  readonly days: number | null | undefined;
  readonly keepLatest: number | null | undefined;
}

/** Attributes of one kind, by what they say. */
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
} as const satisfies Record<RetainedKind, Record<keyof GivenLimits, string>>;

/** A kind that is deleted has a limit, and one that is not has none. */
export const checkLimits = (kind: RetainedKind, given: GivenLimits): readonly Violation[] => {
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
