import { generateKeyPairSync } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { WrapInfo as IssuedWrapInfo, WrapRequest } from '@keelson/proto/sys/v1/access';
import type { Reads, Transaction } from '@keelson/storage';
import { RESPONSE_WRAPPING_POLICY } from '../policies/domain/default-policy.ts';
import { isUsable, type TokenEntry } from '../tokens/domain/token-entry.ts';
import { isBatchToken, MAX_TOKEN_LENGTH, namespaceIdOf } from '../tokens/domain/token-text.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import { issueServiceToken } from '../tokens/token-operations.ts';
import { findStoredToken, hashSecret, refOf, removeToken } from '../tokens/token-records.ts';
import { isWrappingJwt, keyPairOf, openWrappingJwt, signWrappingJwt } from './wrapping-jwt.ts';
import {
  findWrapInfo,
  findWrappedResponse,
  WRAPPING_KEY,
  type WrapInfo,
  type WrappingKey,
  wrappingKeyRecords,
  writeWrappedResponse,
} from './wrapping-records.ts';

const ROOT = { id: 'root', path: '' };

interface Wrapped {
  readonly token: TokenEntry;
  readonly info: WrapInfo;
}

/** The same error for unknown, used and expired tokens and for tokens that do not wrap anything. */
const invalid = (): never => {
  throw new KeelsonError('sys.wrapping_token_invalid');
};

/** The key of JWTs, created on first use. */
const requireKey = async (tx: Transaction): Promise<WrappingKey> => {
  const kept = await wrappingKeyRecords.find(tx, WRAPPING_KEY);
  if (kept !== undefined) return kept;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' });
  const key = { privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  wrappingKeyRecords.write(tx, WRAPPING_KEY, key);
  return key;
};

/** The wrapping token itself, taken out of its JWT if it is in one. */
const requireInner = async (
  { clock }: TokenContext,
  reads: Reads,
  presented: string,
): Promise<string> => {
  if (presented.length > MAX_TOKEN_LENGTH) return invalid();
  if (!isWrappingJwt(presented)) return presented;
  const key = await wrappingKeyRecords.find(reads, WRAPPING_KEY);
  if (key === undefined) return invalid();
  return openWrappingJwt(key, presented, clock.nowMs()) ?? invalid();
};

const requireWrapped = async (
  context: TokenContext,
  reads: Reads,
  presented: string,
): Promise<Wrapped> => {
  const token = await requireInner(context, reads, presented);
  if (token === '' || isBatchToken(token)) return invalid();
  const namespaceId = namespaceIdOf(token);
  // The id becomes a path segment.
  if (!/^\w{1,64}$/.test(namespaceId)) return invalid();
  // The look-up uses the salted hash, so no code compares the token itself.
  const hash = await hashSecret(reads, token);
  const entry = await findStoredToken(reads, { namespaceId, hash });
  if (entry === undefined || !entry.policies.includes(RESPONSE_WRAPPING_POLICY)) return invalid();
  if (!isUsable(entry, context.clock.nowMs())) return invalid();
  const info = await findWrapInfo(reads, refOf(entry));
  return info === undefined ? invalid() : { token: entry, info };
};

const issue = async (
  { clock }: TokenContext,
  tx: Transaction,
  namespace: { readonly id: string; readonly path: string },
  response: string,
  given: Omit<WrapInfo, 'creationTime'>,
): Promise<IssuedWrapInfo> => {
  const nowMs = clock.nowMs();
  const { ttlSeconds, creationPath, wrappedAccessor } = given;
  const { token, entry } = await issueServiceToken(tx, {
    namespace,
    type: 'service',
    policies: [RESPONSE_WRAPPING_POLICY],
    meta: {},
    displayName: '',
    path: creationPath,
    role: '',
    parent: undefined,
    createdAtMs: nowMs,
    creationTtlSeconds: ttlSeconds,
    expiresAtMs: nowMs + ttlSeconds * 1000,
    explicitMaxTtlSeconds: ttlSeconds,
    periodSeconds: 0,
    renewable: false,
    lastRenewalMs: undefined,
    usesLeft: 1,
    boundCidrs: [],
  });
  const creationTime = new Date(nowMs).toISOString();
  writeWrappedResponse(tx, refOf(entry), response, { ...given, creationTime });
  return {
    token,
    accessor: entry.accessor,
    ttlSeconds,
    creationTime,
    creationPath,
    wrappedAccessor,
  };
};

/** Reads the response and ends its token in the same transaction. */
const take = async (context: TokenContext, tx: Transaction, token: string) => {
  const wrapped = await requireWrapped(context, tx, token);
  const response = (await findWrappedResponse(tx, refOf(wrapped.token))) ?? invalid();
  await removeToken(tx, wrapped.token);
  for (const hook of context.onRemoved) await hook(tx, wrapped.token);
  return { ...wrapped, response };
};

/** Stores a finished response under a new single-use token. */
export const wrapResponse = (
  context: TokenContext,
  { namespace = ROOT, response, wrapFormat, apiAddress, ...given }: WrapRequest,
): Promise<IssuedWrapInfo> =>
  context.store.transact(async (tx) => {
    const issued = await issue(context, tx, namespace, Buffer.from(response).toString(), given);
    if (wrapFormat !== 'jwt') return issued;
    const request = { ...issued, issuedAtMs: context.clock.nowMs(), apiAddress };
    return { ...issued, token: signWrappingJwt(await requireKey(tx), request) };
  });

/** Information about a wrapped response; the token remains usable. */
export const lookUpWrapping = async (context: TokenContext, token: string): Promise<WrapInfo> =>
  (await requireWrapped(context, context.store, token)).info;

/** The wrapped response; this call uses up its token. */
export const unwrapResponse = async (context: TokenContext, token: string): Promise<string> =>
  (await context.store.transact((tx) => take(context, tx, token))).response;

/** Wraps the same response under a new token; the old token ends. */
export const rewrapResponse = (context: TokenContext, token: string): Promise<IssuedWrapInfo> =>
  context.store.transact(async (tx) => {
    const { token: old, info, response } = await take(context, tx, token);
    return issue(context, tx, old.namespace, response, info);
  });

/** Public key for verifying JWT wrapping tokens; PEM. */
export const wrappingPublicKey = ({ store }: TokenContext): Promise<string> =>
  store.transact(async (tx) =>
    keyPairOf(await requireKey(tx))
      .publicKey.export({ type: 'spki', format: 'pem' })
      .toString(),
  );
