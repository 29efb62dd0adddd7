/** Searching a column of a projection for a part of its text, through an index of trigrams. */

import type { TextSearch } from './projection.ts';

/** Shorter parts have no trigram, so the index cannot find them. */
const TRIGRAM_CHARACTERS = 3;

/** Whether an index of trigrams can find texts that contain `part`. */
export const isIndexable = (part: string): boolean => Array.from(part).length >= TRIGRAM_CHARACTERS;

/** The table and columns to search. */
export interface Searched {
  readonly table: string;
  readonly search: TextSearch;
}
