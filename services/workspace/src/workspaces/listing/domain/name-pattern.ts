/** A text that a name must contain, ignoring case, optionally at its start or end. */
export interface NamePattern {
  /** In lower case. */
  readonly part: string;
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
}

export const containing = (part: string): NamePattern => ({
  part: part.toLowerCase(),
  isAtStart: false,
  isAtEnd: false,
});

/** `*` at the start, the end or both matches any text; without one, the whole name must match. */
export const parseWildcard = (wildcard: string): NamePattern => {
  const lower = wildcard.toLowerCase();
  const isAtStart = !lower.startsWith('*');
  const isAtEnd = lower.length === 1 || !lower.endsWith('*');
  const part = lower.slice(isAtStart ? 0 : 1, isAtEnd ? undefined : -1);
  // "*" alone matches every name.
  return { part, isAtStart, isAtEnd: isAtEnd && lower !== '*' };
};
