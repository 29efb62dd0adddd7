/** A text that a name contains, in any case; at its start or end where that is asked for. */
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

/** `*` at the start, the end or both stands for anything; without one the whole name is meant. */
export const parseWildcard = (wildcard: string): NamePattern => {
  const lower = wildcard.toLowerCase();
  const isAtStart = !lower.startsWith('*');
  const isAtEnd = lower.length === 1 || !lower.endsWith('*');
  const part = lower.slice(isAtStart ? 0 : 1, isAtEnd ? undefined : -1);
  // "*" alone: nothing is asked for.
  return { part, isAtStart, isAtEnd: isAtEnd && lower !== '*' };
};
