/**
 * Record paths: which are accepted, which scope they belong to, and the ranges of them that listings
 * read. A path is ordered by its UTF-8 bytes; no character is below a space, so `path + LOWEST` lies
 * directly after `path` and before everything that follows it.
 */
import { KeelsonError } from '@keelson/errors';
import type { RecordScope } from '../store.ts';

export const MAX_PATH_BYTES = 1024;

/** Sorts before every character a path may contain. */
const LOWEST = '\u0001';

const SCOPES: readonly RecordScope[] = ['shared', 'local', 'node'];

const refuse = (reason: string): never => {
  throw new KeelsonError('storage.invalid_path', { reason });
};

// oxlint-disable-next-line no-control-regex -- control characters are what it refuses
const FORBIDDEN = /[\u0000-\u001f\u007f]/;

/** @throws KeelsonError `storage.invalid_path` */
export const requireRecordPath = (path: string): void => {
  if (path.endsWith('/')) refuse('it ends with a slash');
  if (!path.includes('/')) refuse('nothing follows its scope');
  requireSegments(path);
};

/** A prefix is the empty string or ends with a slash. @throws KeelsonError `storage.invalid_path` */
export const requirePrefix = (prefix: string): void => {
  if (prefix === '') return;
  if (!prefix.endsWith('/')) refuse('a prefix ends with a slash');
  requireSegments(prefix.slice(0, -1));
};

const requireSegments = (path: string): void => {
  if (path.length > MAX_PATH_BYTES || Buffer.byteLength(path) > MAX_PATH_BYTES)
    refuse(`it is longer than ${MAX_PATH_BYTES} bytes`);
  if (path.startsWith('/') || path.includes('//')) refuse('a segment is empty');
  if (FORBIDDEN.test(path) || !path.isWellFormed()) refuse('it contains a forbidden character');
  const slash = path.indexOf('/');
  const scope = slash < 0 ? path : path.slice(0, slash);
  if (!SCOPES.some((known) => known === scope)) refuse('its first segment is no scope');
};

export const scopeOf = (path: string): RecordScope =>
  path.startsWith('shared/') ? 'shared' : path.startsWith('local/') ? 'local' : 'node';

/** Paths from `from` up to, but excluding, `to`, in byte order. */
export interface PathRange {
  readonly from: string;
  readonly to: string;
}

/** The first path that is not below a prefix ending with a slash: '0' is the character after '/'. */
const endOf = (prefix: string): string =>
  prefix === '' ? '\u{10ffff}' : `${prefix.slice(0, -1)}0`;

/** The first path that sorts after this one. */
export const firstAfter = (path: string): string => path + LOWEST;

/**
 * Everything below `prefix` that sorts after `after`. That may itself be a prefix, and then all below it
 * comes after it.
 */
export const rangeBelow = (prefix: string, after?: string): PathRange => {
  const from = after === undefined ? prefix : firstAfter(after);
  return { from: comparePaths(from, prefix) < 0 ? prefix : from, to: endOf(prefix) };
};

/** Range of a listing below `prefix` after `name`; a name with a final slash covers all paths below it. */
export const rangeAfterName = (prefix: string, name: string): PathRange =>
  name.endsWith('/')
    ? { from: endOf(prefix + name), to: endOf(prefix) }
    : rangeBelow(prefix, prefix + name);

/** Byte order of UTF-8, which differs from the order of JavaScript strings above U+FFFF. */
export const comparePaths = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));

/** All prefixes a path lies below, shortest first, beginning with the empty one. */
export const prefixesOf = (path: string): string[] => {
  const prefixes = [''];
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1))
    prefixes.push(path.slice(0, slash + 1));
  return prefixes;
};
