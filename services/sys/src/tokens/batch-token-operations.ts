/**
 * Batch tokens are not stored: the token is its own entry, encrypted by the barrier. They cannot be revoked
 * individually; they end when they expire or when their parent ends.
 */

import { hasCode } from '@keelson/errors';
import type { Barrier } from '@keelson/storage';
import type { TokenPlan } from './domain/token-creation.ts';
import type { TokenEntry } from './domain/token-entry.ts';
import { BATCH_PREFIX, MAX_TOKEN_LENGTH } from './domain/token-text.ts';

/** Associated data, so that the bytes of a record cannot be used as a token. */
const BATCH_PATH = 'batch-token';

export const sealBatchToken = (barrier: Barrier, plan: TokenPlan): string => {
  const sealed = barrier.encrypt(BATCH_PATH, Buffer.from(JSON.stringify(plan)));
  return `${BATCH_PREFIX}${Buffer.from(sealed).toString('base64url')}`;
};

/** The entry inside a batch token; undefined when the token is not from this cluster. */
export const openBatchToken = (
  barrier: Barrier,
  token: string,
  hash: string,
): TokenEntry | undefined => {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const sealed = Buffer.from(token.slice(token.indexOf('.') + 1), 'base64url');
  try {
    const plan = JSON.parse(
      Buffer.from(barrier.decrypt(BATCH_PATH, sealed)).toString(),
    ) as TokenPlan;
    return { ...plan, hash, accessor: '' };
  } catch (error) {
    if (hasCode(error, 'barrier.damaged_value', 'barrier.unknown_term')) return undefined;
    throw error;
  }
};
