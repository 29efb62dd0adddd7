import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkJsonLimits } from './json-limits.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('limits of JSON documents', () => {
  test('let every small document pass, however it is written', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat({ max: 4 }), (text, indent) => {
        const bytes = utf8(JSON.stringify(JSON.parse(text), undefined, indent));
        expect(() => checkJsonLimits(bytes)).not.toThrow();
      }),
    );
  });

  test('leave what is no JSON to the parser', () => {
    const accepts = (bytes: Uint8Array): void => {
      expect(() => checkJsonLimits(bytes)).not.toThrow();
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), accepts));
    for (const text of ['"', '"\\', '"\\u', ']]}}', ',,,', '[,']) accepts(utf8(text));
  });

  test('count the code units of strings, and nothing inside them', () => {
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
          checkJsonLimits(utf8(written(whole.repeat(count))));
          expect(() => checkJsonLimits(utf8(written(whole.repeat(count + 1))))).toThrow(
            'a string exceeds the limit of 1048576',
          );
        },
      ),
      { numRuns: 6 },
    );
    checkJsonLimits(utf8(JSON.stringify('{[,'.repeat(20_000))));
  });

  test.for([
    ['elements', (count: number) => `[${'0,'.repeat(count - 1)}0]`, 'an array'],
    ['entries', (count: number) => `{${'"a":0,'.repeat(count - 1)}"a":0}`, 'an object'],
    [
      'entries after others',
      (count: number) => `[{},[1,2],{${'"a":[],'.repeat(count - 1)}`,
      'an object',
    ],
  ] as const)('count %s', ([, write, what]) => {
    checkJsonLimits(utf8(write(10_000)));
    expect(() => checkJsonLimits(utf8(write(10_001)))).toThrow(
      `${what} exceeds the limit of 10000`,
    );
  });

  test('count the entries of all containers together', () => {
    const wide = `[${'0,'.repeat(9999)}0],`;
    checkJsonLimits(utf8(`[${wide.repeat(9)}0]`));
    expect(() => checkJsonLimits(utf8(`[${wide.repeat(11)}0]`))).toThrow(
      'the document exceeds the limit of 100000',
    );
  });

  test('count containers in containers', () => {
    checkJsonLimits(utf8(`${'['.repeat(301)}${']'.repeat(301)}`));
    expect(() => checkJsonLimits(utf8('[{"a":'.repeat(151)))).toThrow(
      'nesting exceeds the limit of 300',
    );
  });
});
