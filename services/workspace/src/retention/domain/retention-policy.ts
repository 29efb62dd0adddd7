/**
 * How long the files of versions that are no longer current are kept: deleted after so many days, or
 * never. A workspace without a policy of its own has its organization's, an organization
 * without one the site's.
 */
export type RetentionRule =
  | { readonly kind: 'delete-older'; readonly days: number }
  | { readonly kind: 'never-delete' };

export interface RetentionPolicy {
  /** `drp-…`. */
  readonly id: string;
  readonly rule: RetentionRule;
}

export const MAX_RETENTION_DAYS = 36_500;

/** A new rule of the same kind keeps the policy's id; another kind is another policy. */
export const decidePolicy = (
  current: RetentionPolicy | null,
  rule: RetentionRule,
  newId: () => string,
): RetentionPolicy =>
  current?.rule.kind === rule.kind ? { ...current, rule } : { id: newId(), rule };

/** Resource types of the two kinds. */
export const RETENTION_TYPES = {
  'delete-older': 'data-retention-policy-delete-olders',
  'never-delete': 'data-retention-policy-dont-deletes',
} as const satisfies Record<RetentionRule['kind'], string>;
