/**
 * Authorises operations on a DR secondary, where no other token is valid: by the operation token made from
 * key shares, or by a batch token that the primary made earlier in its root namespace and whose policies
 * allow the path.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { createNetworks } from '@keelson/edge/networks';
import { KeelsonError } from '@keelson/errors';
import type { Store, Transaction } from '@keelson/storage';
import { CAPABILITY_BITS } from '../policies/domain/capabilities.ts';
import type { PolicyIndex } from '../policies/policy-index.ts';
import type { Seal } from '../seal/seal.ts';
import type { TokenEntry } from '../tokens/domain/token-entry.ts';
import { isBatchToken, RANDOM_LENGTH, SERVICE_PREFIX } from '../tokens/domain/token-text.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import { findToken, randomBase62 } from '../tokens/token-operations.ts';
import { rightsOf } from '../tokens/token-rights-operations.ts';
import { operationToken } from './replication-records.ts';

export interface OperationTokenParts {
  /** Not guarded by the replication gate. */
  readonly store: Store;
  readonly seal: Seal;
  readonly tokens: TokenContext;
  readonly policies: () => Promise<PolicyIndex>;
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Returns a new operation token and invalidates the previous one. */
export const issueOperationToken = (tx: Transaction, seal: Seal): string => {
  const token = `${SERVICE_PREFIX}${randomBase62(RANDOM_LENGTH)}`;
  operationToken.write(tx, seal.requireRootKey(), { hash: hashOf(token).toString('hex') });
  return token;
};

const isGenerated = async ({ store, seal }: OperationTokenParts, token: string) => {
  const kept = await operationToken.find(store, seal.requireRootKey());
  return kept !== undefined && timingSafeEqual(Buffer.from(kept.hash, 'hex'), hashOf(token));
};

/** An operation that a token in the body has to authorise. */
export interface OperationClaim {
  /** "" when no token was given. */
  readonly token: string;
  /** Relative to `/v1/`. */
  readonly path: string;
  readonly remoteAddress: string;
}

/** The cluster belongs to the root namespace, so policies of other namespaces have no say about it. */
const mayOperate = async (
  { policies, tokens }: OperationTokenParts,
  token: TokenEntry,
  { path, remoteAddress }: OperationClaim,
): Promise<boolean> => {
  const { namespace, boundCidrs } = token;
  if (namespace.path !== '') return false;
  if (boundCidrs.length > 0 && !createNetworks(boundCidrs).includes(remoteAddress)) return false;
  const rights = await rightsOf(tokens, token);
  if (rights === undefined) return false;
  const capabilities = (await policies()).aclOf(rights).capabilitiesOn(path);
  const isDenied = (capabilities & CAPABILITY_BITS.deny) !== 0;
  return !isDenied && (capabilities & CAPABILITY_BITS.update) !== 0;
};

/** @throws KeelsonError `replication.operation_token_missing`, `sys.permission_denied` */
export const requireOperationToken = async (
  parts: OperationTokenParts,
  claim: OperationClaim,
): Promise<void> => {
  const { token } = claim;
  if (token === '') throw new KeelsonError('replication.operation_token_missing');
  if (await isGenerated(parts, token)) return;
  const batch = isBatchToken(token) ? await findToken(parts.tokens, token) : undefined;
  if (batch === undefined || !(await mayOperate(parts, batch, claim)))
    throw new KeelsonError('sys.permission_denied');
};

/** @throws KeelsonError as `requireOperationToken`; a batch token cannot be deleted and remains valid */
export const deleteOperationToken = (parts: OperationTokenParts): Promise<void> =>
  parts.store.transact((tx) => operationToken.delete(tx));
