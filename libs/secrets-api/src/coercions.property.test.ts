import { hasCode } from '@keelson/errors';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Field, field, readFields } from './fields.ts';

const description = 'a parameter';
const kinds: Readonly<Record<string, Field<unknown>>> = {
  string: field.string({ description }),
  bool: field.bool({ description }),
  integer: field.integer({ description }),
  durationSeconds: field.durationSeconds({ description }),
  commaList: field.commaList({ description }),
  stringMap: field.stringMap({ description }),
  map: field.map({ description }),
  time: field.time({ description }),
};

const refusal = (read: () => unknown): unknown => {
  try {
    read();
    return undefined;
  } catch (error) {
    return error;
  }
};

test.for(Object.keys(kinds))('any JSON is read as %s or refused naming the field', (kind) => {
  fc.assert(
    fc.property(fc.jsonValue(), (raw) => {
      const refused = refusal(() => readFields({ x: kinds[kind] as Field<unknown> }, { x: raw }));
      expect(
        refused === undefined ||
          (hasCode(refused, 'request.invalid') && refused.message.includes('field "x"')),
      ).toBe(true);
    }),
  );
});

test('a duration survives being written in hours, minutes and seconds', () => {
  fc.assert(
    fc.property(fc.nat({ max: 10_000 }), fc.nat({ max: 59 }), fc.nat({ max: 59 }), (h, m, s) => {
      const fields = { x: field.durationSeconds({ description }) };
      const seconds = h * 3600 + m * 60 + s;
      for (const raw of [`${h}h${m}m${s}s`, `${seconds}s`, String(seconds), seconds])
        expect(readFields(fields, { x: raw }).x).toBe(seconds);
    }),
  );
});

test('a list of plain names survives being joined with commas', () => {
  const name = fc.stringMatching(/^[a-z0-9./-]{1,12}$/);
  fc.assert(
    fc.property(fc.array(name), (names) => {
      const fields = { x: field.commaList({ description }) };
      expect(readFields(fields, { x: names.join(',') }).x).toEqual(names);
      expect(readFields(fields, { x: names }).x).toEqual(names);
    }),
  );
});

test('a timestamp keeps its instant in any offset', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 253_000_000_000 }),
      fc.integer({ min: -14 * 60, max: 14 * 60 }),
      (epochSeconds, offsetMinutes) => {
        const pad = (n: number): string => String(Math.trunc(n)).padStart(2, '0');
        const local = new Date((epochSeconds + offsetMinutes * 60) * 1000).toISOString();
        fc.pre(/^\d{4}-/.test(local));
        const size = Math.abs(offsetMinutes);
        const text = `${local.slice(0, 19)}${offsetMinutes < 0 ? '-' : '+'}${pad(size / 60)}:${pad(size % 60)}`;
        const fields = { x: field.time({ description, required: true }) };
        expect(readFields(fields, { x: text }).x.epochMs).toBe(epochSeconds * 1000);
      },
    ),
  );
});
