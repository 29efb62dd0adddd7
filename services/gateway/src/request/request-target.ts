/** The target of a request. Its path stays percent-encoded; only `decodePath` of libs/edge decodes paths. */
import { decodePath } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';

export interface RequestTarget {
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
}

const invalid = (text: string): KeelsonError => new KeelsonError('request.invalid', { text });

/** RFC 9112 §3.2.2: the absolute form is meant for proxies, but servers accept it. */
export const toOriginForm = (url: string): string =>
  url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '') || '/';

/** True for the prefix itself and for paths below it. */
export const isBelow = (url: string, prefix: string): boolean => {
  if (!url.startsWith(prefix)) return false;
  const next = url[prefix.length];
  return next === undefined || next === '/' || next === '?';
};

/** @throws KeelsonError `request.invalid` for a path that no service accepts */
export const parseTarget = (url: string): RequestTarget => {
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  if (!path.startsWith('/')) throw invalid('the request target must be a path');
  const decoded = decodePath(path);
  if (decoded.includes('..') && decoded.split('/').includes('..'))
    throw invalid('path cannot contain parent references');
  return { path, query: mark === -1 ? '' : url.slice(mark + 1) };
};

const BOOLEANS: Readonly<Record<string, boolean>> = {
  '1': true,
  t: true,
  true: true,
  '0': false,
  f: false,
  false: false,
};

/**
 * `GET ?list=true` is LIST.
 * @throws KeelsonError `request.invalid` when `list` is not a boolean
 */
export const effectiveMethod = (method: string, query: string): string => {
  if (method !== 'GET' || !query.includes('list')) return method;
  const list = new URLSearchParams(query).get('list');
  if (list === null) return method;
  const asked = BOOLEANS[list.toLowerCase()];
  if (asked === undefined) throw invalid('the query parameter "list" must be true or false');
  return asked ? 'LIST' : 'GET';
};
