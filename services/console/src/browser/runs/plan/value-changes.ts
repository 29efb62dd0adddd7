/** Differences of values, down to the plain values within lists, maps and texts of JSON. */
import { diffArrays, diffLines } from 'diff';

/** One value that differs, or one that is new or gone. */
export interface ValueChange {
  /** "tags.Name", "rule[2].port"; "policy (JSON).Statement[0]" within a text of JSON. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** The lines of a text of several, instead of both values. */
  readonly lines?: readonly ChangedLine[];
}

export interface ChangedLine {
  readonly sign: '+' | '-' | ' ';
  readonly text: string;
}

/** Both values, with what is known of each: true for a whole value, or of its form. */
export interface Difference {
  readonly before: unknown;
  readonly after: unknown;
  readonly unknown?: unknown;
  readonly secretBefore?: unknown;
  readonly secretAfter?: unknown;
}

export const UNKNOWN = '(known after apply)';
export const SENSITIVE = '(sensitive)';

/** Values within are shown as JSON. */
const MAX_DEPTH = 32;
/** Lists and texts that differ in more places are shown as two values. */
const MAX_EDITS = 500;

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const within = (value: unknown, at: string | number): unknown => {
  // A mark of a whole value is one of everything in it.
  if (value === true) return true;
  if (isList(value)) return value[Number(at)];
  return isFields(value) ? value[at] : undefined;
};

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

const shown = (value: unknown): string | undefined =>
  isAbsent(value) ? undefined : JSON.stringify(value);

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** Whether any part of a value is marked. */
const isMarked = (mark: unknown): boolean =>
  mark === true ||
  (isList(mark) && mark.some(isMarked)) ||
  (isFields(mark) && Object.values(mark).some(isMarked));

const step = (difference: Difference, at: string | number): Difference => ({
  before: within(difference.before, at),
  after: within(difference.after, at),
  unknown: within(difference.unknown, at),
  secretBefore: within(difference.secretBefore, at),
  secretAfter: within(difference.secretAfter, at),
});

/** The list or map that a text contains as JSON. */
const parseJson = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
};

const nameOf = (path: string, name: string): string => {
  const plain = /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
  if (path === '') return plain;
  return plain === name ? `${path}.${name}` : `${path}[${plain}]`;
};

const textLines = (before: string, after: string): readonly ChangedLine[] | undefined => {
  const parts = diffLines(before, after, { maxEditLength: MAX_EDITS });
  return parts?.flatMap(({ value, added, removed }) =>
    value
      .replace(/\n$/, '')
      .split('\n')
      .map((text): ChangedLine => ({ sign: added ? '+' : removed ? '-' : ' ', text })),
  );
};

/** Lists of different lengths: what came and what went, in the order of the list. */
const listChanges = (path: string, before: readonly unknown[], after: readonly unknown[]) => {
  const parts = diffArrays(
    before.map((value) => JSON.stringify(value)),
    after.map((value) => JSON.stringify(value)),
    { maxEditLength: MAX_EDITS },
  );
  if (parts === undefined)
    return [{ path, before: JSON.stringify(before), after: JSON.stringify(after) }];
  const changes: ValueChange[] = [];
  let [old, next] = [0, 0];
  for (const { value, added, removed } of parts) {
    value.forEach((text, at) => {
      if (removed) changes.push({ path: `${path}[${old + at}]`, before: text, after: undefined });
      if (added) changes.push({ path: `${path}[${next + at}]`, before: undefined, after: text });
    });
    if (!added) old += value.length;
    if (!removed) next += value.length;
  }
  return changes;
};

const plainChange = (path: string, before: unknown, after: unknown): readonly ValueChange[] => {
  if (isSame(before, after)) return [];
  const lines =
    typeof before === 'string' && typeof after === 'string' && /\n/.test(before + after)
      ? textLines(before, after)
      : undefined;
  return [{ path, before: shown(before), after: shown(after), ...(lines && { lines }) }];
};

/** The differences below a path, each of a plain value. */
export const valueChanges = (
  difference: Difference,
  path = '',
  depth = 0,
): readonly ValueChange[] => {
  const { before, after, unknown, secretBefore, secretAfter } = difference;
  if (secretBefore === true || secretAfter === true) {
    const next = unknown === true ? UNKNOWN : SENSITIVE;
    const isChanged = unknown === true || !isSame(before, after) || secretBefore !== secretAfter;
    if (!isChanged) return [];
    return [
      {
        path,
        before: isAbsent(before) ? undefined : SENSITIVE,
        after: isAbsent(after) && unknown !== true ? undefined : next,
      },
    ];
  }
  if (unknown === true) return [{ path, before: shown(before), after: UNKNOWN }];
  const marks = [unknown, secretBefore, secretAfter];
  if (depth >= MAX_DEPTH)
    return marks.some(isMarked)
      ? [{ path, before: SENSITIVE, after: SENSITIVE }]
      : plainChange(path, before, after);
  const sides = [before, after].filter((value) => !isAbsent(value));
  const below = (at: string | number, name: string) =>
    valueChanges(step(difference, at), name, depth + 1);
  if ((sides.length > 0 || isFields(unknown)) && sides.every(isFields)) {
    const names = new Set([before, after, unknown].flatMap((value) => Object.keys(value ?? {})));
    return [...names].toSorted().flatMap((name) => below(name, nameOf(path, name)));
  }
  if (sides.length > 0 && sides.every(isList)) {
    const [old, next] = [(before ?? []) as unknown[], (after ?? []) as unknown[]];
    if (old.length !== next.length && old.length > 0 && next.length > 0 && !marks.some(isMarked))
      return listChanges(path, old, next);
    const length = Math.max(old.length, next.length, isList(unknown) ? unknown.length : 0);
    return Array.from({ length }, (_, at) => below(at, `${path}[${at}]`)).flat();
  }
  const parsed = sides.map(parseJson);
  if (sides.length === 2 && parsed.every((value) => value !== undefined))
    return valueChanges({ before: parsed[0], after: parsed[1] }, `${path} (JSON)`, depth + 1);
  return plainChange(path, before, after);
};
