/** Imports of certificates and keys, on the paths of reference §2.5. */

import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import { keyDocument } from '../keys/key-document.ts';
import { KEY_NAME_FIELD } from '../keys/key-parameters.ts';
import { loadKeyRing } from '../keys/key-records.ts';
import { checkGivenName } from '../mounts/reference-name.ts';
import { checkPemLength, parseImportBundle } from './domain/import-bundle.ts';
import { type Imported, type ImportParts, importBundle, importKey } from './import-operations.ts';

const FIELDS = {
  pem_bundle: field.string({ default: '', description: 'PEM of certificates and keys.' }),
  certificate: field.string({ default: '', description: 'PEM of certificates.' }),
};

const MIN_BUNDLE_LENGTH = 75;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const onlyOne = (pemBundle: string, certificate: string): string => {
  if (pemBundle !== '' && certificate !== '')
    refuse("'certificate' and 'pem_bundle' parameters were both provided");
  if (pemBundle === '' && certificate === '')
    refuse("'certificate' and 'pem_bundle' parameters were empty");
  return pemBundle || certificate;
};

const orNull = (ids: readonly string[]): readonly string[] | null =>
  ids.length === 0 ? null : ids;

const importedDocument = (imported: Imported): JsonObject => ({
  imported_issuers: orNull(imported.importedIssuerIds),
  imported_keys: orNull(imported.importedKeyIds),
  existing_issuers: orNull(imported.existingIssuerIds),
  existing_keys: orNull(imported.existingKeyIds),
  mapping: Object.fromEntries(imported.keyIdByIssuerId),
});

interface ImportPath {
  readonly path: string;
  readonly summary: string;
  readonly allowsKeys: boolean;
}

const PATHS: readonly ImportPath[] = [
  { path: '/config/ca', summary: 'Import issuers and keys', allowsKeys: true },
  { path: '/issuers/import/bundle', summary: 'Import issuers and keys', allowsKeys: true },
  { path: '/issuers/import/cert', summary: 'Import issuers', allowsKeys: false },
  { path: '/intermediate/set-signed', summary: 'Import a signed intermediate', allowsKeys: false },
];

const bundleRoutes = (parts: ImportParts): Route[] =>
  PATHS.flatMap(({ path, summary, allowsKeys }) =>
    secretsRoutes({
      path,
      tag: 'issuers',
      fields: FIELDS,
      operations: {
        update: {
          summary,
          handle: async (context) => {
            const { pem_bundle: pemBundle, certificate } = context.fields;
            const pem = onlyOne(pemBundle, certificate);
            checkPemLength(pem, MIN_BUNDLE_LENGTH);
            const bundle = parseImportBundle(pem);
            if (bundle.keys.length > 0 && !allowsKeys)
              refuse(
                'private keys found in the PEM bundle but not allowed by the path; use /issuers/import/bundle',
              );
            const imported = await importBundle(parts, requireMount(context), bundle);
            return { data: importedDocument(imported), warnings: imported.warnings };
          },
        },
      },
    }),
  );

const MIN_KEY_LENGTH = 64;

const keyImportRoutes = (parts: ImportParts): Route[] =>
  secretsRoutes({
    path: '/keys/import',
    tag: 'keys',
    fields: {
      ...KEY_NAME_FIELD,
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
          const ring = await loadKeyRing(parts.store, mount);
          return {
            data: keyDocument(ring.require(keyId)),
            warnings: isNew ? [] : ['Key already imported, use key/ endpoint to update name.'],
          };
        },
      },
    },
  });

export const importRoutes = (parts: ImportParts): Route[] => [
  ...bundleRoutes(parts),
  ...keyImportRoutes(parts),
];
