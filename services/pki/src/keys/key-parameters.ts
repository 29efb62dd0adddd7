/** Parameters that choose the key of an authority: a new one, or one that the mount has. */
import { KeelsonError } from '@keelson/errors';
import { type FieldValues, field } from '@keelson/secrets-api';
import { toKeyAlgorithm } from '@keelson/x509';
import { checkGivenName } from '../mounts/reference-name.ts';
import { MAX_TEXT_LENGTH } from '../mounts/text-fields.ts';
import type { KeyChoice } from './key-operations.ts';

export const KEY_NAME_FIELD = {
  key_name: field.string({
    default: '',
    description: 'Name of the key.',
    maxLength: MAX_TEXT_LENGTH,
  }),
};

export const KEY_FIELDS = {
  ...KEY_NAME_FIELD,
  key_ref: field.string({
    default: 'default',
    description: 'Key, for type existing.',
    maxLength: MAX_TEXT_LENGTH,
  }),
  key_type: field.string({
    default: 'rsa',
    description: 'rsa, ec or ed25519.',
    maxLength: MAX_TEXT_LENGTH,
  }),
  key_bits: field.integer({ default: 0, description: 'Key size; 0: usual size of the type.' }),
  signature_bits: field.integer({ default: 0, description: 'Hash size of RSA signatures.' }),
  use_pss: field.bool({ default: false, description: 'PSS where the key is RSA.' }),
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/**
 * @param type `internal`, `exported` or `existing`, from the path
 * @throws KeelsonError `request.invalid`
 */
export const toKeyChoice = (
  type: string,
  fields: FieldValues<typeof KEY_FIELDS>,
  given: ReadonlySet<string>,
): KeyChoice => {
  if (!['internal', 'exported', 'existing'].includes(type))
    refuse('the "exported" path parameter must be "internal", "existing", exported" or "kms"');
  if (type === 'existing' && (given.has('key_type') || given.has('key_bits')))
    refuse('key_type and key_bits must not be given with an existing key');
  checkGivenName('key', fields.key_name);
  return {
    keyRef: type === 'existing' ? fields.key_ref : undefined,
    keyName: fields.key_name,
    algorithm: toKeyAlgorithm(fields.key_type, fields.key_bits),
    scheme: { signatureBits: fields.signature_bits, usePss: fields.use_pss },
  };
};

/** Warnings about parameters that have no effect on a key of this type. */
export const keyWarnings = (type: string, given: ReadonlySet<string>): readonly string[] => [
  ...(type !== 'existing' && given.has('key_ref')
    ? ['key_ref has no effect: the key is a new one']
    : []),
  ...(type === 'existing' && given.has('key_name')
    ? ['key_name has no effect: an existing key keeps its name']
    : []),
  ...(type !== 'exported' && given.has('private_key_format')
    ? ['private_key_format has no effect: the private key is not returned']
    : []),
];
