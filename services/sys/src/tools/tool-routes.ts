import { createHash, randomBytes } from 'node:crypto';
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, secretsRoutes } from '@keelson/secrets-api';

const MAX_RANDOM_BYTES = 128 * 1024;

const DIGESTS: Readonly<Record<string, string>> = {
  'sha2-224': 'sha224',
  'sha2-256': 'sha256',
  'sha2-384': 'sha384',
  'sha2-512': 'sha512',
  'sha3-224': 'sha3-224',
  'sha3-256': 'sha3-256',
  'sha3-384': 'sha3-384',
  'sha3-512': 'sha3-512',
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const format = (byDefault: 'base64' | 'hex') =>
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
    check: (name) => (Object.hasOwn(DIGESTS, name) ? undefined : `unsupported algorithm ${name}`),
  }),
  input: field.string({ description: 'Base64 of what to hash.', required: 'missing input' }),
  format: format('hex'),
} as const;

const decodeBase64 = (text: string): Buffer =>
  /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0
    ? Buffer.from(text, 'base64')
    : refuse('unable to decode input as base64');

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
              data: {
                random_bytes: randomBytes(fields.bytes).toString(fields.format as 'hex' | 'base64'),
              },
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
          handle: ({ fields }) => ({
            data: {
              sum: createHash(DIGESTS[fields.algorithm] ?? '')
                .update(decodeBase64(fields.input))
                .digest(fields.format as 'hex' | 'base64'),
            },
          }),
        },
      },
    }),
  ),
];
