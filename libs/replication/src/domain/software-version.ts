/** Clusters of a set may run different versions while they are upgraded: data flow to the newer ones. */
import { KeelsonError } from '@keelson/errors';

/** [major, minor, patch]; what is no number counts as 0. */
const numbersOf = (version: string): readonly number[] =>
  version.split(/[.+-]/, 3).map((part) => Number.parseInt(part, 10) || 0);

/** Data may flow from an older version to a newer one, never back. */
const isOlderVersion = (version: string, than: string): boolean => {
  const [ours, theirs] = [numbersOf(version), numbersOf(than)];
  for (const [index, number] of theirs.entries()) {
    const own = ours[index] ?? 0;
    if (own !== number) return own < number;
  }
  return false;
};

/**
 * @param primary "": one that does not tell its version, which is older
 * @throws KeelsonError `replication.newer_primary`
 */
export const requireNoNewerPrimary = (primary: string, here: string): void => {
  if (isOlderVersion(here, primary))
    throw new KeelsonError('replication.newer_primary', { primary, here });
};
