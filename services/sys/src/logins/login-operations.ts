/** Tokens of logins: an auth method has verified the credentials, and says what a login may have. */
import { retryableAtRoleChange } from '@keelson/cluster-member';
import { boundByBoth, createNetworks } from '@keelson/edge/networks';
import { KeelsonError } from '@keelson/errors';
import type { SignInOptions } from '@keelson/passkeys';
import type { AuthMethodsDefinition } from '@keelson/proto/auth/v1/methods';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { LoginRequest } from '@keelson/proto/sys/v1/logins';
import type { RpcService } from '@keelson/rpc';
import type { Reads, Transaction, TransactOptions } from '@keelson/storage';
import type { LoginAlias } from '../identity/domain/entity.ts';
import { findEntity, findEntityOrMerged, listAliasesOf } from '../identity/entity-records.ts';
import { findLoginEntity, provideLoginEntity } from '../identity/login-entity-operations.ts';
import type { Constraint } from '../mfa/enforcement-operations.ts';
import { findConstraints } from '../mfa/enforcement-operations.ts';
import { type FactorAnswers, requireFactors } from '../mfa/factor-operations.ts';
import type { MfaContext } from '../mfa/mfa-context.ts';
import { passkeyOptions } from '../mfa/passkey-operations.ts';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { findMissingPolicies } from '../policies/policy-operations.ts';
import type { EntityRef, TokenEntry } from '../tokens/domain/token-entry.ts';
import type { TokenTtls } from '../tokens/domain/token-lifetime.ts';
import type {
  CreationContext,
  EntityProvider,
  RenewalLimits,
  TokenContext,
} from '../tokens/token-context.ts';
import { type IssuedToken, issueToken } from '../tokens/token-operations.ts';
import { decideLogin, decidePolicies, maxTtlOf } from './domain/login.ts';
import {
  deleteEnded,
  isFinished,
  type WaitingLogin,
  writeFinished,
} from './finished-login-records.ts';
import { openPendingLogin, sealPendingLogin } from './pending-login.ts';

export interface LoginContext {
  readonly tokens: TokenContext;
  readonly mounts: () => Promise<MountIndex>;
  /** The mount with this uuid, as its method knows it. */
  readonly findMount: (uuid: string) => Promise<Mount | undefined>;
  /** False on a performance secondary, where the primary writes entities and aliases. */
  readonly writesShared: () => boolean;
  readonly mfa: MfaContext;
  /** The entity of an alias, which the primary creates if need be. */
  readonly askPrimary: (mount: MountRecord, alias: LoginAlias) => Promise<EntityRef>;
}

const ttlsOf = ({ defaultLeaseTtlSeconds, maxLeaseTtlSeconds }: Mount): TokenTtls => ({
  defaultTtlSeconds: defaultLeaseTtlSeconds,
  maxTtlSeconds: maxLeaseTtlSeconds,
});

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const noMount = (): never => {
  throw new KeelsonError('request.not_found', { text: 'no such mount' });
};

const aliasProvider = async (
  { tokens, writesShared, askPrimary }: LoginContext,
  mount: MountRecord,
  alias: LoginAlias,
): Promise<EntityProvider> => {
  // Entities are of all clusters of a set, and a local mount is of one.
  if (alias.name === '' || mount.local) return () => Promise.resolve(undefined);
  const { store, clock } = tokens;
  if (writesShared()) return (tx) => provideLoginEntity(tx, mount, alias, clock.nowMs());
  const entity = (await findLoginEntity(store, mount, alias)) ?? (await askPrimary(mount, alias));
  return () => Promise.resolve(entity);
};

/** The provider throws KeelsonError `sys.permission_denied` for an entity that is disabled. */
const entityProvider = async (
  context: LoginContext,
  mount: MountRecord,
  alias: LoginAlias,
): Promise<EntityProvider> => {
  const provide = await aliasProvider(context, mount, alias);
  return async (tx) => {
    const entity = await provide(tx);
    const found = entity && (await findEntity(tx, entity.namespaceId, entity.id));
    if (found?.disabled === true) throw new KeelsonError('sys.permission_denied');
    return entity;
  };
};

/** Entities of tokens that are created with the name of a client instead of a login. */
export const createTokenEntities =
  (context: LoginContext): CreationContext['entityOfAlias'] =>
  async (namespaceId, name) => {
    const mount = (await context.mounts()).findAt(namespaceId, 'auth', 'token/') ?? noMount();
    return entityProvider(context, mount, { name, metadata: {}, groups: [] });
  };

/** A token, or the second factors that the login waits for. */
export type LoginOutcome =
  | (IssuedToken & { readonly kind: 'token'; readonly warnings: readonly string[] })
  | {
      readonly kind: 'pending';
      readonly id: string;
      readonly constraints: readonly Constraint[];
      /** The options for browsers, by the ids of the methods for which there are passkeys. */
      readonly passkeys: ReadonlyMap<string, SignInOptions>;
    };

