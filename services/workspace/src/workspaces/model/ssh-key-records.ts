import { keyedRecords } from '../../base/keyed-records.ts';

export interface SshKey {
  /** `sshkey-…`. */
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  /** Private key text; write-only. */
  readonly value: string;
  readonly createdAtMs: number;
}

export const sshKeyRecords = keyedRecords<SshKey>('shared/ssh-keys/');

/** Organization id, key id. */
export const organizationSshKeys = keyedRecords<Record<never, never>>(
  'shared/organization-ssh-keys/',
);
