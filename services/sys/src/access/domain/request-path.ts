/**
 * One reading of a request path for everything that looks at it. Policies judge the decoded path; the
 * service that answers gets the path as it was sent and decodes it once. Both must name the same thing,
 * so what they could read differently is refused or brought to one form here.
 */
import { KeelsonError } from '@keelson/errors';

export interface RequestPath {
  /** For look-ups and policies, without slashes at its end. */
  readonly decoded: string;
  /** As sent, without slashes at its end. Has as many segments as `decoded`. */
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
    // An encoded slash is part of its segment; decoded here it would make two of one.
    return decoded.includes('/') ? segment : decoded;
  } catch {
    return refuse('the path is not valid percent-encoding');
  }
};

/** @throws KeelsonError `request.invalid` */
export const parseRequestPath = (given: string): RequestPath => {
  if (given.length > MAX_LENGTH) refuse('the path is too long');
  // In a path these end it for some readers; clients send them encoded.
  if (/[?#\\\p{Cc}]/u.test(given)) refuse('the path has characters that must be encoded');
  // The lookbehind keeps this linear: without it each slash of a run begins a search of its own.
  const raw = given.replace(/(?<!\/)\/+$/, '');
  const decoded = raw.includes('%') ? raw.split('/').map(decodeSegment).join('/') : raw;
  if (/(?:^|\/)\.{1,2}(?:\/|$)/.test(decoded)) refuse('relative paths not supported');
  return { decoded, raw };
};

/** The part after the first `count` segments. */
const dropSegments = (path: string, count: number): string => {
  let at = 0;
  for (let dropped = 0; dropped < count; dropped += 1) at = path.indexOf('/', at) + 1;
  return path.slice(at);
};

/** What is left when look-ups have taken all of `decoded` but `rest`. */
export const remainder = ({ decoded, raw }: RequestPath, rest: string): RequestPath => {
  if (rest.length === decoded.length) return { decoded, raw };
  const taken = decoded.slice(0, decoded.length - rest.length);
  return { decoded: rest, raw: dropSegments(raw, taken.split('/').length - 1) };
};

/** Without empty segments, which some handlers take for nothing and policies for something. */
export const withoutEmptySegments = ({ decoded, raw }: RequestPath): RequestPath =>
  decoded.includes('//') || raw.includes('//')
    ? { decoded: collapse(decoded), raw: collapse(raw) }
    : { decoded, raw };

const collapse = (path: string): string => path.replaceAll(/\/{2,}/g, '/');
