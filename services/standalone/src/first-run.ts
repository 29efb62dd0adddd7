/**
 * Credentials that exist only at the first start: initial tokens and key shares, in `first-run.json` (mode
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

/** Writes the file atomically: complete on disk on return, and absent after a crash before that. */
export const writeFirstRun = (file: string, facts: FirstRun): void =>
  writeFileDurably(file, `${JSON.stringify(facts, null, 2)}\n`);
