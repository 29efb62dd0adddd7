/**
 * Tidying what ACME clients left behind: orders, then accounts without any, then unused bindings (reference
 * §7.13).
 */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import {
  type Fence,
  type ListOptions,
  readableOnly,
  type Store,
  type Transaction,
} from '@keelson/storage';
import {
  accountKeyIndex,
  accountKeyRecords,
  accountRecords,
} from '../acme/accounts/account-records.ts';
import type { Account } from '../acme/accounts/domain/account.ts';
import { externalAccountRecords } from '../acme/eab/eab-records.ts';
import type { Order } from '../acme/orders/domain/order.ts';
import { certificateOriginRecords, orderRecords } from '../acme/orders/order-records.ts';
import { stepSize, type TidySettings } from './domain/tidy-settings.ts';
import type { TidyCounts } from './tidy-records.ts';

interface AcmeTidyRun {
  readonly mount: MountScope;
  readonly settings: TidySettings;
  readonly fence: Fence;
  advance(done: Partial<TidyCounts>): Promise<void>;
}

interface AcmeTidyParts {
  readonly store: Store;
  readonly clock: Clock;
}

/** All entries of a collection, a step at a time; each is one commit. */
const inPages = async <T>(
  { store }: AcmeTidyParts,
  run: AcmeTidyRun,
  entries: (options: ListOptions) => Promise<readonly (readonly [string, T])[]>,
  change: (tx: Transaction, key: string, value: T) => Promise<Partial<TidyCounts>>,
): Promise<void> => {
  let after: string | undefined;
  for (;;) {
    const page = await entries({
      limit: stepSize(run.settings),
      ...(after !== undefined && { after }),
    });
    after = page.at(-1)?.[0];
    if (after === undefined) return;
    const done = await store.transact(
      async (tx) => {
        const counts: Record<string, number> = {};
        for (const [key, value] of page)
          for (const [name, count] of Object.entries(await change(tx, key, value)))
            counts[name] = (counts[name] ?? 0) + count;
        return counts;
      },
      { fence: run.fence },
    );
    await run.advance(done);
  }
};

/** An order is over with its certificate, or with its own time where it has none. */
const isOver = ({ certificate, expiresAtMs }: Order, beforeMs: number, nowMs: number): boolean =>
  certificate === undefined ? expiresAtMs <= nowMs : certificate.notAfterMs < beforeMs;

const tidyOrders = async (parts: AcmeTidyParts, run: AcmeTidyRun): Promise<void> => {
  const { mount, settings } = run;
  const nowMs = parts.clock.nowMs();
  const beforeMs = nowMs - settings.safetyBufferSeconds * 1000;
  const records = orderRecords(mount);
  await inPages(
    parts,
    run,
    (options) => records.entries(readableOnly(parts.store), options),
    async (tx, key) => {
      const order = await records.find(tx, key);
      if (order === undefined || !isOver(order, beforeMs, nowMs)) return {};
      records.delete(tx, key);
      if (order.certificate !== undefined)
        certificateOriginRecords(mount).delete(tx, order.certificate.serialKey);
      return { acmeOrders: 1 };
    },
  );
};

/**
 * An old account without orders is closed, and deleted after being closed for the same time; its key may then
 * create an account again.
 */
const tidyAccount = async (
  tx: Transaction,
  mount: MountScope,
  id: string,
  account: Account,
  nowMs: number,
  beforeMs: number,
): Promise<Partial<TidyCounts>> => {
  const orders = orderRecords(mount);
  const records = accountRecords(mount);
  const total = { acmeAccounts: 1 };
  if ((await tx.list(orders.path(`${id}/`), { limit: 1 })).length > 0) return total;
  if (account.status === 'valid') {
    if (account.createdAtMs >= beforeMs) return total;
    records.write(tx, id, { ...account, status: 'revoked', revokedAtMs: nowMs });
    return { ...total, acmeAccountsRevoked: 1 };
  }
  if ((account.revokedAtMs ?? account.createdAtMs) >= beforeMs) return total;
  records.delete(tx, id);
  accountKeyRecords(mount).delete(tx, accountKeyIndex(account.directory, account.thumbprint));
  return { ...total, acmeAccountsDeleted: 1 };
};

/** Removes what no client can use any more. */
export const tidyAcme = async (parts: AcmeTidyParts, run: AcmeTidyRun): Promise<void> => {
  const { mount, settings } = run;
  const { store, clock } = parts;
  await tidyOrders(parts, run);
  const nowMs = clock.nowMs();
  const beforeMs = nowMs - settings.acmeAccountSafetyBufferSeconds * 1000;
  const accounts = accountRecords(mount);
  await inPages(
    parts,
    run,
    (options) => accounts.entries(readableOnly(store), options),
    async (tx, id) => {
      const account = await accounts.find(tx, id);
      return account === undefined ? {} : tidyAccount(tx, mount, id, account, nowMs, beforeMs);
    },
  );
  const bindings = externalAccountRecords(mount);
  await inPages(
    parts,
    run,
    (options) => bindings.entries(readableOnly(store), options),
    (tx, id, { createdAtMs }) => {
      if (createdAtMs < beforeMs) bindings.delete(tx, id);
      return Promise.resolve({});
    },
  );
};
