/**
 * Credentials that exist only at the first start: initial tokens and key shares, in `first-run.json` (mode
 * 0600) so that scripts and newcomers find them. Delete the file once the values are kept elsewhere;
 * later starts only keep its addresses up to date.
 */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncFolder, writeFileDurably } from '@keelson/runtime';

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

const parse = (text: string): FirstRun | undefined => {
  try {
    return JSON.parse(text) as FirstRun;
  } catch {
    return undefined;
  }
};

/** Enters the addresses of this start into the file, unless it was removed or edited into something else. */
export const followAddresses = (file: string, addresses: readonly string[]): void => {
  const facts = existsSync(file) ? parse(readFileSync(file, 'utf8')) : undefined;
  if (facts === undefined) return;
  if (JSON.stringify(facts.addresses) !== JSON.stringify(addresses))
    writeFirstRun(file, { ...facts, addresses });
};

const REPLACED = 'first-run.replaced.json';

/**
 * Renames the file when the records of another cluster have replaced those of its own: its tokens and shares
 * open nothing any more.
 * @returns a sentence for the operator; undefined if there is no file
 */
export const setFirstRunAside = (file: string): string | undefined => {
  if (!existsSync(file)) return undefined;
  const folder = dirname(file);
  const aside = join(folder, REPLACED);
  renameSync(file, aside);
  syncFolder(folder);
  return `${file} was renamed to ${REPLACED}: its tokens and key shares are those of the cluster that was replaced, and open nothing any more. Those of the snapshot's cluster are valid.`;
};
