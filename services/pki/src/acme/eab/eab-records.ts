import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { acmeRecords } from '../../mounts/mount-records.ts';
import { boundIdentityShape } from './domain/external-account-binding.ts';

/** A key that no account has used yet (reference §7.6). */
export const externalAccountKeyShape = Type.Object({
  /** MAC key in base64url. Secret. */
  macKey: Type.String(),
  keyType: Type.String(),
  directory: Type.String(),
  createdAtMs: Type.Number(),
  identity: Type.Optional(boundIdentityShape),
});
export type ExternalAccountKey = Shaped<typeof externalAccountKeyShape>;

/** By id. */
export const externalAccountRecords = acmeRecords('eab', {
  version: 1,
  shape: externalAccountKeyShape,
});
