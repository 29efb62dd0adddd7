import type { Route } from '@keelson/edge';
import { field, secretsRoutes } from '@keelson/secrets-api';
import { digestOf, type Encoding, isAlgorithm } from './domain/digest.ts';
import { MAX_RANDOM_BYTES, randomText } from './tool-operations.ts';

const format = (byDefault: Encoding) =>
  field.string({
    description: 'Encoding of the answer: "hex" or "base64".',
    default: byDefault,
    check: (value) =>
      value === 'hex' || value === 'base64'
        ? undefined
        : `unsupported encoding format "${value}"; must be "hex" or "base64"`,
  });

const RANDOM_FIELDS = {
  bytes: field.integer({
    description: 'How many bytes.',
    default: 32,
    check: (count) => {
      if (count < 1) return '"bytes" cannot be less than 1';
      return count > MAX_RANDOM_BYTES ? `"bytes" should be at most ${MAX_RANDOM_BYTES}` : undefined;
    },
  }),
  source: field.string({
    description: 'Source of randomness: "platform".',
    default: 'platform',
    check: (source) =>
      source === 'platform'
        ? undefined
        : `unsupported entropy source "${source}"; must be "platform"`,
  }),
  format: format('base64'),
} as const;

const HASH_FIELDS = {
  algorithm: field.string({
    description: 'sha2-224 to sha2-512, sha3-224 to sha3-512.',
    default: 'sha2-256',
    check: (name) => (isAlgorithm(name) ? undefined : `unsupported algorithm ${name}`),
  }),
  input: field.string({ description: 'Data to hash, in base64.', required: 'missing input' }),
  format: format('hex'),
} as const;

/** `sys/tools`: random bytes and digests. */
export const toolRoutes = (): Route[] => [
  ...['/sys/tools/random', '/sys/tools/random/:bytes', '/sys/tools/random/:source/:bytes'].flatMap(
    (path) =>
      secretsRoutes({
        path,
        tag: 'tools',
        fields: RANDOM_FIELDS,
        operations: {
          update: {
            summary: 'Random bytes.',
            handle: ({ fields }) => ({
              data: { random_bytes: randomText(fields.bytes, fields.format as Encoding) },
            }),
          },
        },
      }),
  ),
  ...['/sys/tools/hash', '/sys/tools/hash/:algorithm'].flatMap((path) =>
    secretsRoutes({
      path,
      tag: 'tools',
      fields: HASH_FIELDS,
      operations: {
        update: {
          summary: 'Digest of the input.',
          handle: ({ fields: { algorithm, input, format: encoding } }) => ({
            data: { sum: digestOf(algorithm, input, encoding as Encoding) },
          }),
        },
      },
    }),
  ),
];
