import { jsonRecords, type RecordCollection } from '@keelson/storage';
import { acmePrefix, type MountScope } from '../../mounts/mount-records.ts';
import type { BoundIdentity } from './domain/external-account-binding.ts';

/** A key that no account has used yet (reference §7.6). */
export interface ExternalAccountKey {
  /** MAC key in base64url. Secret. */
  readonly macKey: string;
  readonly keyType: string;
  readonly directory: string;
  readonly createdAtMs: number;
  readonly identity?: BoundIdentity | undefined;
}

/** By id. */
export const externalAccountRecords = (mount: MountScope): RecordCollection<ExternalAccountKey> =>
  jsonRecords(acmePrefix(mount, 'eab'));
