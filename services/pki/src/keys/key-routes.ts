import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { field, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { keyIdentifierOf, toKeyAlgorithm, toSerialHex } from '@keelson/x509';
import { checkGivenName } from '../mounts/reference-name.ts';
import { MAX_TEXT_LENGTH } from '../mounts/text-fields.ts';
import { keyDocument } from './key-document.ts';
import {
  chooseDefaultKey,
  deleteKey,
  generateKey,
  type KeyUse,
  renameKey,
} from './key-operations.ts';
import { KEY_NAME_FIELD } from './key-parameters.ts';
import { loadKeyRing } from './key-records.ts';
import { privateKeyText } from './private-key-text.ts';

const REFERENCE = {
  key_ref: field.string({
    default: '',
    description: 'Id or name of a key, or `default`.',
    maxLength: MAX_TEXT_LENGTH,
  }),
};

const GENERATE_FIELDS = {
  ...KEY_NAME_FIELD,
  type: field.string({
    default: '',
    description: 'internal or exported.',
    maxLength: MAX_TEXT_LENGTH,
  }),
  key_type: field.string({
    default: 'rsa',
    description: 'rsa, ec or ed25519.',
    maxLength: MAX_TEXT_LENGTH,
  }),
  key_bits: field.integer({ default: 0, description: 'Key size; 0: usual size of the type.' }),
};

const defaultKeyRoutes = (store: Store): Route[] =>
  secretsRoutes({
    path: '/config/keys',
    tag: 'keys',
    hasSettings: true,
    fields: {
      default: field.string({
        description: 'Id or name of the default key.',
        maxLength: MAX_TEXT_LENGTH,
      }),
    },
    operations: {
      read: {
        summary: 'Read which key is the default',
        handle: async (context) => {
          const { defaultId } = await loadKeyRing(store, requireMount(context));
          return { data: { default: defaultId } };
        },
      },
      update: {
        summary: 'Choose the default key',
        handle: async (context) => {
          const wanted = context.fields.default ?? '';
          return {
            data: { default: await chooseDefaultKey(store, requireMount(context), wanted) },
          };
        },
      },
    },
  });

export const keyRoutes = ({ store, issuerWithKey }: KeyUse): Route[] => [
  ...secretsRoutes({
    path: '/keys',
    tag: 'keys',
    fields: {},
    operations: {
      list: {
        summary: 'List keys',
        handle: async (context) => {
          const ring = await loadKeyRing(store, requireMount(context));
          return {
            data: {
              keys: ring.all.map(({ id }) => id),
              key_info: Object.fromEntries(
                ring.all.map(({ id, name, type }) => [
                  id,
                  { key_name: name, key_type: type, is_default: id === ring.defaultId },
                ]),
              ),
            },
            warnings: ring.damaged.warnings('key'),
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/keys/generate/:type',
    tag: 'keys',
    fields: GENERATE_FIELDS,
    operations: {
      update: {
        summary: 'Generate a key',
        handle: async (context) => {
          const { type, key_name: name, key_type: keyType, key_bits: bits } = context.fields;
          if (type !== 'internal' && type !== 'exported')
            throw new KeelsonError('request.unsupported_path');
          checkGivenName('key', name);
          const algorithm = toKeyAlgorithm(keyType, bits);
          const key = await generateKey(store, requireMount(context), algorithm, name);
          const privateKey = Buffer.from(key.privateKey, 'base64');
          return {
            data: {
              ...keyDocument(key),
              ...(type === 'exported' && { private_key: privateKeyText(privateKey, 'pem', '') }),
            },
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/key/:key_ref',
    tag: 'keys',
    hasSettings: true,
    fields: { ...REFERENCE, ...KEY_NAME_FIELD },
    operations: {
      read: {
        summary: 'Read a key; never its private part',
        handle: async (context) => {
          const ring = await loadKeyRing(store, requireMount(context));
          const key = ring.require(context.fields.key_ref);
          const keyIdentifier = keyIdentifierOf(Buffer.from(key.publicKey, 'base64'));
          return { data: { ...keyDocument(key), subject_key_id: toSerialHex(keyIdentifier) } };
        },
      },
      update: {
        summary: 'Rename a key',
        handle: async (context) => {
          const { key_ref: reference, key_name: name } = context.fields;
          checkGivenName('key', name);
          const key = await renameKey(store, requireMount(context), reference, name);
          return {
            data: keyDocument(key),
            warnings: name === '' ? ['the name of the key was removed'] : [],
          };
        },
      },
      delete: {
        summary: 'Delete a key',
        handle: async (context) => {
          const warnings = await deleteKey(
            { store, issuerWithKey },
            requireMount(context),
            context.fields.key_ref,
          );
          return warnings.length === 0 ? undefined : { warnings };
        },
      },
    },
  }),
  ...defaultKeyRoutes(store),
];
