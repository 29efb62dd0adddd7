/**
 * Batch tokens are not stored: the token is its own entry, encrypted by the barrier. They cannot be revoked
 * individually; they end when they expire or when their parent ends.
 */

import { hasCode, KeelsonError } from '@keelson/errors';
import type { Barrier } from '@keelson/storage';
import type { TokenPlan } from './domain/token-creation.ts';
import type { TokenEntry } from './domain/token-entry.ts';
import { BATCH_PREFIX, MAX_TOKEN_LENGTH } from './domain/token-text.ts';

/** Format of the entry. One of another format is refused by its number, whatever else is in it. */
export const BATCH_TOKEN_FORMAT = 1;

interface BatchTokenContent {
  readonly format: number;
  readonly plan: TokenPlan;
}

/** Associated data, so that the bytes of a record cannot be used as a token. */
const BATCH_PATH = 'batch-token';

export const sealBatchToken = (barrier: Barrier, plan: TokenPlan): string => {
  const content: BatchTokenContent = { format: BATCH_TOKEN_FORMAT, plan };
  const sealed = barrier.encrypt(BATCH_PATH, Buffer.from(JSON.stringify(content)));
  return `${BATCH_PREFIX}${Buffer.from(sealed).toString('base64url')}`;
};

/**
 * The entry inside a batch token; undefined when the token is not from this cluster.
 * @throws KeelsonError `sys.batch_token_unknown_format` for one of another version of Keelson
 */
export const openBatchToken = (
  barrier: Barrier,
  token: string,
  hash: string,
): TokenEntry | undefined => {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const sealed = Buffer.from(token.slice(token.indexOf('.') + 1), 'base64url');
  let content: Uint8Array;
  try {
    content = barrier.decrypt(BATCH_PATH, sealed);
  } catch (error) {
    if (hasCode(error, 'barrier.damaged_value', 'barrier.unknown_term')) return undefined;
    throw error;
  }
  const { format, plan } = JSON.parse(Buffer.from(content).toString()) as BatchTokenContent;
  if (format !== BATCH_TOKEN_FORMAT)
    throw new KeelsonError('sys.batch_token_unknown_format', {
      found: String(format),
      known: BATCH_TOKEN_FORMAT,
    });
  return { ...plan, hash, accessor: '' };
};
