/** The kinds of keys that an engine makes, and the field that chooses one. */

/** Words of each kind, with the parameters that ask for it. */
import { Label, SelectField } from '../../components/fields.tsx';

const KEY_KINDS = {
  'ec-256': ['ECDSA with P-256', { key_type: 'ec', key_bits: 256 }],
  'ec-384': ['ECDSA with P-384', { key_type: 'ec', key_bits: 384 }],
  'ec-521': ['ECDSA with P-521', { key_type: 'ec', key_bits: 521 }],
  'ec-224': ['ECDSA with P-224', { key_type: 'ec', key_bits: 224 }],
  'rsa-2048': ['RSA with 2048 bits', { key_type: 'rsa', key_bits: 2048 }],
  'rsa-3072': ['RSA with 3072 bits', { key_type: 'rsa', key_bits: 3072 }],
  'rsa-4096': ['RSA with 4096 bits', { key_type: 'rsa', key_bits: 4096 }],
  'rsa-8192': ['RSA with 8192 bits', { key_type: 'rsa', key_bits: 8192 }],
  ed25519: ['Ed25519', { key_type: 'ed25519' }],
} as const;

type KeyKind = keyof typeof KEY_KINDS;

const isKeyKind = (name: string): name is KeyKind => Object.hasOwn(KEY_KINDS, name);

/** The parameters that ask for the kind of key with this name; none for another name. */
export const keyParameters = (name: string): object => (isKeyKind(name) ? KEY_KINDS[name][1] : {});

/** A field named "key". */
export const KeyKindField = () => (
  <Label>
    Key
    <SelectField name="key" defaultValue="ec-256">
      {Object.entries(KEY_KINDS).map(([value, [title]]) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </SelectField>
  </Label>
);
