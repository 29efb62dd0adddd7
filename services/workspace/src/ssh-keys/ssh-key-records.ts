import { keyedRecords } from '../records/keyed-records.ts';

export interface SshKey {
  /** `sshkey-…`. */
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  /** Private key text: written once, never shown. */
  readonly value: string;
  readonly createdAtMs: number;
}

export const sshKeyRecords = keyedRecords<SshKey>('shared/ssh-keys/');

/** Organization id, key id. */
export const organizationSshKeys = keyedRecords<Record<never, never>>(
  'shared/organization-ssh-keys/',
);
