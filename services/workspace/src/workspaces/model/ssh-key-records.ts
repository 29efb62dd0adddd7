import { collection } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const sshKeyShape = Type.Object({
  /** `sshkey-…`. */
  id: Type.String(),
  organizationId: Type.String(),
  name: Type.String(),
  /** Private key text; write-only. */
  value: Type.String(),
  createdAtMs: Type.Number(),
});
export type SshKey = Shaped<typeof sshKeyShape>;

export const sshKeyRecords = collection('ssh-keys', {
  scope: 'shared',
  version: 1,
  shape: sshKeyShape,
  owner: { kind: 'organization', by: 'organizationId' },
  index: ['organizationId'],
});
