/**
 * Keys for external account binding (reference §7.6): created for a directory, listed and deleted while
 * unused.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Caller } from '@keelson/proto/edge/v1/edge';
import { field, secretsRoutes } from '@keelson/secrets-api';
import { readableOnly, type Store } from '@keelson/storage';
import { loadAuthority } from '../../issuers/issuer-records.ts';
import { requireRole } from '../../roles/role-operations.ts';
import { formatTime } from '../../validity/domain/lifetime.ts';
import {
  DIRECTORY_FORMS,
  type DirectoryForm,
  directoryPathOf,
} from '../directories/domain/directory.ts';
import { type BoundIdentity } from './domain/external-account-binding.ts';
import { type ExternalAccountKey, externalAccountRecords } from './eab-records.ts';

/**
 * Bytes whose base64url encoding is `vault-eab-0-`, the prefix by which tools recognize such keys.
 */
const KEY_PREFIX = Buffer.from('vault-eab-0-', 'base64url');
/** 48 bytes with the prefix, because dehydrated up to 0.7.0 accepts only multiples of 16 bytes. */
const KEY_BYTES = 39;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export interface ExternalAccountParts {
  readonly store: Store;
  readonly clock: Clock;
}

const identityOf = (caller: Caller | undefined): BoundIdentity | undefined =>
  caller && {
    entityId: caller.entityId,
    displayName: caller.displayName,
    metadata: caller.metadata,
  };

const information = (key: ExternalAccountKey) => ({
  key_type: key.keyType,
  acme_directory: `${key.directory}directory`,
  created_on: formatTime(key.createdAtMs),
});

const newKeyRoutes = ({ store, clock }: ExternalAccountParts, form: DirectoryForm): Route[] =>
  secretsRoutes({
    path: `${form.route}/new-eab`,
    tag: 'ACME',
    fields: {},
    operations: {
      update: {
        summary: 'Make a key that binds one new ACME account of this directory',
        handle: async (context) => {
          const mount = requireMount(context);
          const id = randomUUID();
          const key: ExternalAccountKey = {
            macKey: Buffer.concat([KEY_PREFIX, randomBytes(KEY_BYTES)]).toString('base64url'),
            keyType: 'hs',
            directory: directoryPathOf(form, context.params).path,
            createdAtMs: clock.nowMs(),
            identity: identityOf(context.caller),
          };
          await store.transact(async (tx) => {
            const { role, issuer_ref: issuerRef } = context.params;
            if (role !== undefined) await requireRole(tx, mount, role);
            if (issuerRef !== undefined) (await loadAuthority(tx, mount)).requireIssuer(issuerRef);
            externalAccountRecords(mount).write(tx, id, key);
          });
          return { data: { id, key: key.macKey, ...information(key) } };
        },
      },
    },
  });

export const externalAccountRoutes = (parts: ExternalAccountParts): Route[] => [
  ...DIRECTORY_FORMS.flatMap((form) => newKeyRoutes(parts, form)),
  ...secretsRoutes({
    path: '/eab',
    tag: 'ACME',
    fields: {},
    operations: {
      list: {
        summary: 'List keys for external account binding that no account has used',
        handle: async (context) => {
          const records = externalAccountRecords(requireMount(context));
          const entries = await records.entries(readableOnly(parts.store));
          return {
            data: {
              keys: entries.map(([id]) => id),
              key_info: Object.fromEntries(entries.map(([id, key]) => [id, information(key)])),
            },
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/eab/:key_id',
    tag: 'ACME',
    fields: { key_id: field.string({ default: '', description: 'Id of the key.' }) },
    operations: {
      delete: {
        summary: 'Delete a key for external account binding that no account has used',
        handle: async (context) => {
          const records = externalAccountRecords(requireMount(context));
          const id = context.fields.key_id;
          if (!UUID.test(id))
            throw new KeelsonError('request.invalid', { text: 'badly formatted key_id field' });
          const isKnown = await parts.store.transact(async (tx) => {
            if ((await records.find(tx, id)) === undefined) return false;
            records.delete(tx, id);
            return true;
          });
          return {
            data: {},
            warnings: isKnown ? [] : [`No key id found with id: ${id}`],
          };
        },
      },
    },
  }),
];
