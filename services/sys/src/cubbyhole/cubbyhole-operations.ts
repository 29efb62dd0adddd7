import type { Store } from '@keelson/storage';
import type { TokenRef } from '../tokens/token-records.ts';
import { countSecrets, cubbyholeOf, listCubbyhole } from './cubbyhole-records.ts';
import {
  requireFields,
  requireRoomForSecret,
  requireSecretPath,
  type Secret,
} from './domain/cubbyhole.ts';

export interface CubbyholeContext {
  readonly store: Store;
}

/** Names below a path; "" is the top. */
export const listSecrets = (
  { store }: CubbyholeContext,
  owner: TokenRef,
  path: string,
): Promise<readonly string[]> => {
  const below = requireSecretPath(path);
  return listCubbyhole(store, owner, below === '' ? '' : `${below}/`);
};

/** Undefined when there is none. */
export const readSecret = (
  { store }: CubbyholeContext,
  owner: TokenRef,
  path: string,
): Promise<Secret | undefined> => cubbyholeOf(owner).find(store, requireSecretPath(path));

/** @throws KeelsonError `request.invalid` for a secret without fields, or one secret too many */
export const writeSecret = async (
  { store }: CubbyholeContext,
  owner: TokenRef,
  path: string,
  secret: Secret,
): Promise<void> => {
  const key = requireSecretPath(path);
  requireFields(secret);
  const secrets = cubbyholeOf(owner);
  await store.transact(async (tx) => {
    const count = await countSecrets(tx, owner);
    if ((await secrets.find(tx, key)) === undefined) requireRoomForSecret(count);
    secrets.write(tx, key, secret);
  });
};

/** Succeeds when there is no such secret. */
export const deleteSecret = (
  { store }: CubbyholeContext,
  owner: TokenRef,
  path: string,
): Promise<void> => {
  const key = requireSecretPath(path);
  return store.transact((tx) => cubbyholeOf(owner).delete(tx, key));
};
