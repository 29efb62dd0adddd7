import { KeelsonError } from '@keelson/errors';
import type { TokenRole } from './domain/token-role.ts';
import type { TokenContext } from './token-context.ts';
import { roles } from './token-records.ts';

const keyOf = (namespaceId: string, name: string): string => `${namespaceId}/${name}`;

const requireName = (name: string): void => {
  if (!/^[\w.-]{1,256}$/.test(name)) {
    throw new KeelsonError('request.invalid', { text: `invalid role name "${name}"` });
  }
};

export const findRole = async (
  context: TokenContext,
  namespaceId: string,
  name: string,
): Promise<TokenRole | undefined> => roles.find(context.store, keyOf(namespaceId, name));

/** Writes the role that `change` returns; its argument is undefined when the role does not exist. */
export const putRole = async (
  context: TokenContext,
  namespaceId: string,
  name: string,
  change: (current: TokenRole | undefined) => TokenRole,
): Promise<void> => {
  requireName(name);
  await context.store.transact(async (tx) => {
    const key = keyOf(namespaceId, name);
    roles.write(tx, key, change(await roles.find(tx, key)));
  });
};

export const deleteRole = async (
  context: TokenContext,
  namespaceId: string,
  name: string,
): Promise<void> => context.store.transact((tx) => roles.delete(tx, keyOf(namespaceId, name)));

export const listRoles = (context: TokenContext, namespaceId: string): Promise<readonly string[]> =>
  roles.keys(context.store, [namespaceId]);
