/** Accounts of ACME clients. They belong to one cluster and are not portable to others. */
import { Type } from 'typebox';
import { acmeRecords } from '../../mounts/mount-records.ts';
import { accountShape } from './domain/account.ts';

/** By id. */
export const accountRecords = acmeRecords('accounts', { version: 1, shape: accountShape });

/** Index from a directory and a key to the account; built by `accountKeyIndex`. */
export const accountKeyRecords = acmeRecords('account-keys', {
  version: 1,
  shape: Type.Object({ accountId: Type.String() }),
});

export const accountKeyIndex = (directory: string, thumbprint: string): string =>
  `${Buffer.from(directory).toString('base64url')}/${thumbprint}`;
