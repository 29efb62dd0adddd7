/**
 * Creating, finding and using tokens. A token that is found can be used at that moment: it exists, has not
 * expired, has uses left, and all of its ancestors exist and have not expired. Revoking or outliving a parent
 * therefore ends its whole tree with the next request, however long the removal of the records takes.
 */
import { randomBytes } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import { openBatchToken, sealBatchToken } from './batch-token-operations.ts';
import type { TokenPlan } from './domain/token-creation.ts';
import {
  type EntityRef,
  isExpired,
  isUsable,
  SPENT,
  type TokenEntry,
} from './domain/token-entry.ts';
import { decideRenewal } from './domain/token-lifetime.ts';
import {
  base62,
  base62EntropyBytes,
  isBatchToken,
  MAX_TOKEN_LENGTH,
  namespaceIdOf,
  RANDOM_LENGTH,
  toAccessor,
  toServiceToken,
} from './domain/token-text.ts';
import type { EntityProvider, RenewalLimits, TokenContext } from './token-context.ts';
import {
  addToken,
  findByAccessor,
  findStoredToken,
  hashSecret,
  refOf,
  type TokenRef,
  writeToken,
} from './token-records.ts';

export interface IssuedToken {
  /** The token in plain text, which is not stored anywhere. */
  readonly token: string;
  readonly entry: TokenEntry;
}

/** The request that spent the last use may still need data that belongs to the token. */
const SPENT_GRACE_MS = 90_000;

export const randomBase62 = (length: number): string =>
  base62(randomBytes(base62EntropyBytes(length)), length);

const isSame = (one: EntityRef, other: EntityRef | undefined): boolean =>
  one.id === other?.id && one.namespaceId === other.namespaceId;

/** True when all ancestors of a token exist, have not expired, and have no entity that is disabled or deleted. */
const hasLiveAncestors = async (
  { store, isMounted, identityOf }: TokenContext,
  token: TokenEntry,
  nowMs: number,
): Promise<boolean> => {
  for (let { parent } = token; parent !== undefined; ) {
    const found = await findStoredToken(store, parent);
    if (found === undefined || isExpired(found, nowMs)) return false;
    const { login, entity } = found;
    if (login !== undefined && !(await isMounted(login.mountUuid))) return false;
    // The entity of the token itself decides about its rights, not about its existence.
    if (entity !== undefined && !isSame(entity, token.entity) && !(await identityOf(entity)))
      return false;
    parent = found.parent;
  }
  return true;
};

const usable = async (
  context: TokenContext,
  token: TokenEntry | undefined,
): Promise<TokenEntry | undefined> => {
  const nowMs = context.clock.nowMs();
  if (token === undefined || !isUsable(token, nowMs)) return undefined;
  if (token.login !== undefined && !(await context.isMounted(token.login.mountUuid)))
    return undefined;
  return (await hasLiveAncestors(context, token, nowMs)) ? token : undefined;
};

/** The entry of a usable token; undefined for all others. */
export const findToken = async (
  context: TokenContext,
  token: string,
): Promise<TokenEntry | undefined> => {
  if (token === '' || token.length > MAX_TOKEN_LENGTH) return undefined;
  const { store, barrier } = context;
  const hash = await hashSecret(store, token);
  if (isBatchToken(token)) return usable(context, openBatchToken(barrier, token, hash));
  const namespaceId = namespaceIdOf(token);
  // The id becomes a path segment.
  if (!/^\w{1,64}$/.test(namespaceId)) return undefined;
  return usable(context, await findStoredToken(store, { namespaceId, hash }));
};

/** The entry of a usable service token that is stored at a place. */
export const findTokenAt = async (
  context: TokenContext,
  ref: TokenRef,
): Promise<TokenEntry | undefined> => usable(context, await findStoredToken(context.store, ref));

/**
 * The entry of a usable token of one namespace. Accessors are not secret, so one of another namespace
 * is unknown here; the policies of the caller decide about the namespace of the request only.
 */
export const findTokenByAccessor = async (
  context: TokenContext,
  namespaceId: string,
  accessor: string,
): Promise<TokenEntry | undefined> =>
  /^\w{1,128}(?:\.\w{1,64})?$/.test(accessor) && namespaceIdOf(accessor) === namespaceId
    ? usable(context, await findByAccessor(context.store, accessor))
    : undefined;

/**
 * Stores a new service token as part of a transaction. The parent, if any, must exist in the same
 * transaction, so that no token can be created under a parent that is being revoked.
 */
