/** Accounts of ACME clients. They belong to one cluster and are not portable to others. */
import { jsonRecords, type RecordCollection } from '@keelson/storage';
import { acmePrefix, type MountScope } from '../../mounts/mount-records.ts';
import type { Account } from './domain/account.ts';

/** By id. */
export const accountRecords = (mount: MountScope): RecordCollection<Account> =>
  jsonRecords(acmePrefix(mount, 'accounts'));

/** Index from a directory and a key to the account; built by `accountKeyIndex`. */
export const accountKeyRecords = (
  mount: MountScope,
): RecordCollection<{ readonly accountId: string }> =>
  jsonRecords(acmePrefix(mount, 'account-keys'));

export const accountKeyIndex = (directory: string, thumbprint: string): string =>
  `${Buffer.from(directory).toString('base64url')}/${thumbprint}`;