/** The passcodes of a single-phase login, by the ids of methods, which clients may name instead. */
const toAnswers = (given: readonly string[], constraints: readonly Constraint[]): FactorAnswers => {
  const passcodes = new Map<string, string[]>();
  const methods = constraints.flatMap((constraint) => constraint.methods);
  for (const text of given) {
    const colon = text.lastIndexOf(':');
    const name = text.slice(0, Math.max(0, colon)).trim();
    const method = methods.find((one) => one.id === name || (one.name !== '' && one.name === name));
    if (method === undefined) continue;
    passcodes.set(method.id, [...(passcodes.get(method.id) ?? []), text.slice(colon + 1).trim()]);
  }
  return { requestId: undefined, byMethod: passcodes };
};

/** The second factors that an entity still has to show. */
interface MissingFactors {
  readonly constraints: readonly Constraint[];
  readonly entity: EntityRef;
}

/**
 * The second factors that a login still waits for; undefined if it waits for none.
 * @param later the answers of a login whose first factor came earlier
 * @throws KeelsonError `sys.mfa_failed` for an answer that is wrong or missing
 */
const findMissingFactors = async (
  { mfa, tokens: { store } }: LoginContext,
  mount: MountRecord,
  provideEntity: EntityProvider,
  given: readonly string[],
  later: FactorAnswers | undefined,
): Promise<MissingFactors | undefined> => {
  let entity: EntityRef | undefined;
  const constraints = await findConstraints(mfa, mount, async () => {
    entity = await retryableAtRoleChange(() => store.transact(provideEntity));
    return entity;
  });
  if (constraints.length === 0) return undefined;
  if (later === undefined && given.length === 0 && entity !== undefined)
    return { constraints, entity };
  try {
    await requireFactors(mfa, mount, constraints, entity, later ?? toAnswers(given, constraints));
  } catch (error) {
    if (KeelsonError.from(error).code === 'sys.mfa_failed') mfa.countFactor('refused');
    throw error;
  }
  mfa.countFactor('passed');
  return undefined;
};

/** The second half of a login. */
interface SecondHalf {
  readonly answers: FactorAnswers;
  /** Ends its id, in the transaction that makes the token. @throws KeelsonError `sys.mfa_failed` if it has ended */
  readonly end: (tx: Transaction) => Promise<void>;
}

/**
 * Makes the token of a login, unless it waits for a second factor.
 * @param later the second half of a login whose first factor came earlier
 * @throws KeelsonError `request.not_found` when the mount is gone; `sys.permission_denied` from an address outside of
 *   the bound networks, and for an entity that is disabled; `request.invalid` when the limits contradict each other;
 *   `sys.mfa_failed` for a second factor that is wrong or missing; `replication.not_ready` for what only the primary
 *   may do, while it cannot be reached
 */
export const logIn = async (
  context: LoginContext,
  request: LoginRequest,
  later?: SecondHalf,
): Promise<LoginOutcome> => {
  const { tokens, mounts, findMount } = context;
  const { limits } = request;
  if (limits === undefined) return refuse('a login without limits');
  const mount = (await findMount(request.mountUuid)) ?? noMount();
  const record = (await mounts()).findByUuid(mount.uuid) ?? noMount();
  if (
    limits.boundCidrs.length > 0 &&
    !createNetworks(limits.boundCidrs).includes(request.remoteAddress)
  )
    throw new KeelsonError('sys.permission_denied');
  const nowMs = tokens.clock.nowMs();
  const namespace = mount.namespace ?? { id: 'root', path: '' };
  const { plan, warnings } = decideLogin(limits, {
    namespace: { id: namespace.id, path: namespace.path },
    mountPath: mount.path,
    requestPath: request.requestPath,
    displayName: request.displayName,
    metadata: request.metadata,
    login: {
      mountUuid: mount.uuid,
      dataBase64: request.loginData.toString('base64'),
      ...(request.role !== '' && { role: request.role }),
    },
    mountTokenType: record.config.tokenType,
    ttls: ttlsOf(mount),
    nowMs,
  });
  const missing = await findMissingPolicies(tokens.store, namespace.id, plan.policies);
  const alias: LoginAlias = {
    name: request.aliasName,
    metadata: request.aliasMetadata,
    groups: request.groupAliases,
  };
  const provideEntity = await entityProvider(context, record, alias);
  const { passcodes, ...withoutPasscodes } = request;
  const missingFactors = await findMissingFactors(
    context,
    record,
    provideEntity,
    passcodes,
    later?.answers,
  );
  if (missingFactors !== undefined) {
    const { constraints, entity } = missingFactors;
    const id = sealPendingLogin(tokens.barrier, { ...withoutPasscodes, passcodes: [] }, nowMs);
    const passkeys = await passkeyOptions(context.mfa, id, entity, constraints);
    return { kind: 'pending', id, constraints, passkeys };
  }
  // A write that is refused coincided with a role change; the method must not repeat the login at the primary.
  const issued = await retryableAtRoleChange(() =>
    issueToken(tokens, plan, async (tx) => {
      await later?.end(tx);
      return provideEntity(tx);
    }),
  );
  return {
    kind: 'token',
    ...issued,
    warnings: [...warnings, ...missing.map((name) => `Policy "${name}" does not exist`)],
  };
};

