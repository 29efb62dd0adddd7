import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { areNetworksWithin } from '@keelson/edge/networks';
import type { MountScope } from '@keelson/engine';
import { hasCode, KeelsonError } from '@keelson/errors';
import type { Reads, RecordCollection, Store } from '@keelson/storage';
import { roleRecords, secretIdsAt, secretIdsOf } from './approle-records.ts';
import type { AppRole } from './domain/app-role.ts';
import {
  accessorOf,
  afterUse,
  digestOf,
  hasExpired,
  isSameDigest,
  type SecretId,
} from './domain/secret-id.ts';
import { removeSecretIds, requireRole } from './role-operations.ts';

export interface AppRoleContext {
  readonly store: Store;
  readonly clock: Clock;
  /** `countUse` on the primary, for a performance secondary. */
  readonly countOnPrimary: (
    mount: MountScope,
    roleId: string,
    accessor: string,
  ) => Promise<boolean>;
}

/** A secret id that is to be made; undefined settings are those of the role. */
export interface NewSecretId {
  /** Undefined for a random one. */
  readonly secretId: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly cidrs: readonly string[];
  readonly tokenBoundCidrs: readonly string[];
  readonly numUses: number | undefined;
  readonly ttlSeconds: number | undefined;
}

export interface MadeSecretId {
  /** In plain text, which is not stored anywhere. */
  readonly secretId: string;
  readonly accessor: string;
  readonly record: SecretId;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requireSubset = (
  name: string,
  networks: readonly string[],
  [roleName, ofRole]: readonly [string, readonly string[]],
): void => {
  if (ofRole.length > 0 && !areNetworksWithin(networks, ofRole))
    refuse(`${name} must be a subset of the role's ${roleName}: ${ofRole.join(', ')}`);
};

/** @throws KeelsonError `request.invalid` for a secret id with more than its role has */
const requireWithinRole = (role: AppRole, given: NewSecretId): void => {
  const { secretIdNumUses: mostUses, secretIdTtlSeconds: longest } = role;
  const { numUses = mostUses, ttlSeconds = longest } = given;
  if (mostUses > 0 && (numUses === 0 || numUses > mostUses))
    refuse(`num_uses cannot be higher than the role's secret_id_num_uses: 1 to ${mostUses}`);
  if (longest > 0 && (ttlSeconds === 0 || ttlSeconds > longest))
    refuse(`ttl cannot be longer than the role's secret_id_ttl: 1 to ${longest} seconds`);
  const ofLogins = ['secret_id_bound_cidrs', role.secretIdBoundCidrs] as const;
  requireSubset('cidr_list', given.cidrs, ofLogins);
  const ofTokens = ['token_bound_cidrs', role.token.boundCidrs] as const;
  requireSubset('token_bound_cidrs', given.tokenBoundCidrs, ofTokens);
};

/**
 * @throws KeelsonError `request.invalid` for a secret id that the role has already, and for one with more than the role
 *   has
 */
export const makeSecretId = (
  { store, clock }: AppRoleContext,
  mount: MountScope,
  roleName: string,
  given: NewSecretId,
): Promise<MadeSecretId> =>
  store.transact(async (tx) => {
    const role = await requireRole(tx, mount, roleName);
    if (!role.bindSecretId) refuse('bind_secret_id is not set on the role: it has no secret ids');
    requireWithinRole(role, given);
    const secretId = given.secretId ?? randomUUID();
    const digest = digestOf(role.uuid, secretId);
    const accessor = accessorOf(digest);
    const secretIds = secretIdsOf(mount, role);
    if ((await secretIds.find(tx, accessor)) !== undefined)
      refuse('SecretID is already registered');
    const nowMs = clock.nowMs();
    const ttlSeconds = given.ttlSeconds ?? role.secretIdTtlSeconds;
    const record: SecretId = {
      digest,
      metadata: { ...given.metadata },
      cidrs: [...given.cidrs],
      tokenBoundCidrs: [...given.tokenBoundCidrs],
      usesLeft: given.numUses ?? role.secretIdNumUses,
      ttlSeconds,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      expiresAtMs: ttlSeconds === 0 ? undefined : nowMs + ttlSeconds * 1000,
    };
    secretIds.write(tx, [accessor], record);
    return { secretId, accessor, record };
  });

/** A secret id of a role that has not expired. */
export const findSecretId = async (
  { clock }: Pick<AppRoleContext, 'clock'>,
  reads: Reads,
  mount: MountScope,
  role: AppRole,
  accessor: string,
): Promise<SecretId | undefined> => {
  const found = await secretIdsOf(mount, role).find(reads, accessor);
  return found === undefined || hasExpired(found, clock.nowMs()) ? undefined : found;
};

/**
 * Takes a secret id for one login, which counts.
 * @param judge throws if the secret id may not be used; the login is not counted then
 * @returns the secret id as it was before; undefined if it is not one of the role
 */
export const takeSecretId = async (
  context: AppRoleContext,
  mount: MountScope,
  role: AppRole,
  secretId: string,
  judge: (known: SecretId) => void,
): Promise<SecretId | undefined> => {
  const digest = digestOf(role.uuid, secretId);
  const accessor = accessorOf(digest);
  const known = await findSecretId(context, context.store, mount, role, accessor);
  if (known === undefined || !isSameDigest(known.digest, digest)) return undefined;
  judge(known);
  if (known.usesLeft === 0) return known;
  try {
    return (await countUse(context, mount, role, accessor)) ? known : undefined;
  } catch (error) {
    // The primary counts the uses of a secret id that all clusters share.
    if (!hasCode(error, 'replication.read_only')) throw error;
    return (await context.countOnPrimary(mount, role.roleId, accessor)) ? known : undefined;
  }
};

/** Counts one use. @returns false if the secret id has been used up, destroyed, or has expired */
export const countUse = (
  context: Pick<AppRoleContext, 'store' | 'clock'>,
  mount: MountScope,
  role: AppRole,
  accessor: string,
): Promise<boolean> =>
  context.store.transact(async (tx) => {
    const current = await findSecretId(context, tx, mount, role, accessor);
    if (current === undefined) return false;
    const secretIds = secretIdsOf(mount, role);
    const left = afterUse(current, context.clock.nowMs());
    if (left === undefined) secretIds.delete(tx, accessor);
    else secretIds.write(tx, [accessor], left);
    return true;
  });

/** @returns whether there was one */
export const destroySecretId = (
  { store }: AppRoleContext,
  mount: MountScope,
  role: AppRole,
  accessor: string,
): Promise<boolean> =>
  store.transact(async (tx) => {
    const secretIds = secretIdsOf(mount, role);
    if ((await secretIds.find(tx, accessor)) === undefined) return false;
    secretIds.delete(tx, accessor);
    return true;
  });

/** Secret ids that are looked at in one step. */
const PORTION = 500;

const removeExpired = async (
  { store, clock }: AppRoleContext,
  secretIds: RecordCollection<SecretId>,
): Promise<void> => {
  let after: string | undefined;
  do {
    const page = await secretIds.entries(store, {
      limit: PORTION,
      ...(after !== undefined && { after }),
    });
    const expired = page.filter(([, one]) => hasExpired(one, clock.nowMs()));
    if (expired.length > 0)
      await store.transact((tx) => {
        for (const [key] of expired) secretIds.delete(tx, key);
        return Promise.resolve();
      });
    after = page.length < PORTION ? undefined : page.at(-1)?.[0];
  } while (after !== undefined);
};

const findRoleUuids = async (
  { store }: AppRoleContext,
  mount: MountScope,
): Promise<ReadonlySet<string>> => {
  const uuids = new Set<string>();
  for (const name of await roleRecords(mount).keys(store)) {
    const role = await roleRecords(mount).find(store, name);
    if (role !== undefined) uuids.add(role.uuid);
  }
  return uuids;
};

/**
 * Removes the secret ids that have expired, and those whose role another cluster has deleted, or this one before a
 * crash. The cluster's own come first.
 * @throws KeelsonError `replication.read_only` on a performance secondary, for those that the primary removes
 */
export const tidySecretIds = async (context: AppRoleContext, mount: MountScope): Promise<void> => {
  const { store } = context;
  for (const secretIds of secretIdsAt(mount)) {
    await removeExpired(context, secretIds);
    // The roles are read after the names of their secret ids, which a new role has later than itself.
    const names = await secretIds.keys(store);
    const known = await findRoleUuids(context, mount);
    for (const uuid of names.map((name) => name.replace(/\/$/, '')))
      if (!known.has(uuid)) await removeSecretIds(store, secretIds.below(uuid));
  }
};
