/**
 * Converts a JSON, form or query value to a typed one. Clients of this API rely on lenient parsing: numbers
 * and booleans as text, lists as comma-separated text, durations with units. Anything else is refused, never
 * guessed.
 */
import { parseJson, SECRETS_LIMITS } from '@keelson/edge';
import { parseDurationSeconds } from './duration.ts';

/** Ends parsing of a field. The reason says what was expected and never contains the value. */
type Refuse = (reason: string) => never;
export type Coercion<T> = (raw: unknown, refuse: Refuse) => T;

/** A time as it was given: kept as text, so that it is returned with the same precision and offset. */
export interface Timestamp {
  readonly epochMs: number;
  /** RFC 3339. */
  readonly text: string;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether the value is a JSON object, not null or an array. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const toText: Coercion<string> = (raw, refuse) => {
  if (typeof raw === 'string') return raw;
  if (typeof raw === 'number') return String(raw);
  return refuse('expected a string');
};

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False', '']);

export const toBoolean: Coercion<boolean> = (raw, refuse) => {
  if (typeof raw === 'boolean') return raw;
  if (raw === 1 || raw === 0) return raw === 1;
  if (typeof raw === 'string') {
    if (TRUE.has(raw)) return true;
    if (FALSE.has(raw)) return false;
  }
  return refuse('expected a boolean');
};

export const toInteger: Coercion<number> = (raw, refuse) => {
  const value = typeof raw === 'string' && /^[+-]?\d*$/.test(raw.trim()) ? Number(raw) : raw;
  return typeof value === 'number' && Number.isSafeInteger(value)
    ? value + 0
    : refuse('expected an integer');
};

export const toNumber: Coercion<number> = (raw, refuse) => {
  const value =
    typeof raw === 'string' && /^[+-]?\d+(\.\d+)?$/.test(raw.trim()) ? Number(raw) : raw;
  return typeof value === 'number' && Number.isFinite(value)
    ? value + 0
    : refuse('expected a number');
};

/** 292 years: what 64 bits of nanoseconds hold, so that clients in other languages can read each duration. */
const MAX_DURATION_SECONDS = 9_223_372_036;

/** Whole seconds; less than 0 has a meaning of its own where a parameter takes it, such as "none". */
export const toSignedDurationSeconds: Coercion<number> = (raw, refuse) => {
  let seconds: number | undefined;
  if (typeof raw === 'number') seconds = parseDurationSeconds(`${raw}s`);
  else if (typeof raw === 'string') seconds = parseDurationSeconds(raw);
  if (seconds === undefined || !Number.isSafeInteger(seconds))
    return refuse(
      'expected a number of seconds or a duration of at least a second such as "30s", "5m" or "2h"',
    );
  return Math.abs(seconds) > MAX_DURATION_SECONDS
    ? refuse(`a duration has at most ${MAX_DURATION_SECONDS} seconds`)
    : seconds;
};

export const toDurationSeconds: Coercion<number> = (raw, refuse) => {
  const seconds = toSignedDurationSeconds(raw, refuse);
  return seconds < 0 ? refuse('the duration must not be negative') : seconds;
};

const trimmed = (elements: readonly string[]): readonly string[] =>
  elements.map((element) => element.trim()).filter((element) => element !== '');

/** A JSON list, or text separated by commas. Elements are trimmed, empty ones dropped. */
export const toCommaList: Coercion<readonly string[]> = (raw, refuse) => {
  if (typeof raw === 'string' && !raw.trimStart().startsWith('[')) return trimmed(raw.split(','));
  const list = typeof raw === 'string' ? readJson(raw, refuse) : raw;
  if (!Array.isArray(list)) return refuse('expected a list or comma-separated text');
  return trimmed(
    list.map((element: unknown) => toText(element, () => refuse('expected a list of strings'))),
  );
};

/** Like `toCommaList`, but elements, or the whole text, may also be JSON objects, which are kept as text. */
export const toObjectList: Coercion<readonly string[]> = (raw, refuse) => {
  const value = typeof raw === 'string' && /^\s*[[{]/.test(raw) ? readJson(raw, refuse) : raw;
  const list = isJsonObject(value) ? [value] : value;
  return toCommaList(
    Array.isArray(list)
      ? list.map((element: unknown) => (isJsonObject(element) ? JSON.stringify(element) : element))
      : list,
    refuse,
  );
};

/** A JSON object, or one as JSON text, because forms and query strings have no objects. */
export const toMap: Coercion<JsonObject> = (raw, refuse) => {
  const value = typeof raw === 'string' ? (raw === '' ? {} : readJson(raw, refuse)) : raw;
  return isJsonObject(value) ? value : refuse('expected an object');
};

/** An object of strings, a list of "key=value", or one "key=value". */
export const toStringMap: Coercion<Readonly<Record<string, string>>> = (raw, refuse) => {
  if (isJsonObject(raw))
    return Object.fromEntries(
      Object.entries(raw).map(([key, value]) => [
        key,
        typeof value === 'boolean'
          ? String(value)
          : toText(value, () => refuse('expected an object of strings')),
      ]),
    );
  if (typeof raw === 'string' && raw.trimStart().startsWith('{'))
    return toStringMap(readJson(raw, refuse), refuse);
  const pairs = typeof raw === 'string' ? (raw === '' ? [] : [raw]) : raw;
  if (!Array.isArray(pairs)) return refuse('expected an object of strings');
  return Object.fromEntries(
    pairs.map((pair: unknown) => {
      const at = typeof pair === 'string' ? pair.indexOf('=') : -1;
      return typeof pair === 'string' && at > 0
        ? [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
        : refuse('expected an object of strings or a list of key=value');
    }),
  );
};

// RFC 3339 §5.6. A day such as 30 February is found by comparing it with the parsed Date.
const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:[Zz]|[+-]([01]\d|2[0-3]):([0-5]\d))$/;

/** RFC 3339 text, or epoch seconds. */
export const toTimestamp: Coercion<Timestamp> = (raw, refuse) => {
  if (typeof raw === 'number' || (typeof raw === 'string' && /^\d+$/.test(raw))) {
    const epochMs = Number(raw) * 1000;
    if (!(epochMs >= 0 && epochMs <= 8.64e15)) return refuse('the time is out of range');
    return { epochMs, text: new Date(epochMs).toISOString().replace(/\.000Z$/, 'Z') };
  }
  const fields = typeof raw === 'string' ? RFC3339.exec(raw) : null;
  if (typeof raw !== 'string' || fields === null) return refuse('expected an RFC 3339 timestamp');
  const [year = 0, month = 0, day = 0] = fields.slice(1, 4).map(Number);
  const epochMs = Date.parse(raw.toUpperCase());
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (Number.isNaN(epochMs) || fields[4] === '24' || day > lastDay)
    return refuse('expected an RFC 3339 timestamp');
  return { epochMs, text: raw };
};

const readJson = (text: string, refuse: Refuse): unknown => {
  try {
    return parseJson(Buffer.from(text), SECRETS_LIMITS.json);
  } catch {
    return refuse('expected JSON');
  }
};
