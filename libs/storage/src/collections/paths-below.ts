import type { Reads } from '../store.ts';

/** Paths of the records below a prefix, in order, without reading the records; at most `limit`. */
export const pathsBelow = async (
  reads: Reads,
  prefix: string,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> => {
  const paths: string[] = [];
  const bounds = limit === Number.POSITIVE_INFINITY ? undefined : { limit };
  for (const name of await reads.list(prefix, bounds)) {
    if (paths.length >= limit) break;
    if (!name.endsWith('/')) paths.push(prefix + name);
    else paths.push(...(await pathsBelow(reads, prefix + name, limit - paths.length)));
  }
  return paths;
};
