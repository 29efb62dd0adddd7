/** Finds, closes and opens ACME accounts on behalf of an administrator. */

import type { Clock } from '@keelson/clock';
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { PageChoice } from '@keelson/secrets-api';
import { readableOnly, type Store } from '@keelson/storage';
import { accountRecords } from '../accounts/account-records.ts';
import type { Account } from '../accounts/domain/account.ts';
import { type Order, type OrderStatus, orderStatus } from '../orders/domain/order.ts';
import { orderKey, orderRecords } from '../orders/order-records.ts';

export interface ManagementParts {
  readonly store: Store;
  readonly clock: Clock;
}

export interface ManagedOrder {
  readonly id: string;
  readonly order: Order;
  readonly status: OrderStatus;
}

/** Orders of an account in one answer; an account may have thousands. */
const MAX_ORDERS = 200;

export const listAccounts = (
  { store }: ManagementParts,
  mount: MountScope,
  { after, limit }: PageChoice,
): Promise<readonly (readonly [string, Account])[]> =>
  accountRecords(mount).entries(readableOnly(store), {
    ...(after !== '' && { after }),
    ...(limit > 0 && { limit }),
  });

/** @param id as a client sent it */
export const findManagedAccount = (
  { store }: ManagementParts,
  mount: MountScope,
  id: string,
): Promise<Account | undefined> => accountRecords(mount).find(store, id);

/** The newest orders of an account, newest first. */
export const listManagedOrders = async (
  { store, clock }: ManagementParts,
  mount: MountScope,
  accountId: string,
): Promise<{ readonly orders: readonly ManagedOrder[]; readonly isComplete: boolean }> => {
  const records = orderRecords(mount);
  const prefix = orderKey(accountId, '');
  const ids = await store.list(records.path(prefix));
  const nowMs = clock.nowMs();
  const orders: ManagedOrder[] = [];
  // Ids begin with the time, so the last ones are the newest.
  for (const id of ids.slice(-MAX_ORDERS).toReversed()) {
    const order = await records.find(readableOnly(store), prefix + id);
    if (order !== undefined) orders.push({ id, order, status: orderStatus(order, nowMs) });
  }
  return { orders, isComplete: ids.length <= MAX_ORDERS };
};

export type SettableStatus = 'valid' | 'revoked';

/** @throws KeelsonError `request.invalid` */
export const requireSettableStatus = (status: string): SettableStatus => {
  if (status === 'valid' || status === 'revoked') return status;
  throw new KeelsonError('request.invalid', {
    text: `invalid status "${status}": it must be "valid" or "revoked"`,
  });
};

/**
 * @throws KeelsonError `request.not_found`; `request.invalid` for an account that its owner has closed,
 * which is final (RFC 8555 §7.3.6)
 */
export const setAccountStatus = (
  { store, clock }: ManagementParts,
  mount: MountScope,
  { id, status }: { readonly id: string; readonly status: SettableStatus },
): Promise<Account> =>
  store.transact(async (tx) => {
    const records = accountRecords(mount);
    const account = await records.find(tx, id);
    if (account === undefined)
      throw new KeelsonError('request.not_found', { text: `there is no ACME account ${id}` });
    if (account.status === status) return account;
    if (account.status === 'deactivated')
      throw new KeelsonError('request.invalid', {
        text: 'the owner of the account has deactivated it, which is final',
      });
    const changed: Account = {
      ...account,
      status,
      revokedAtMs: status === 'revoked' ? clock.nowMs() : undefined,
    };
    records.write(tx, id, changed);
    return changed;
  });
