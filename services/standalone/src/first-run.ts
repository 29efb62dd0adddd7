/**
 * What only the first start can tell: initial tokens and key shares, kept in `first-run.json` (mode
 * 0600) so that scripts and newcomers find them. Delete the file once the values are kept elsewhere;
 * no later start reads it.
 */
import { writeFileDurably } from '@keelson/runtime';

export interface FirstRun {
  /** Token of the root policy for /v1. */
  readonly root_token: string;
  /** Token of an administrator who may create organizations, for /api/v2. */
  readonly api_token: string;
  /** Base URLs, HTTP first. */
  readonly addresses: readonly string[];
  /** "" when the edge was given a certificate. */
  readonly ca_certificate_file: string;
  /**
   * Recovery shares, base64: for generate-root, rekey, and unsealing after `sys/seal`. At each start the
   * key file opens the seal.
   */
  readonly unseal_keys: readonly string[];
}

/** Whole on disk when it returns; after a crash before that, not there at all. */
export const writeFirstRun = (file: string, facts: FirstRun): void =>
  writeFileDurably(file, `${JSON.stringify(facts, null, 2)}\n`);