export const issueServiceToken = async (
  tx: Transaction,
  plan: TokenPlan,
  customToken?: string,
): Promise<IssuedToken> => {
  if (plan.parent !== undefined && (await findStoredToken(tx, plan.parent)) === undefined) {
    throw new KeelsonError('sys.permission_denied');
  }
  const namespaceId = plan.namespace.id;
  const token = customToken ?? toServiceToken(randomBase62(RANDOM_LENGTH), namespaceId);
  const hash = await hashSecret(tx, token);
  if (customToken !== undefined && (await findStoredToken(tx, { namespaceId, hash }))) {
    throw new KeelsonError('request.invalid', {
      text: 'cannot create a token with a duplicate ID',
    });
  }
  const accessor = toAccessor(randomBase62(RANDOM_LENGTH), namespaceId);
  const entry: TokenEntry = { ...plan, hash, accessor };
  await addToken(tx, entry);
  return { token, entry };
};

/**
 * Creates a token of either type.
 * @param provideEntity undefined for the entity of the plan
 */
export const issueToken = async (
  { store, barrier, requireRoom }: TokenContext,
  planned: TokenPlan,
  provideEntity: EntityProvider | undefined,
  customToken?: string,
): Promise<IssuedToken> => {
  const withEntity = async (tx: Transaction): Promise<TokenPlan> =>
    provideEntity === undefined ? planned : { ...planned, entity: await provideEntity(tx) };
  if (planned.type === 'service')
    return store.transact(async (tx) => {
      await requireRoom(tx, planned);
      return issueServiceToken(tx, await withEntity(tx), customToken);
    });
  const plan = provideEntity === undefined ? planned : await store.transact(withEntity);
  const token = sealBatchToken(barrier, plan);
  return { token, entry: { ...plan, hash: await hashSecret(store, token), accessor: '' } };
};

/** The plan of a root token that never expires. */
export const rootTokenPlan = (nowMs: number): TokenPlan => ({
  namespace: { id: 'root', path: '' },
  type: 'service',
  policies: ['root'],
  meta: {},
  displayName: 'root',
  path: 'auth/token/root',
  role: '',
  parent: undefined,
  login: undefined,
  entity: undefined,
  createdAtMs: nowMs,
  creationTtlSeconds: 0,
  expiresAtMs: undefined,
  explicitMaxTtlSeconds: 0,
  periodSeconds: 0,
  renewable: false,
  lastRenewalMs: undefined,
  usesLeft: 0,
  boundCidrs: [],
});

/**
 * Counts one use of a token with limited uses. Returns false when another request took the last use. After
 * its last use the token is refused; its record is removed once the request is certainly over.
 */
export const useToken = async (context: TokenContext, token: TokenEntry): Promise<boolean> => {
  if (token.usesLeft === 0) return true;
  const nowMs = context.clock.nowMs();
  return context.store.transact(async (tx) => {
    const current = await findStoredToken(tx, refOf(token));
    if (current === undefined || !isUsable(current, nowMs)) return false;
    const used: TokenEntry =
      current.usesLeft > 1
        ? { ...current, usesLeft: current.usesLeft - 1 }
        : {
            ...current,
            usesLeft: SPENT,
            expiresAtMs: Math.min(current.expiresAtMs ?? Infinity, nowMs + SPENT_GRACE_MS),
          };
    await writeToken(tx, used);
    return true;
  });
};

/**
 * @param limits of a token that a login made; other tokens have those of their mount and their own
 * @throws KeelsonError `request.invalid` when the token cannot be renewed or no longer exists
 */
export const renewToken = async (
  context: TokenContext,
  ref: TokenRef,
  incrementSeconds: number,
  limits: RenewalLimits | undefined,
): Promise<TokenEntry> => {
  const { maxTtlSeconds } = limits ?? (await context.ttlsOf(ref.namespaceId));
  return context.store.transact(async (tx) => {
    const nowMs = context.clock.nowMs();
    const current = await findStoredToken(tx, ref);
    if (current === undefined)
      throw new KeelsonError('request.invalid', { text: 'token not found' });
    const limited: TokenEntry =
      limits === undefined
        ? current
        : {
            ...current,
            periodSeconds: limits.periodSeconds,
            creationTtlSeconds: limits.ttlSeconds,
          };
    const { expiresAtMs } = decideRenewal(limited, incrementSeconds, maxTtlSeconds, nowMs);
    const renewed: TokenEntry = { ...current, expiresAtMs, lastRenewalMs: nowMs };
    await writeToken(tx, renewed);
    return renewed;
  });
};
