/**
 * Revocation of tokens. The first transaction removes the token itself, which ends its whole tree at once
 * (see token-operations); the following ones remove the records of the tree in bounded portions.
 */
import type { Transaction, TransactOptions } from '@keelson/storage';
import type { TokenEntry } from './domain/token-entry.ts';
import type { TokenContext } from './token-context.ts';
import {
  childrenOf,
  findStoredToken,
  listExpired,
  listLoginMounts,
  listTokensOfMount,
  pruneChild,
  pruneExpired,
  refOf,
  removeToken,
  type TokenRef,
  tokens,
  writeToken,
} from './token-records.ts';

const PORTION = 200;

/** Removes a token and all its descendants. */
export const revokeTree = async (
  context: TokenContext,
  head: TokenRef,
  options: TransactOptions = {},
): Promise<void> => {
  const open: TokenRef[] = [head];
  for (let ref = open.at(-1); ref !== undefined; ref = open.at(-1)) {
    const current = ref;
    const { isOver, deeper } = await context.store.transact(async (tx) => {
      await removeStored(context, tx, current);
      const portion = await childrenOf(tx, current, PORTION);
      const withChildren: TokenRef[] = [];
      for (const child of portion) {
        // Children without children of their own are removed in the same transaction, the others by a later one.
        if ((await childrenOf(tx, child, 1)).length > 0) withChildren.push(child);
        else {
          await removeStored(context, tx, child);
          await pruneChild(tx, current, child);
        }
      }
      return {
        isOver: portion.length < PORTION && withChildren.length === 0,
        deeper: withChildren,
      };
    }, options);
    if (isOver) open.pop();
    open.push(...deeper);
  }
};

const removeStored = async (
  context: TokenContext,
  tx: Transaction,
  ref: TokenRef,
): Promise<void> => {
  const token = await findStoredToken(tx, ref);
  if (token === undefined) return;
  await removeToken(tx, token);
  for (const hook of context.onRemoved) await hook(tx, token);
};

/** Removes a token and makes its children orphans. */
export const revokeOrphaning = async (context: TokenContext, token: TokenEntry): Promise<void> =>
  context.store.transact(async (tx) => {
    const current = await findStoredToken(tx, refOf(token));
    if (current === undefined) return;
    for (const ref of await childrenOf(tx, refOf(current), Number.MAX_SAFE_INTEGER)) {
      const child = await findStoredToken(tx, ref);
      if (child !== undefined) await writeToken(tx, { ...child, parent: undefined });
    }
    await removeStored(context, tx, refOf(current));
  });

/** Removes expired tokens. Returns how many were due; call again while there are more. */
export const removeExpired = async (
  context: TokenContext,
  options: TransactOptions = {},
): Promise<number> => {
  const due = await listExpired(context.store, context.clock.nowMs(), PORTION);
  for (const expired of due) {
    await revokeTree(context, expired.ref, options);
    await context.store.transact((tx) => pruneExpired(tx, expired), options);
  }
  return due.length;
};

/**
 * Removes the tokens of logins at mounts that no longer exist, with their children and leases. They are refused from
 * the removal of the mount on.
 */
export const removeTokensOfRemovedMounts = async (
  context: TokenContext,
  options: TransactOptions = {},
): Promise<void> => {
  for (const uuid of await listLoginMounts(context.store)) {
    if (await context.isMounted(uuid)) continue;
    let portion: readonly TokenRef[];
    do {
      portion = await listTokensOfMount(context.store, uuid, PORTION);
      for (const ref of portion) await revokeTree(context, ref, options);
    } while (portion.length === PORTION);
  }
};

/**
 * Revokes the tokens of a namespace that were made at paths with a common beginning, as by the logins at a mount, with
 * their descendants. A token that never expires has no lease, and stays.
 * @param prefix ends with a slash, or is "" for all paths
 */
export const revokeTokensBelow = async (
  context: TokenContext,
  namespaceId: string,
  prefix: string,
): Promise<void> => {
  const own = tokens.below(namespaceId);
  let after: string | undefined;
  for (;;) {
    const page = await own.entries(context.store, {
      limit: PORTION,
      ...(after !== undefined && { after }),
    });
    for (const [, token] of page)
      if (token.expiresAtMs !== undefined && `${token.path}/`.startsWith(prefix))
        await revokeTree(context, refOf(token));
    after = page.at(-1)?.[0];
    if (page.length < PORTION || after === undefined) return;
  }
};

/** Removes tokens whose parent is gone, as an interrupted revocation leaves them. */
export const removeDangling = async (context: TokenContext): Promise<number> => {
  let removed = 0;
  let after: string | undefined;
  for (;;) {
    const page = await tokens.entries(context.store, {
      limit: PORTION,
      ...(after !== undefined && { after }),
    });
    for (const [, token] of page) {
      const parent = token.parent && (await findStoredToken(context.store, token.parent));
      if (token.parent === undefined || parent !== undefined) continue;
      await revokeTree(context, refOf(token));
      removed += 1;
    }
    after = page.at(-1)?.[0];
    if (page.length < PORTION || after === undefined) return removed;
  }
};
