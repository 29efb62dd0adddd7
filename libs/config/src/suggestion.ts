/** Suggests the known name that is most similar to a mistyped one. */

/** Number of characters to insert, remove or replace to turn one word into the other. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let at = 1; at <= one.length; at++) {
    const next = [at];
    for (let to = 1; to <= other.length; to++) {
      const exchanged = (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1);
      next.push(Math.min(exchanged, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

/** @returns the nearest known word, if few characters differ */
export const nearest = (word: string, known: Iterable<string>): string | undefined => {
  let best: string | undefined;
  let fewest = Math.max(2, Math.floor(word.length / 5)) + 1;
  for (const candidate of known) {
    const differing = distance(word, candidate);
    if (differing >= fewest) continue;
    best = candidate;
    fewest = differing;
  }
  return best;
};
