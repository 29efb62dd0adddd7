/** Searching a column of a projection for a part of its text, through an index of trigrams. */

/** Shorter parts have no trigram, so the index cannot find them. */
const TRIGRAM_CHARACTERS = 3;

/** Whether an index of trigrams can find texts that contain `part`. */
export const isIndexable = (part: string): boolean => Array.from(part).length >= TRIGRAM_CHARACTERS;

export interface PartQuery {
  /** Searches are made among the rows with this value in the scope column. */
  readonly scope: string;
  readonly part: string;
  readonly limit: number;
}
