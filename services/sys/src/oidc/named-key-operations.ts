/** Named keys: settings, rotation, and the key sets with which others verify. */
import { KeelsonError } from '@keelson/errors';
import type { SigningAlgorithm } from '@keelson/openid/algorithms';
import { makeSigningKey, toPublicJwk, toVerifyingKey } from '@keelson/openid/signing-keys';
import type { Reads, Transaction, TransactOptions } from '@keelson/storage';
import {
  BUILT_IN_KEY,
  changedKey,
  changedRing,
  DEFAULT_KEY,
  dueMsOf,
  type KeyChanges,
  type KeyRing,
  type NamedKey,
  publishedKeys,
  requireRotatable,
  rotatedRing,
  type Signer,
  withoutExpired,
} from './domain/named-key.ts';
import type { OidcContext } from './oidc-context.ts';
import { clients, followDueKeys, identityRoles, listNamed, namedKeys } from './oidc-records.ts';

const MAX_KEYS = 100;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const makeSigner = async (algorithm: SigningAlgorithm): Promise<Signer> => ({
  ...(await makeSigningKey(algorithm)),
  algorithm,
});

/** A key, or the built-in one. */
export const findKey = async (
  reads: Reads,
  namespaceId: string,
  name: string,
): Promise<NamedKey | undefined> =>
  (await namedKeys.find(reads, namespaceId, name)) ??
  (name === DEFAULT_KEY ? BUILT_IN_KEY : undefined);

/** @throws KeelsonError `request.invalid` for a key that does not exist */
export const requireKey = async (
  reads: Reads,
  namespaceId: string,
  name: string,
): Promise<NamedKey> =>
  (await findKey(reads, namespaceId, name)) ?? refuse(`key "${name}" does not exist`);

/** The roles and clients that name a key, with the lifetimes of their tokens. */
const referencesTo = async (reads: Reads, namespaceId: string, key: string) => {
  const roles = await listNamed(reads, identityRoles, namespaceId);
  const others = await listNamed(reads, clients, namespaceId);
  return {
    roles: roles
      .filter(([, role]) => role.key === key)
      .map(([name, { ttlSeconds }]) => ({ name, seconds: ttlSeconds })),
    clients: others
      .filter(([, client]) => client.key === key)
      .map(([name, { idTokenSeconds }]) => ({ name, seconds: idTokenSeconds })),
  };
};

const requireRoom = async (tx: Transaction, namespaceId: string): Promise<void> => {
  const { length } = await namedKeys.keys(tx, [namespaceId], { limit: MAX_KEYS });
  if (length >= MAX_KEYS) refuse(`a namespace has at most ${MAX_KEYS} named keys`);
};

/**
 * Creates a key or changes its settings.
 * @throws KeelsonError `request.invalid` naming the parameter that is refused
 */
export const putKey = async (
  { store, clock }: OidcContext,
  namespaceId: string,
  name: string,
  changes: KeyChanges,
): Promise<void> => {
  const { algorithm } = changedKey(await findKey(store, namespaceId, name), changes);
  // Made before the transaction, which may run again.
  const made = [await makeSigner(algorithm), await makeSigner(algorithm)] as const;
  await store.transact(async (tx) => {
    const before = await findKey(tx, namespaceId, name);
    if (before === undefined) await requireRoom(tx, namespaceId);
    const after = changedKey(before, changes);
    const { roles, clients: users } = await referencesTo(tx, namespaceId, name);
    const longest = Math.max(0, ...[...roles, ...users].map(({ seconds }) => seconds));
    if (after.verificationSeconds < longest)
      refuse(
        `unable to update key "${name}" because it is currently referenced by one or more roles or clients with a token ttl greater than ${after.verificationSeconds} seconds`,
      );
    const ring = changedRing(after, made, clock.nowMs());
    namedKeys.write(tx, [namespaceId, name], { ...after, ring });
  });
};

/** With its first keys, if nothing has used the built-in one yet. */
export const requireRing = async (
  { store, clock }: OidcContext,
  namespaceId: string,
  name: string,
): Promise<void> => {
  const key = await requireKey(store, namespaceId, name);
  if (key.ring !== undefined) return;
  const made = [await makeSigner(key.algorithm), await makeSigner(key.algorithm)] as const;
  await store.transact(async (tx) => {
    const current = await requireKey(tx, namespaceId, name);
    if (current.ring !== undefined) return;
    const ring = changedRing(current, made, clock.nowMs());
    namedKeys.write(tx, [namespaceId, name], { ...current, ring });
  });
};

