import { readFile } from 'node:fs/promises';
import { type EnrolmentOptions, enrolIdentity } from './enrolled-identity.ts';
import type { RenewedIdentity } from './renewed-identity.ts';

export interface EnrolmentFiles
  extends Omit<EnrolmentOptions, 'sysAddress' | 'caCertificatesPem' | 'joinToken'> {
  readonly sysAddresses: readonly string[];
  /** `internal-ca-certificate.pem` and `join-token` as `keelson-internal-ca` writes them. */
  readonly internalCaFile: string;
  readonly joinTokenFile: string;
}

/** Calls `enrolIdentity` with the contents of the files that a process is configured with. */
export const enrolIdentityFromFiles = async ({
  sysAddresses,
  internalCaFile,
  joinTokenFile,
  ...options
}: EnrolmentFiles): Promise<RenewedIdentity> =>
  enrolIdentity({
    ...options,
    sysAddress: sysAddresses,
    caCertificatesPem: await readFile(internalCaFile, 'utf8'),
    joinToken: (await readFile(joinTokenFile, 'utf8')).trim(),
  });
