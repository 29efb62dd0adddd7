/** Accounts of ACME clients. They are the cluster's own: accounts are not portable between clusters. */
import { jsonRecords, type RecordCollection } from '@keelson/storage';
import { acmePrefix, type MountScope } from '../../mounts/mount-records.ts';
import type { Account } from './domain/account.ts';

/** By id. */
export const accountRecords = (mount: MountScope): RecordCollection<Account> =>
  jsonRecords(acmePrefix(mount, 'accounts'));

/** Which account of a directory has a key; keys as `accountKeyIndex` makes them. */
export const accountKeyRecords = (
  mount: MountScope,
): RecordCollection<{ readonly accountId: string }> =>
  jsonRecords(acmePrefix(mount, 'account-keys'));

export const accountKeyIndex = (directory: string, thumbprint: string): string =>
  `${Buffer.from(directory).toString('base64url')}/${thumbprint}`;
