/**
 * Kinds of records that a version has moved to another place. A record is at its former place exactly if it is stored
 * in an older version than that of the move: processes of the version before find it there, and write it there.
 */
import type { RecordScope } from '../store.ts';

/** A move of a kind, in its declaration. */
export interface Move {
  /** The name of the collection below which records of older versions are, with the same number of "*". */
  readonly from: string;
  /** The version of the kind whose records are at the new place. */
  readonly in: number;
}

interface Place {
  readonly scopes: readonly RecordScope[];
  readonly segments: readonly string[];
}

interface Moved {
  readonly current: Place;
  readonly former: Place;
}

const moved: Moved[] = [];

/** Called by every declaration of a kind that has moved. */
export const registerMove = (
  name: string,
  scopes: readonly RecordScope[],
  { from }: Pick<Move, 'from'>,
): void => {
  const placeOf = (path: string): Place => ({ scopes, segments: path.split('/') });
  moved.push({ current: placeOf(name), former: placeOf(from) });
};

/** The path in `to` of a record or prefix in `at`; undefined if it is not there. */
const translate = (path: string, at: Place, to: Place): string | undefined => {
  const [scope, ...segments] = path.split('/');
  const isThere =
    at.scopes.some((one) => one === scope) &&
    segments.length > at.segments.length &&
    at.segments.every((one, index) => one === '*' || one === segments[index]);
  if (!isThere) return undefined;
  const names = segments.filter((_, index) => at.segments[index] === '*');
  const place = to.segments.map((one) => (one === '*' ? names.shift() : one));
  return [scope, ...place, ...segments.slice(at.segments.length)].join('/');
};

/** The former path of a record or prefix of a kind that has moved. */
export const formerPath = (path: string): string | undefined => {
  for (const { current, former } of moved) {
    const found = translate(path, current, former);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** The path of a record in the newest version: another one than `path` if that is a former place. */
export const currentPath = (path: string): string => {
  for (const { current, former } of moved) {
    const found = translate(path, former, current);
    if (found !== undefined) return found;
  }
  return path;
};

/**
 * Reads at the place of a record, or else at its former one. The record may move between the two, but
 * never back, and so the first place is asked again.
 */
export const readPlaces = async <T>(
  path: string,
  read: (path: string) => Promise<T | undefined>,
): Promise<T | undefined> => {
  const found = await read(path);
  if (found !== undefined) return found;
  const former = formerPath(path);
  if (former === undefined) return undefined;
  return (await read(former)) ?? read(path);
};
