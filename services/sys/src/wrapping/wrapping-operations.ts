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

export interface WrappingOperations {
  /** Stores a finished response under a new single-use token. */
  wrap(request: WrapRequest): Promise<IssuedWrapInfo>;
  /** What is known of a wrapped response; the token stays usable. */
  lookup(token: string): Promise<WrapInfo>;
  /** The wrapped response; its token ends with this call. */
  unwrap(token: string): Promise<string>;
  /** The same response under a new token; the old one ends. */
  rewrap(token: string): Promise<IssuedWrapInfo>;
  /** Verifies JWT wrapping tokens; PEM. */
  publicKey(): Promise<string>;
}

const ROOT = { id: 'root', path: '' };

interface Wrapped {
  readonly token: TokenEntry;
  readonly info: WrapInfo;
}

/** The one answer for a token that is unknown, used, expired or no wrapping token. */
const invalid = (): never => {
  throw new KeelsonError('sys.wrapping_token_invalid');
};

/** Wrapped responses of one store. */
export const createWrappingOperations = (context: TokenContext): WrappingOperations => {
  const { store, clock } = context;

  /** The key of JWTs, made when it is first needed. */
  const requireKey = async (tx: Transaction): Promise<WrappingKey> => {
    const kept = await wrappingKeyRecords.find(tx, WRAPPING_KEY);
    if (kept !== undefined) return kept;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' });
    const key = { privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
    wrappingKeyRecords.write(tx, WRAPPING_KEY, key);
    return key;
  };

  /** A wrapping token as it is, or out of its JWT. */
  const requireInner = async (reads: Reads, presented: string): Promise<string> => {
    if (presented.length > MAX_TOKEN_LENGTH) return invalid();
    if (!isWrappingJwt(presented)) return presented;
    const key = await wrappingKeyRecords.find(reads, WRAPPING_KEY);
    if (key === undefined) return invalid();
    return openWrappingJwt(key, presented, clock.nowMs()) ?? invalid();
  };

  const requireWrapped = async (reads: Reads, presented: string): Promise<Wrapped> => {
    const token = await requireInner(reads, presented);
    if (token === '' || isBatchToken(token)) return invalid();
    const namespaceId = namespaceIdOf(token);
    // The id becomes a path segment.
    if (!/^\w{1,64}$/.test(namespaceId)) return invalid();
    // Found by its salted hash: nothing compares the token itself.
    const hash = await hashSecret(reads, token);
    const entry = await findStoredToken(reads, { namespaceId, hash });
    if (entry === undefined || !entry.policies.includes(RESPONSE_WRAPPING_POLICY)) return invalid();
    if (!isUsable(entry, clock.nowMs())) return invalid();
    const info = await findWrapInfo(reads, refOf(entry));
    return info === undefined ? invalid() : { token: entry, info };
  };

  const issue = async (
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

  /** The response, after its token was ended in the same transaction. */
  const take = async (tx: Transaction, token: string) => {
    const wrapped = await requireWrapped(tx, token);
    const response = (await findWrappedResponse(tx, refOf(wrapped.token))) ?? invalid();
    await removeToken(tx, wrapped.token);
    for (const hook of context.onRemoved) await hook(tx, wrapped.token);
    return { ...wrapped, response };
  };

  return {
    wrap: ({ namespace = ROOT, response, wrapFormat, apiAddress, ...given }) =>
      store.transact(async (tx) => {
        const issued = await issue(tx, namespace, Buffer.from(response).toString(), given);
        if (wrapFormat !== 'jwt') return issued;
        const request = { ...issued, issuedAtMs: clock.nowMs(), apiAddress };
        return { ...issued, token: signWrappingJwt(await requireKey(tx), request) };
      }),

    lookup: async (token) => (await requireWrapped(store, token)).info,

    unwrap: async (token) => (await store.transact((tx) => take(tx, token))).response,

    rewrap: (token) =>
      store.transact(async (tx) => {
        const { token: old, info, response } = await take(tx, token);
        return issue(tx, old.namespace, response, info);
      }),

    publicKey: () =>
      store.transact(async (tx) =>
        keyPairOf(await requireKey(tx))
          .publicKey.export({ type: 'spki', format: 'pem' })
          .toString(),
      ),
  };
};
