import { KeelsonError } from '@keelson/errors';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from './json-text.ts';
import { JSON_API_LIMITS, SECRETS_LIMITS } from './request-limits.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Why the text is refused; undefined if it is accepted. */
const problemOf = (bytes: Uint8Array, { json } = SECRETS_LIMITS): unknown => {
  try {
    parseJson(bytes, json);
    return undefined;
  } catch (error) {
    if (error instanceof KeelsonError && error.code === 'request.malformed_json')
      return error.params['reason'];
    throw error;
  }
};
const UNPARSABLE = /^it (?:cannot be parsed from|ends too early, at) line \d+, column \d+(?: on)?$/;
const TOLD = new RegExp(`${UNPARSABLE.source}|^it is empty$|^it is not UTF-8$`);

describe('JSON within limits', () => {
  test('is parsed in any notation', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat({ max: 4 }), (text, indent) => {
        const value = JSON.parse(text) as unknown;
        const bytes = utf8(JSON.stringify(value, undefined, indent));
        for (const { json } of [SECRETS_LIMITS, JSON_API_LIMITS])
          expect(parseJson(bytes, json)).toEqual(value);
      }),
    );
  });

  test('is distinguished from text that is not JSON, which is never quoted in the error', () => {
    const isTold = (bytes: Uint8Array): void => {
      expect(problemOf(bytes) ?? 'it is empty').toMatch(TOLD);
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), isTold));
    for (const text of ['"', '"\\', '"\\u', ']]}}', ',,,', '[,', '{"a":hvs.secret}'])
      expect(problemOf(utf8(text))).toMatch(UNPARSABLE);
    expect(problemOf(Buffer.from('"\xff"', 'latin1'))).toBe('it is not UTF-8');
    expect(problemOf(new Uint8Array())).toBe('it is empty');
  });

  test.for([
    ['{"a": 1,}', 'it cannot be parsed from line 1, column 9 on'],
    ['{"a": hvs.secret}', 'it cannot be parsed from line 1, column 7 on'],
    ['{\n  "a": [1, 2\n}', 'it cannot be parsed from line 3, column 1 on'],
    ['{"a": "one\ntwo"}', 'it cannot be parsed from line 1, column 11 on'],
    ['{"a": "\\x"}', 'it cannot be parsed from line 1, column 8 on'],
    ['{"a" 1}', 'it cannot be parsed from line 1, column 6 on'],
    ['{"a": 1} b', 'it cannot be parsed from line 1, column 10 on'],
    ['{"a": [true, {"b": null', 'it ends too early, at line 1, column 24'],
    ['  ', 'it ends too early, at line 1, column 3'],
  ] as const)('has its error located: %j', ([text, problem]) => {
    expect(problemOf(utf8(text))).toBe(problem);
  });

  test('has its error located at the first change that makes it invalid', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const broken = utf8(`${text}]`);
        const column = text.length + 1;
        expect(problemOf(broken)).toBe(`it cannot be parsed from line 1, column ${column} on`);
      }),
    );
  });

  test('has strings up to a number of code units, whose content is not counted', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
        fc.boolean(),
        (unit, isEscaped) => {
          const whole = unit.toWellFormed();
          const count = Math.floor(1_048_576 / whole.length);
          const written = (text: string): string =>
            isEscaped
              ? `"${text.replaceAll(/[^]/g, (unit16) => `\\u${unit16.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`
              : JSON.stringify(text);
          expect(problemOf(utf8(written(whole.repeat(count))))).toBeUndefined();
          const more = utf8(written(whole.repeat(count + 1)));
          expect(problemOf(more)).toBe('a string exceeds the limit of 1048576');
          expect(problemOf(more, JSON_API_LIMITS)).toBeUndefined();
        },
      ),
      { numRuns: 6 },
    );
    expect(problemOf(utf8(JSON.stringify('{[,'.repeat(20_000))))).toBeUndefined();
  });

  test.for([
    ['elements', (count: number) => `[${'0,'.repeat(count - 1)}0]`, 'an array'],
    ['entries', (count: number) => `{${'"a":0,'.repeat(count - 1)}"a":0}`, 'an object'],
    [
      'entries after others',
      (count: number) => `[{},[1,2],{${'"a":[],'.repeat(count - 1)}"a":0}]`,
      'an object',
    ],
  ] as const)('has at most so many %s', ([, write, what]) => {
    for (const limits of [SECRETS_LIMITS, JSON_API_LIMITS]) {
      expect(problemOf(utf8(write(10_000)), limits)).toBeUndefined();
      expect(problemOf(utf8(write(10_001)), limits)).toBe(`${what} exceeds the limit of 10000`);
    }
  });

  test('has at most so many entries in all containers together', () => {
    const wide = `[${'0,'.repeat(9999)}0],`;
    expect(problemOf(utf8(`[${wide.repeat(9)}0]`))).toBeUndefined();
    expect(problemOf(utf8(`[${wide.repeat(11)}0]`))).toBe(
      'the document exceeds the limit of 100000',
    );
  });

  test.for([SECRETS_LIMITS, JSON_API_LIMITS])('has at most so many nested containers', (limits) => {
    const { depth } = limits.json;
    const nested = (levels: number) => utf8('['.repeat(levels) + ']'.repeat(levels));
    expect(problemOf(nested(depth + 1), limits)).toBeUndefined();
    expect(problemOf(nested(depth + 2), limits)).toBe(`nesting exceeds the limit of ${depth}`);
    expect(problemOf(utf8('[{"a":'.repeat(depth)), limits)).toMatch('nesting');
  });
});
