/**
 * Limits on the open orders of an account, and on the pending authorizations in them (RFC 8555
 * §6.6). Each replica adds up the orders it creates, and counts the stored ones only when the sum
 * reaches a limit, so that most orders need no extra read. Several replicas together may allow a
 * few more between two counts.
 */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import { LRUCache } from 'lru-cache';
import { AcmeProblem } from '../problems/problem.ts';
import { authorizationStatus, ORDER_LIFETIME_MS, type Order, orderStatus } from './domain/order.ts';
import { firstOrderIdOf } from './domain/order-id.ts';
import { ordersOf } from './order-records.ts';

/** Limits of one account, counted by each replica. */
export interface OpenOrderLimits {
  /** Pending or ready. */
  readonly orders: number;
  readonly pendingAuthorizations: number;
}

export const OPEN_ORDER_LIMITS: OpenOrderLimits = { orders: 1000, pendingAuthorizations: 5000 };

export interface OpenOrderParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: OpenOrderLimits;
}

interface Count {
  orders: number;
  pending: number;
  /** Id below which all orders are closed. */
  from: string;
  /** When the first of the open orders expires, epoch milliseconds. */
  endsAtMs: number;
  foundFullAtMs?: number;
}

const PAGE_SIZE = 500;
/** Maximum number of accounts whose count is cached. */
const MAX_COUNTS = 10_000;
/** Minimum time between two counts of an account that has reached its limit. */
const COUNT_EVERY_MS = 1000;

const isOpen = (order: Order, nowMs: number): boolean => {
  const status = orderStatus(order, nowMs);
  return status === 'pending' || status === 'ready' || status === 'processing';
};

const pendingOf = ({ authorizations }: Order, nowMs: number): number =>
  authorizations.filter((one) => authorizationStatus(one, nowMs) === 'pending').length;

export class OpenOrders {
  readonly #parts: OpenOrderParts;
  readonly #counts = new LRUCache<string, Count>({ max: MAX_COUNTS });
  /** Counts in progress. */
  readonly #counting = new Map<string, Promise<Count>>();

  constructor(parts: OpenOrderParts) {
    this.#parts = parts;
  }

  /**
   * Reserves an order with this many authorizations. A reservation without an order is dropped at
   * the next count. @throws AcmeProblem `rateLimited` with the time at which the first open order
   * expires
   */
  async take(mount: MountScope, accountId: string, authorizations: number): Promise<void> {
    const key = `${mount.uuid}/${accountId}`;
    const nowMs = this.#parts.clock.nowMs();
    let count = this.#counts.get(key);
    const foundFullAtMs = count?.foundFullAtMs ?? Number.NEGATIVE_INFINITY;
    if (
      count === undefined ||
      (!this.#hasRoom(count, authorizations) && nowMs - foundFullAtMs >= COUNT_EVERY_MS)
    )
      count = await this.#countOnce(key, mount, accountId, count?.from);
    if (!this.#hasRoom(count, authorizations)) {
      count.foundFullAtMs ??= nowMs;
      const { orders, pendingAuthorizations } = this.#parts.limits;
      throw new AcmeProblem(
        'rateLimited',
        `an account has at most ${orders} open orders and ${pendingAuthorizations} pending authorizations: complete or deactivate some of them`,
        { retryAfterSeconds: Math.max(1, Math.ceil((count.endsAtMs - nowMs) / 1000)) },
      );
    }
    count.orders += 1;
    count.pending += authorizations;
  }

  #hasRoom({ orders, pending }: Count, authorizations: number): boolean {
    const { limits } = this.#parts;
    return orders < limits.orders && pending + authorizations <= limits.pendingAuthorizations;
  }

  /** Concurrent requests of an account share a count. */
  #countOnce(key: string, mount: MountScope, accountId: string, from?: string): Promise<Count> {
    const underWay = this.#counting.get(key);
    if (underWay !== undefined) return underWay;
    const counting = this.#count(mount, accountId, from)
      .then((count) => {
        this.#counts.set(key, count);
        return count;
      })
      .finally(() => this.#counting.delete(key));
    this.#counting.set(key, counting);
    return counting;
  }

  async #count(mount: MountScope, accountId: string, from: string | undefined): Promise<Count> {
    const { store, clock } = this.#parts;
    const countedAtMs = clock.nowMs();
    const records = ordersOf(mount, accountId);
    // Orders expire after a fixed time, so older ones are closed.
    let after = from ?? firstOrderIdOf(countedAtMs - ORDER_LIFETIME_MS);
    const count: Count = { orders: 0, pending: 0, from: '', endsAtMs: countedAtMs };
    for (;;) {
      const page = await records.entries(store, { limit: PAGE_SIZE, after });
      for (const [, order] of page) {
        if (!isOpen(order, countedAtMs)) continue;
        if (count.orders === 0) {
          count.endsAtMs = order.expiresAtMs;
          count.from = firstOrderIdOf(order.createdAtMs);
        }
        count.orders += 1;
        count.pending += pendingOf(order, countedAtMs);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_SIZE) break;
      after = last[0];
    }
    if (count.orders === 0) count.from = firstOrderIdOf(countedAtMs);
    return count;
  }
}
