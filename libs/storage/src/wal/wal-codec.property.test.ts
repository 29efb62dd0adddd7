import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DIGEST_BYTES } from '../records/record-digest.ts';
import { decodeOperations, encodeOperations } from './wal-codec.ts';

const buffer = (options: fc.IntArrayConstraints) =>
  fc.uint8Array(options).map((bytes) => Buffer.from(bytes));

const operation = fc.record(
  {
    path: fc.string({ unit: 'binary', maxLength: 300 }),
    stored: fc.option(buffer({ maxLength: 20_000 }), { nil: undefined }),
    replaced: buffer({ minLength: DIGEST_BYTES, maxLength: DIGEST_BYTES }),
  },
  { requiredKeys: ['path', 'stored'] },
);

test('decoded operations equal the encoded ones', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 20 }), (operations) => {
      expect(decodeOperations(encodeOperations(operations))).toEqual(operations);
    }),
    propertySettings(),
  );
});

test.for([0, 2, 255])('operations of format %i are refused by it', (format) => {
  const encoded = Uint8Array.from(encodeOperations([{ path: 'shared/a', stored: undefined }]));
  encoded[0] = format;
  expect(() => decodeOperations(encoded)).toThrow(
    `a log entry has format ${format}, this version of Keelson reads format 1`,
  );
});

test('bytes that are not operations are refused as damage, whatever they are', () => {
  const damage = expect.objectContaining({ code: 'storage.corrupt' });
  fc.assert(
    fc.property(
      fc.array(operation, { minLength: 1, maxLength: 5 }),
      fc.nat(),
      (operations, cut) => {
        const encoded = encodeOperations(operations);
        const shorter = encoded.subarray(0, cut % encoded.length);
        const wholeOperations = operations.map((_, count) =>
          encodeOperations(operations.slice(0, count)),
        );
        fc.pre(!wholeOperations.some(({ length }) => length === shorter.length));
        expect(() => decodeOperations(shorter)).toThrow(damage);
      },
    ),
    propertySettings(),
  );
});
