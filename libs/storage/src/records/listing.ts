/** Names directly below a prefix, from any ordered source of paths, skipping over whole subtrees. */

import type { ListOptions } from '../store.ts';
import type { PathRange } from './record-path.ts';
import { rangeAfterName, rangeBelow } from './record-path.ts';

export type PathSource = (range: PathRange, limit: number) => Promise<readonly string[]>;

/** Page sizes: many rows while names are leaves, few while every page ends inside a subtree. */
const MIN_PAGE = 8;
const MAX_PAGE = 1024;

export const listNames = async (
  source: PathSource,
  prefix: string,
  { after, limit = Number.POSITIVE_INFINITY }: ListOptions = {},
): Promise<readonly string[]> => {
  const names: string[] = [];
  let range = after === undefined ? rangeBelow(prefix) : rangeAfterName(prefix, after);
  let pageSize = 64;
  while (names.length < limit) {
    const wanted = Math.min(pageSize, limit - names.length);
    const page = await source(range, wanted);
    for (const path of page) {
      const slash = path.indexOf('/', prefix.length);
      const name = path.slice(prefix.length, slash < 0 ? undefined : slash + 1);
      if (name !== names.at(-1)) names.push(name);
    }
    const last = names.at(-1);
    if (page.length < wanted || last === undefined) break;
    pageSize = last.endsWith('/') ? MIN_PAGE : Math.min(pageSize * 4, MAX_PAGE);
    range = rangeAfterName(prefix, last);
  }
  return names;
};
