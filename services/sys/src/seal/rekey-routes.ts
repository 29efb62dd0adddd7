/** `sys/rekey/*`, `sys/rekey-recovery-key/*`, `sys/rotate/root/*`, `sys/rotate/recovery/*`: new key shares. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, secretsRoutes } from '@keelson/secrets-api';
import { type CeremonyForm, IN_ENVELOPE, WITHOUT_ENVELOPE } from './ceremony-form.ts';
import { CANCEL_FIELDS, cancelling, SHARE_FIELDS } from './ceremony-routes.ts';
import {
  cancelRekey,
  deleteRekeyBackup,
  findRekey,
  findRekeyBackup,
  giveRekeyShare,
  type RekeyContext,
  requiredShares,
  restartRekeyVerification,
  startRekey,
  verifyRekey,
} from './rekey-operations.ts';
import {
  REKEY_OUTCOME,
  REKEY_STATUS,
  toRekeyOutcome,
  toRekeyStatus,
  toVerification,
  VERIFICATION,
} from './seal-document.ts';

const TAG = 'seal';

const INIT_FIELDS = {
  secret_shares: field.integer({ description: 'New number of shares.', default: 0 }),
  secret_threshold: field.integer({ description: 'New threshold.', default: 0 }),
  pgp_keys: field.commaList({ description: 'PGP keys of the holders, base64.', default: [] }),
  backup: field.bool({ description: 'Keep the encrypted shares.', default: false }),
  require_verification: field.bool({
    description: 'The new shares take effect only when they were given back once.',
    default: false,
  }),
} as const;

const missing = (): never => {
  throw new KeelsonError('request.invalid', { text: 'no rekey configuration found' });
};

const backupRoutes = (path: string, rekey: RekeyContext): Route[] =>
  secretsRoutes({
    path,
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'Encrypted shares of the last rekey',
        handle: async () => {
          const backup = await findRekeyBackup(rekey);
          if (backup === undefined) {
            throw new KeelsonError('request.invalid', { text: 'no backed-up keys found' });
          }
          const base64 = Object.fromEntries(
            Object.entries(backup.keys).map(([fingerprint, keys]) => [
              fingerprint,
              keys.map((key) => Buffer.from(key, 'hex').toString('base64')),
            ]),
          );
          return { data: { nonce: backup.nonce, keys: backup.keys, keys_base64: base64 } };
        },
      },
      delete: {
        summary: 'Delete the encrypted shares',
        handle: async () => {
          await deleteRekeyBackup(rekey);
          return undefined;
        },
      },
    },
  });

interface RekeyRoutes {
  readonly base: string;
  /** Path of the shares that a rekey has kept. */
  readonly backup: string;
  readonly form: CeremonyForm;
}

/** Addresses of each kind; those that need a token are OpenBao's. */
const ADDRESSES: Readonly<Record<RekeyContext['kind'], readonly RekeyRoutes[]>> = {
  barrier: [
    { base: '/sys/rekey', backup: '/sys/rekey/backup', form: WITHOUT_ENVELOPE },
    { base: '/sys/rotate/root', backup: '/sys/rotate/root/backup', form: IN_ENVELOPE },
  ],
  recovery: [
    {
      base: '/sys/rekey-recovery-key',
      backup: '/sys/rekey/recovery-key-backup',
      form: WITHOUT_ENVELOPE,
    },
    { base: '/sys/rotate/recovery', backup: '/sys/rotate/recovery/backup', form: IN_ENVELOPE },
  ],
};

const routesAt = (rekey: RekeyContext, { base, backup, form }: RekeyRoutes): Route[] => {
  const status = form.describe(REKEY_STATUS);
  const verification = form.describe(VERIFICATION);
  return [
    ...secretsRoutes({
      path: `${base}/init`,
      tag: TAG,
      fields: INIT_FIELDS,
      operations: {
        update: {
          summary: 'Start an attempt',
          answer: status,
          handle: async ({ fields }) => {
            const attempt = await startRekey(rekey, {
              shares: fields.secret_shares,
              threshold: fields.secret_threshold,
              pgpKeys: fields.pgp_keys,
              backup: fields.backup,
              requireVerification: fields.require_verification,
            });
            return form.present(toRekeyStatus(attempt, attempt.required));
          },
        },
      },
    }),
    ...secretsRoutes({
      path: `${base}/init`,
      tag: TAG,
      fields: {},
      operations: {
        read: {
          summary: 'Progress of the attempt',
          answer: status,
          handle: async () =>
            form.present(toRekeyStatus(await findRekey(rekey), await requiredShares(rekey))),
        },
      },
    }),
    ...secretsRoutes({
      path: `${base}/init`,
      tag: TAG,
      fields: CANCEL_FIELDS,
      operations: {
        delete: {
          summary: 'Cancel the attempt',
          handle: async (exchange) => {
            await cancelRekey(rekey, cancelling(exchange));
            return undefined;
          },
        },
      },
    }),
    ...secretsRoutes({
      path: `${base}/update`,
      tag: TAG,
      fields: SHARE_FIELDS,
      operations: {
        update: {
          summary: 'Give a key share',
          answer: form.describe(REKEY_OUTCOME),
          handle: async ({ fields }) =>
            form.present(toRekeyOutcome(await giveRekeyShare(rekey, fields))),
        },
      },
    }),
    ...secretsRoutes({
      path: `${base}/verify`,
      tag: TAG,
      fields: {},
      operations: {
        read: {
          summary: 'Progress of the verification',
          answer: verification,
          handle: async () => form.present(toVerification((await findRekey(rekey)) ?? missing())),
        },
      },
    }),
    ...secretsRoutes({
      path: `${base}/verify`,
      tag: TAG,
      fields: SHARE_FIELDS,
      operations: {
        update: {
          summary: 'Give one of the new shares',
          answer: verification,
          handle: async ({ fields }) => {
            const { attempt, complete } = await verifyRekey(rekey, fields);
            return form.present(
              complete ? { nonce: fields.nonce, complete } : toVerification(attempt),
            );
          },
        },
        delete: {
          summary: 'Start the verification again',
          answer: verification,
          handle: async (context) => {
            await restartRekeyVerification(rekey, cancelling(context));
            return form.present(toVerification((await findRekey(rekey)) ?? missing()));
          },
        },
      },
    }),
    ...backupRoutes(backup, rekey),
  ];
};

/** The routes for new shares of one kind. */
export const rekeyRoutes = (rekey: RekeyContext): Route[] =>
  ADDRESSES[rekey.kind].flatMap((addresses) => routesAt(rekey, addresses));
