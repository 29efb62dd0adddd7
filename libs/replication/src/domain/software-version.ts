/** Clusters of a set may run different versions during an upgrade; data only flow to newer versions. */
import { KeelsonError } from '@keelson/errors';

/** [major, minor, patch]; a part that is no number counts as 0. */
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
 * @param primary version of the primary; "" if it sent none, which counts as older
 * @throws KeelsonError `replication.newer_primary`
 */
export const requireNoNewerPrimary = (primary: string, here: string): void => {
  if (isOlderVersion(here, primary))
    throw new KeelsonError('replication.newer_primary', { primary, here });
};
