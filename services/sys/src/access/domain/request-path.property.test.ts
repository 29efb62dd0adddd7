import { KeelsonError } from '@keelson/errors';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRequestPath, remainder, withoutEmptySegments } from './request-path.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('a', 'b', '/', '%2F', '%61', '%', '..', '.', '%2e', '#', '?', '%25'), {
      maxLength: 12,
    })
    .map((parts) => parts.join('')),
);

const parse = (given: string) => {
  try {
    return parseRequestPath(given);
  } catch (error) {
    return error instanceof KeelsonError ? error.code : String(error);
  }
};

/** True when the path is refused, or reads as the same segments twice and none of them climbs. */
const isSafe = (given: string): boolean => {
  const path = parse(given);
  if (typeof path === 'string') return path === 'request.invalid';
  const [decoded, raw] = [path.decoded.split('/'), path.raw.split('/')];
  const isSame = (segment: string, index: number): boolean =>
    segment === raw[index] || segment === decodeURIComponent(raw[index] ?? '');
  return (
    decoded.length === raw.length &&
    !decoded.some((segment) => segment === '..' || segment === '.') &&
    decoded.every(isSame)
  );
};

describe('request paths', () => {
  test('a path is refused, or both readings have the same segments', () => {
    fc.assert(
      fc.property(text, (given) => {
        expect(isSafe(given)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });

  test('removing the first segments removes the same from both readings', () => {
    fc.assert(
      fc.property(text, fc.nat({ max: 4 }), (given, count) => {
        const path = parse(given);
        fc.pre(typeof path !== 'string');
        const segments = path.decoded.split('/');
        fc.pre(count < segments.length);
        const rest = segments.slice(count).join('/');
        const left = remainder(path, rest);
        expect(left.decoded).toBe(rest);
        expect(left.raw).toBe(path.raw.split('/').slice(count).join('/'));
      }),
      { numRuns: 3000 },
    );
  });

  test('empty segments are removed from both readings', () => {
    expect(withoutEmptySegments({ decoded: 'a//b', raw: '%61///b' })).toEqual({
      decoded: 'a/b',
      raw: '%61/b',
    });
  });
});
