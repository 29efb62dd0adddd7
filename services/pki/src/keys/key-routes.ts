import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import { keyIdentifierOf, toKeyAlgorithm, toSerialHex } from '@keelson/x509';
import type { Key } from '../issuers/domain/authority.ts';
import { checkPemLength, parseImportBundle } from '../issuers/domain/import-bundle.ts';
import { importKey } from '../issuers/import-operations.ts';
import { type IssuerParts, updateDefaults } from '../issuers/issuer-operations.ts';
import { privateKeyText } from '../issuing/issuing-document.ts';
import { PAGE_FIELDS, pageOf } from '../mounts/list-page.ts';
import { checkGivenName } from '../mounts/reference-name.ts';
import { requireMount } from '../mounts/request-mount.ts';
import { deleteKey, generateKey, renameKey } from './key-operations.ts';

const keyDocument = ({ id, name, type }: Key): JsonObject => ({
  key_id: id,
  key_name: name,
  key_type: type,
});

const NAME = { key_name: field.string({ default: '', description: 'Name of the key.' }) };
const REFERENCE = {
  key_ref: field.string({ default: '', description: 'Id or name of a key, or `default`.' }),
};

const GENERATE_FIELDS = {
  ...NAME,
  type: field.string({ default: '', description: 'internal or exported.' }),
  key_type: field.string({ default: 'rsa', description: 'rsa, ec or ed25519.' }),
  key_bits: field.integer({ default: 0, description: 'Key size; 0: usual size of the type.' }),
};

const MIN_KEY_LENGTH = 64;

const importRoutes = (parts: IssuerParts): Route[] =>
  secretsRoutes({
    path: '/keys/import',
    tag: 'keys',
    fields: {
      ...NAME,
      pem_bundle: field.string({ default: '', description: 'PEM of one private key.' }),
    },
    operations: {
      update: {
        summary: 'Import a key',
        handle: async (context) => {
          const { key_name: name, pem_bundle: pem } = context.fields;
          checkGivenName('key', name);
          checkPemLength(pem, MIN_KEY_LENGTH);
          const { keys, certificates } = parseImportBundle(pem);
          const [pair] = keys;
          if (pair === undefined || keys.length + certificates.length > 1)
            throw new KeelsonError('request.invalid', {
              text: 'only a single key can be present within the pem_bundle for importing',
            });
          const mount = requireMount(context);
          const { keyId, isNew } = await importKey(parts, mount, pair, name);
          const authority = await parts.authorities.of(mount);
          return {
            data: keyDocument(authority.requireKey(keyId)),
            warnings: isNew ? [] : ['Key already imported, use key/ endpoint to update name.'],
          };
        },
      },
    },
  });

export const keyRoutes = (parts: IssuerParts): Route[] => [
  ...importRoutes(parts),
  ...secretsRoutes({
    path: '/keys',
    tag: 'keys',
    fields: PAGE_FIELDS,
    operations: {
      list: {
        summary: 'List keys',
        handle: async (context) => {
          const { keys, settings } = await parts.authorities.of(requireMount(context));
          const page = pageOf(keys, ({ id }) => id, context.fields);
          return {
            data: {
              keys: page.map(({ id }) => id),
              key_info: Object.fromEntries(
                page.map(({ id, name }) => [
                  id,
                  { key_name: name, is_default: id === settings.defaultKeyId },
                ]),
              ),
            },
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
          const key = await generateKey(parts.store, requireMount(context), algorithm, name);
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
    fields: { ...REFERENCE, ...NAME },
    operations: {
      read: {
        summary: 'Read a key; never its private part',
        handle: async (context) => {
          const authority = await parts.authorities.of(requireMount(context));
          const key = authority.requireKey(context.fields.key_ref);
          const keyIdentifier = keyIdentifierOf(Buffer.from(key.publicKey, 'base64'));
          return { data: { ...keyDocument(key), subject_key_id: toSerialHex(keyIdentifier) } };
        },
      },
      update: {
        summary: 'Rename a key',
        handle: async (context) => {
          const { key_ref: reference, key_name: name } = context.fields;
          checkGivenName('key', name);
          const key = await renameKey(parts.store, requireMount(context), reference, name);
          return {
            data: keyDocument(key),
            warnings: name === '' ? ['the name of the key was taken away'] : [],
          };
        },
      },
      delete: {
        summary: 'Delete a key',
        handle: async (context) => {
          const warnings = await deleteKey(
            parts.store,
            requireMount(context),
            context.fields.key_ref,
          );
          return warnings.length === 0 ? undefined : { warnings };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/config/keys',
    tag: 'keys',
    fields: { default: field.string({ description: 'Id or name of the default key.' }) },
    operations: {
      read: {
        summary: 'Read which key is the default',
        handle: async (context) => {
          const { settings } = await parts.authorities.of(requireMount(context));
          return { data: { default: settings.defaultKeyId } };
        },
      },
      update: {
        summary: 'Choose the default key',
        handle: async (context) => {
          const { keyId } = await updateDefaults(parts, requireMount(context), {
            keyRef: context.fields.default ?? '',
          });
          return { data: { default: keyId } };
        },
      },
    },
  }),
];
