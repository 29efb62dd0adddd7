/**
 * Path patterns of policy rules: exact, prefix (`x*`), or with `+` for one whole segment. Matching patterns
 * have a total order of priority, so a decision never depends on the order of policies.
 */
import { KeelsonError } from '@keelson/errors';

export interface PathPattern {
  /** As written, without a leading slash; identifies the rule. */
  readonly text: string;
  readonly kind: 'exact' | 'prefix' | 'segments';
  /** `text` without its trailing `*`. */
  readonly stem: string;
  /** Matches everything that starts with the stem. */
  readonly isPrefix: boolean;
  /** Index of the first wildcard in `text`; its length for exact patterns. */
  readonly firstWildcard: number;
  readonly plusCount: number;
}

/** @throws KeelsonError `sys.policy_unparsable` for `+*` */
export const parsePathPattern = (written: string): PathPattern => {
  const text = written.startsWith('/') ? written.slice(1) : written;
  if (text.includes('+*')) {
    throw new KeelsonError('sys.policy_unparsable', {
      reason: `path "${written}": invalid use of wildcards ('+*' is forbidden)`,
    });
  }
  const isPrefix = text.endsWith('*');
  const stem = isPrefix ? text.slice(0, -1) : text;
  const segments = stem.split('/');
  const plusCount = segments.filter((segment) => segment === '+').length;
  if (plusCount === 0) {
    const kind = isPrefix ? 'prefix' : 'exact';
    return { text, kind, stem, isPrefix, firstWildcard: stem.length, plusCount };
  }
  const before = segments.slice(0, segments.indexOf('+'));
  const firstWildcard = before.reduce((length, segment) => length + segment.length + 1, 0);
  return { text, kind: 'segments', stem, isPrefix, firstWildcard, plusCount };
};

/** Positive when `a` takes precedence over `b`; both match the same path. */
export const comparePriority = (a: PathPattern, b: PathPattern): number => {
  if (a.firstWildcard !== b.firstWildcard) return a.firstWildcard - b.firstWildcard;
  if (a.isPrefix !== b.isPrefix) return a.isPrefix ? -1 : 1;
  if (a.plusCount !== b.plusCount) return b.plusCount - a.plusCount;
  if (a.stem.length !== b.stem.length) return a.stem.length - b.stem.length;
  return a.stem === b.stem ? 0 : a.stem > b.stem ? 1 : -1;
};
