/**
 * Parts of texts as sequences of three characters (trigrams). A text is enclosed by a mark on each side,
 * so that its start and its end are parts as well. Scopes are three characters too, derived from what
 * they stand for; who searches compares the scope itself on the rows that are found.
 */
import { createHash } from 'node:crypto';
import type { ScopedText, TextChange, TextSearch } from './projection.ts';

export const TEXT_START = '\u0002';
export const TEXT_END = '\u0003';

const TRIGRAM_LENGTH = 3;
/** What is looked up of a long part; the rows that are found are compared with all of it. */
const MAX_LOOKED_UP = 64;
const SCOPE_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** What the index holds of a text. */
export const toIndexedText = (text: string): string => TEXT_START + text + TEXT_END;

/** Parts of so many characters are counted with every commit, where an alphabet is given. */
const MAX_COUNTED_LENGTH = 2;
const CODE_POINTS = 0x110000;

/** What rows are counted under, where an alphabet is given, as `Projection.tallies` are. */
interface ScopeKeys {
  readonly trigram: string;
  /** Of the rows of all scopes, of those that share the three characters, and of this one. */
  readonly ofRows: readonly [string, string, string];
  readonly ofParts: Map<string, string>;
}

const scopes = new Map<string, ScopeKeys>();
const MAX_SCOPES = 100;
const MAX_PARTS = 2000;

const toScope = (scope: string): ScopeKeys => {
  const known = scopes.get(scope);
  if (known !== undefined) return known;
  if (scopes.size >= MAX_SCOPES) scopes.clear();
  const trigram = hashScope(scope);
  const shared = TEXT_START + trigram;
  const keys: ScopeKeys = {
    trigram,
    ofRows: [TEXT_START, shared, `${shared}/${scope}`],
    ofParts: new Map(),
  };
  scopes.set(scope, keys);
  return keys;
};

/** Three characters for a scope; different scopes seldom share them. */
export const toScopeTrigram = (scope: string): string => toScope(scope).trigram;

/**
 * Keys of the rows of all scopes, of those that share the three characters of this one, and of this one.
 * Where two counts are equal, the wider of the two has no other scope's rows.
 */
export const toRowKeys = (scope: string): readonly [string, string, string] =>
  toScope(scope).ofRows;

const toPartKey = ({ ofRows, ofParts }: ScopeKeys, part: string): string => {
  const known = ofParts.get(part);
  if (known !== undefined) return known;
  const key = `${ofRows[2]}/${part}`;
  if (ofParts.size < MAX_PARTS) ofParts.set(part, key);
  return key;
};

/** Key of the rows of a scope whose text contains one or two characters; undefined: such are not counted. */
export const toCountedKey = (scope: string, part: string): string | undefined => {
  const isCounted =
    part !== TEXT_START && part !== TEXT_END && Array.from(part).length <= MAX_COUNTED_LENGTH;
  return isCounted ? toPartKey(toScope(scope), part) : undefined;
};

/** What comes to be counted in one scope. */
class ScopeSums {
  readonly #keys: ScopeKeys;
  #rows = 0;
  #texts = 0;
  /** By the characters of a part as one number. */
  readonly #parts = new Map<number, { readonly part: string; sum: number; lastText: number }>();

  constructor(scope: string) {
    this.#keys = toScope(scope);
  }

  add(text: string, difference: number): void {
    this.#rows += difference;
    this.#texts += 1;
    let before = TEXT_START;
    for (const character of text) {
      this.#addPart('', character, difference);
      this.#addPart(before, character, difference);
      before = character;
    }
    this.#addPart(before, TEXT_END, difference);
  }

  /** Once for each text, however often the part is in it. */
  #addPart(first: string, second: string, difference: number): void {
    const code = ((first.codePointAt(0) ?? -1) + 1) * CODE_POINTS + (second.codePointAt(0) ?? 0);
    let counted = this.#parts.get(code);
    if (counted === undefined) {
      counted = { part: first + second, sum: 0, lastText: 0 };
      this.#parts.set(code, counted);
    }
    if (counted.lastText === this.#texts) return;
    counted.lastText = this.#texts;
    counted.sum += difference;
  }

  *[Symbol.iterator](): Generator<readonly [key: string, difference: number]> {
    for (const key of this.#keys.ofRows) yield [key, this.#rows];
    for (const { part, sum } of this.#parts.values()) yield [toPartKey(this.#keys, part), sum];
  }
}

/** Keys that texts are counted under, with the number of texts that come less those that go. */
export const sumTextKeys = (
  changes: Iterable<TextChange>,
): Iterable<readonly [key: string, difference: number]> => {
  const scopes = new Map<string, ScopeSums>();
  const add = (of: ScopedText | undefined, difference: number): void => {
    if (of === undefined) return;
    const sums = scopes.get(of.scope) ?? new ScopeSums(of.scope);
    scopes.set(of.scope, sums);
    sums.add(of.text, difference);
  };
  for (const { before, after } of changes) {
    add(before, -1);
    add(after, 1);
  }
  return [...scopes.values()].flatMap((sums) => [...sums]);
};

const hashScope = (scope: string): string => {
  const digest = createHash('sha256').update(scope).digest();
  return Array.from(
    digest.subarray(0, TRIGRAM_LENGTH),
    (byte) => SCOPE_CHARACTERS[byte % SCOPE_CHARACTERS.length],
  ).join('');
};

/** All of a text that is indexed, each once. */
export const trigramsOf = (indexedText: string): readonly string[] => {
  const characters = Array.from(indexedText);
  const trigrams = new Set<string>();
  for (let at = 0; at + TRIGRAM_LENGTH <= characters.length; at += 1)
    trigrams.add(characters.slice(at, at + TRIGRAM_LENGTH).join(''));
  return [...trigrams];
};

/** As few as have all characters of a text of three or more. */
export const coveringTrigrams = (text: string): readonly string[] => {
  const characters = Array.from(text);
  const last = characters.length - TRIGRAM_LENGTH;
  const trigrams = new Set<string>();
  for (let at = 0; at < last; at += TRIGRAM_LENGTH)
    trigrams.add(characters.slice(at, at + TRIGRAM_LENGTH).join(''));
  return [...trigrams, characters.slice(last).join('')];
};

/** True where what `toLookedUp` gives is in no text but those that contain `part`. */
export const isLookedUpWhole = (part: string): boolean => part.length <= MAX_LOOKED_UP;

/**
 * Texts of at least three characters of which one is in every text that contains `part`; undefined when
 * there is none that could be looked up.
 */
export const toLookedUp = (
  part: string,
  { alphabet }: Pick<TextSearch, 'alphabet'>,
): readonly string[] | undefined => {
  const characters = Array.from(part);
  if (characters.length >= TRIGRAM_LENGTH) return [characters.slice(0, MAX_LOOKED_UP).join('')];
  if (characters.length < TRIGRAM_LENGTH - 1 || alphabet === undefined) return undefined;
  if (part.endsWith(TEXT_END))
    return [TEXT_START, ...Array.from(alphabet)].map((before) => before + part);
  // Marks stand at the ends alone, so what follows the last character is of the alphabet or the end.
  return [...Array.from(alphabet), TEXT_END].map((after) => part + after);
};