const refuseId = (): never => {
  throw new KeelsonError('sys.mfa_failed', {
    text: 'mfa_request_id is unknown or older than five minutes, or was used already: sign in again',
  });
};

const requireUnfinished = async (reads: Reads, login: WaitingLogin): Promise<void> => {
  if (await isFinished(reads, login)) refuseId();
};

/**
 * Finishes a login that waits for its second factor, with the limits that its method says now.
 * @throws KeelsonError `sys.mfa_failed` for an id that is unknown or used, and as `logIn` does
 */
export const finishLogin = async (
  context: LoginContext,
  methods: RpcService<typeof AuthMethodsDefinition> | undefined,
  { id, byMethod, remoteAddress }: PendingAnswer,
): Promise<LoginOutcome> => {
  const { barrier, clock, store } = context.tokens;
  const pending = openPendingLogin(barrier, id, clock.nowMs());
  if (pending === undefined || methods === undefined) return refuseId();
  const { request, expiresAtMs } = pending;
  const mount = (await context.findMount(request.mountUuid)) ?? noMount();
  const waiting: WaitingLogin = { namespaceId: mount.namespace?.id ?? 'root', id };
  // Before an answer is verified and counted. Of several that come at the same time the transaction lets one pass.
  await requireUnfinished(store, waiting);
  const { limits, groups } = await methods.renewLogin({
    mount,
    loginData: request.loginData,
    clientCertificates: [],
    isVerified: true,
  });
  if (limits === undefined || request.limits === undefined)
    throw new KeelsonError('sys.permission_denied');
  // The credentials of the first factor may have had networks of their own, which the method does not know any more.
  const boundCidrs = [...boundByBoth(limits.boundCidrs, request.limits.boundCidrs)];
  const now = {
    ...request,
    limits: { ...limits, boundCidrs },
    groupAliases: groups?.names ?? request.groupAliases,
    remoteAddress,
  };
  return logIn(context, now, {
    answers: { requestId: id, byMethod },
    end: async (tx) => {
      await requireUnfinished(tx, waiting);
      await writeFinished(tx, waiting, expiresAtMs);
    },
  });
};

/** Finished logins that one transaction forgets. */
const SWEEP_PORTION = 1000;

/** Forgets finished logins whose ids have ended. @returns whether there may be more */
export const sweepFinishedLogins = async (
  { store, clock }: TokenContext,
  options: TransactOptions = {},
): Promise<boolean> =>
  (await store.transact((tx) => deleteEnded(tx, clock.nowMs(), SWEEP_PORTION), options)) ===
  SWEEP_PORTION;

/** The second half of a login. */
export interface PendingAnswer {
  readonly id: string;
  readonly byMethod: FactorAnswers['byMethod'];
  readonly remoteAddress: string;
}

/**
 * Stores the groups that a method reports when it renews the token of an entity, as the entity's next login would.
 * @throws KeelsonError `replication.not_ready` where they have changed and the primary cannot be reached
 */
const storeGroups = async (
  context: LoginContext,
  mount: MountRecord,
  { namespaceId, id }: EntityRef,
  groups: readonly string[],
): Promise<void> => {
  const { store } = context.tokens;
  const entity = await findEntityOrMerged(store, namespaceId, id);
  const aliases = entity === undefined ? [] : await listAliasesOf(store, entity);
  const alias = aliases.find(({ mountUuid }) => mountUuid === mount.uuid);
  if (alias === undefined) return;
  const reported = { name: alias.name, metadata: alias.metadata, groups };
  if ((await findLoginEntity(store, mount, reported)) !== undefined) return;
  const provide = await aliasProvider(context, mount, reported);
  await retryableAtRoleChange(() => store.transact(provide));
};

/**
 * The limits of a renewal: those that the method of the login says now, and those of its mount. The groups that the
 * method knows by then count from the next request on.
 */
export const createLoginRenewals =
  (context: LoginContext, methods: RpcService<typeof AuthMethodsDefinition> | undefined) =>
  async (
    { login, policies, entity }: TokenEntry,
    certificates: readonly Buffer[],
  ): Promise<RenewalLimits | undefined> => {
    if (login === undefined) return undefined;
    const mount = (await context.findMount(login.mountUuid)) ?? noMount();
    if (methods === undefined) return noMount();
    const { limits, groups } = await methods.renewLogin({
      mount,
      loginData: Buffer.from(login.dataBase64, 'base64'),
      clientCertificates: [...certificates],
      isVerified: false,
    });
    if (limits === undefined) return refuse('lease is not renewable');
    const record = (await context.mounts()).findByUuid(login.mountUuid);
    if (groups !== undefined && entity !== undefined && record !== undefined)
      await storeGroups(context, record, entity, groups.names);
    if (decidePolicies(limits).join() !== policies.join())
      return refuse('policies have changed, not renewing');
    return {
      maxTtlSeconds: maxTtlOf(limits, ttlsOf(mount)),
      periodSeconds: limits.periodSeconds,
      ttlSeconds: limits.ttlSeconds || mount.defaultLeaseTtlSeconds,
    };
  };
