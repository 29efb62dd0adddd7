/**
 * Uncaught exceptions by capability. Each ends its process, which would take the count with it: `@keelson/runtime` keeps
 * them in a file, and the next start reads it.
 */
const counts = new Map<string, number>();

export const countUncaughtExceptions = (): ReadonlyMap<string, number> => counts;

/** Counts exceptions, by default one more. */
export const addUncaughtExceptions = (capability: string, count = 1): void => {
  counts.set(capability, (counts.get(capability) ?? 0) + count);
};
