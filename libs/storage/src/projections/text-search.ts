/**
 * Parts of texts as sequences of three characters (trigrams). A text is enclosed by a mark on each side,
 * so that its start and its end are parts as well. Scopes are three characters too, derived from what
 * they stand for; who searches compares the scope itself on the rows that are found.
 */
import { createHash } from 'node:crypto';
import type { TextSearch } from './projection.ts';

export const TEXT_START = '\u0002';
export const TEXT_END = '\u0003';

const TRIGRAM_LENGTH = 3;
/** What is looked up of a long part; the rows that are found are compared with all of it. */
const MAX_LOOKED_UP = 64;
const SCOPE_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** What the index holds of a text. */
export const toIndexedText = (text: string): string => TEXT_START + text + TEXT_END;

/** What rows are counted under, where an alphabet is given, as `Projection.tallies` are. */
interface ScopeKeys {
  /** Of the rows of all scopes that share the three characters, and of this scope. */
  readonly ofRows: readonly [string, string];
  /** By character. */
  readonly ofCharacters: Map<string, string>;
}

const scopes = new Map<string, ScopeKeys & { readonly trigram: string }>();
const MAX_SCOPES = 1000;
const MAX_CHARACTERS = 1000;

const toScope = (scope: string) => {
  const known = scopes.get(scope);
  if (known !== undefined) return known;
  if (scopes.size >= MAX_SCOPES) scopes.clear();
  const trigram = hashScope(scope);
  const shared = TEXT_START + trigram;
  const keys = {
    trigram,
    ofRows: [shared, `${shared}/${scope}`],
    ofCharacters: new Map(),
  } as const;
  scopes.set(scope, keys);
  return keys;
};

/** Three characters for a scope; different scopes seldom share them. */
export const toScopeTrigram = (scope: string): string => toScope(scope).trigram;

/** Keys of two counts that are equal where no other scope shares the three characters of this one. */
export const toSoleScopeKeys = (scope: string): readonly [string, string] => toScope(scope).ofRows;

/** Key of the rows of a scope whose text contains a character. */
export const toCharacterKey = (scope: string, character: string): string => {
  const { ofRows, ofCharacters } = toScope(scope);
  const known = ofCharacters.get(character);
  if (known !== undefined) return known;
  const key = `${ofRows[1]}/${character}`;
  if (ofCharacters.size < MAX_CHARACTERS) ofCharacters.set(character, key);
  return key;
};

/** All that a text is counted under. */
export const toTextKeys = (scope: string, text: string): readonly string[] => [
  ...toSoleScopeKeys(scope),
  ...Array.from(new Set(text), (character) => toCharacterKey(scope, character)),
];

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
