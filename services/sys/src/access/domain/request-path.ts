/**
 * Parses a request path once for every consumer. Policies judge the decoded path; the service that answers
 * receives the path as sent and decodes it once. Both must mean the same resource, so ambiguous paths are
 * refused or normalized here.
 */
import { KeelsonError } from '@keelson/errors';

export interface RequestPath {
  /** For look-ups and policies, without trailing slashes. */
  readonly decoded: string;
  /** As sent, without trailing slashes. Has as many segments as `decoded`. */
  readonly raw: string;
}

const MAX_LENGTH = 8192;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const decodeSegment = (segment: string): string => {
  if (!segment.includes('%')) return segment;
  try {
    const decoded = decodeURIComponent(segment);
    // An encoded slash is part of its segment; decoding it here would split the segment in two.
    return decoded.includes('/') ? segment : decoded;
  } catch {
    return refuse('the path is not valid percent-encoding');
  }
};

/** @throws KeelsonError `request.invalid` */
export const parseRequestPath = (given: string): RequestPath => {
  if (given.length > MAX_LENGTH) refuse('the path is too long');
  // Some readers end the path at these characters; clients send them encoded.
  if (/[?#\\\p{Cc}]/u.test(given)) refuse('the path has characters that must be encoded');
  // The lookbehind keeps this linear: without it, every slash of a run would start its own search.
  const raw = given.replace(/(?<!\/)\/+$/, '');
  const decoded = raw.includes('%') ? raw.split('/').map(decodeSegment).join('/') : raw;
  if (/(?:^|\/)\.{1,2}(?:\/|$)/.test(decoded)) refuse('relative paths not supported');
  return { decoded, raw };
};

/** The path without its first `count` segments. */
const dropSegments = (path: string, count: number): string => {
  let at = 0;
  for (let dropped = 0; dropped < count; dropped += 1) at = path.indexOf('/', at) + 1;
  return path.slice(at);
};

/** The request path reduced to `rest`, the part of `decoded` that look-ups have not consumed. */
export const remainder = ({ decoded, raw }: RequestPath, rest: string): RequestPath => {
  if (rest.length === decoded.length) return { decoded, raw };
  if (decoded === raw) return { decoded: rest, raw: rest };
  const taken = decoded.slice(0, decoded.length - rest.length);
  return { decoded: rest, raw: dropSegments(raw, taken.split('/').length - 1) };
};

/** Collapses empty segments, which some handlers ignore and policies do not. */
export const withoutEmptySegments = ({ decoded, raw }: RequestPath): RequestPath =>
  decoded.includes('//') || raw.includes('//')
    ? { decoded: collapse(decoded), raw: collapse(raw) }
    : { decoded, raw };

const collapse = (path: string): string => path.replaceAll(/\/{2,}/g, '/');