/** Names, sorted, with that of the built-in key. */
export const listKeys = async (
  { store }: OidcContext,
  namespaceId: string,
): Promise<readonly string[]> =>
  [...new Set([...(await namedKeys.keys(store, [namespaceId])), DEFAULT_KEY])].sort();

/** @throws KeelsonError `request.invalid` for the built-in key, and while a role or client names the key */
export const deleteKey = ({ store }: OidcContext, namespaceId: string, name: string) =>
  store.transact(async (tx) => {
    if (name === DEFAULT_KEY) refuse(`deletion of key "${name}" not allowed`);
    const found = await referencesTo(tx, namespaceId, name);
    for (const kind of ['roles', 'clients'] as const)
      if (found[kind].length > 0)
        refuse(
          `unable to delete key "${name}" because it is currently referenced by these ${kind}: ${found[kind].map((one) => one.name).join(', ')}`,
        );
    namedKeys.delete(tx, namespaceId, name);
  });

const rotate = async (
  { store, clock }: OidcContext,
  [namespaceId, name]: readonly [string, string],
  algorithm: SigningAlgorithm,
  decide: (key: NamedKey & { readonly ring: KeyRing }, nowMs: number) => number | undefined,
  options: TransactOptions = {},
): Promise<void> => {
  const next = await makeSigner(algorithm);
  await store.transact(async (tx) => {
    const key = await namedKeys.find(tx, namespaceId, name);
    if (key?.ring === undefined) return;
    const { ring } = key;
    const nowMs = clock.nowMs();
    const verificationSeconds = decide({ ...key, ring }, nowMs);
    if (verificationSeconds === undefined) return;
    const retiring = toVerifyingKey(ring.signer).publicKey;
    const after = rotatedRing({ ...key, ring }, { retiring, next }, verificationSeconds, nowMs);
    namedKeys.write(tx, [namespaceId, name], { ...key, ring: after });
  }, options);
};

/**
 * Lets the next key sign at once.
 * @param verificationSeconds for how long the key that has signed is published; undefined for that of the settings
 * @throws KeelsonError `request.invalid` for an unknown key
 */
export const rotateKey = async (
  context: OidcContext,
  namespaceId: string,
  name: string,
  verificationSeconds: number | undefined,
): Promise<void> => {
  const { algorithm } = await requireKey(context.store, namespaceId, name);
  await requireRing(context, namespaceId, name);
  await rotate(context, [namespaceId, name], algorithm, (key, nowMs) => {
    requireRotatable(key.ring, nowMs);
    return verificationSeconds ?? key.verificationSeconds;
  });
};

/** Rotates the keys that are due, and forgets those of which no token is left. */
export const createKeyRotation = (context: OidcContext) => {
  const { store, clock } = context;
  const due = followDueKeys(store);
  return async (options: TransactOptions): Promise<void> => {
    const nowMs = clock.nowMs();
    for (const { key: place, dueMs } of await due()) {
      if (dueMs > nowMs) return;
      const [namespaceId = '', name = ''] = place.split('/');
      const key = await namedKeys.find(store, namespaceId, name);
      if (key?.ring === undefined) continue;
      if (key.ring.nextRotationMs <= nowMs)
        await rotate(
          context,
          [namespaceId, name],
          key.algorithm,
          ({ ring, verificationSeconds }) =>
            ring.nextRotationMs <= nowMs ? verificationSeconds : undefined,
          options,
        );
      else
        await store.transact(async (tx) => {
          const current = await namedKeys.find(tx, namespaceId, name);
          if (current?.ring === undefined || dueMsOf(current) > nowMs) return;
          const ring = withoutExpired(current.ring, nowMs);
          namedKeys.write(tx, [namespaceId, name], { ...current, ring });
        }, options);
    }
  };
};

/** The key set of the keys with these names. */
export const keySetOf = async (
  { store, clock }: OidcContext,
  namespaceId: string,
  names: Iterable<string>,
): Promise<{ readonly keys: readonly Readonly<Record<string, unknown>>[] }> => {
  const nowMs = clock.nowMs();
  const keys: Readonly<Record<string, unknown>>[] = [];
  for (const name of new Set(names)) {
    const key = await namedKeys.find(store, namespaceId, name);
    for (const one of key === undefined ? [] : publishedKeys(key, nowMs))
      keys.push(toPublicJwk(one, one.algorithm));
  }
  return { keys };
};
