/**
 * Validation attempts, and the queue of challenges that wait for one. A queue entry is a record, so
 * nothing is lost when a replica fails. A replica claims an entry for a limited time before it
 * works on it, so that no other replica does the same work. A challenge whose first attempt ends
 * immediately is never queued: only its outcome is stored.
 */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import { readableOnly, type Store, type Transaction } from '@keelson/storage';
import { accountRecords } from '../accounts/account-records.ts';
import type { Account } from '../accounts/domain/account.ts';
import type { ChallengeType } from '../orders/domain/challenge-types.ts';
import type { Identifier } from '../orders/domain/identifier.ts';
import {
  type Authorization,
  authorizationStatus,
  beginChallenge,
  changeAuthorization,
  completeChallenge,
  failChallenge,
  type Order,
  recordFailedAttempt,
} from '../orders/domain/order.ts';
import { orderKey, orderRecords } from '../orders/order-records.ts';
import { malformed, type Problem } from '../problems/problem.ts';
import { challengeQueueRecords, type QueuedChallenge, queueKey } from './challenge-records.ts';
import type { Trying } from './domain/attempt-schedule.ts';
import { isStartable } from './domain/startable.ts';

export interface ChallengeParts {
  readonly store: Store;
  readonly clock: Clock;
}

/** Duration of a claim, longer than any attempt. */
export const CLAIM_MS = 30_000;

/** A challenge of an open account, with the data needed for an attempt. */
export interface TriedChallenge extends Trying {
  /** Key that its queue entry has or would have. */
  readonly key: string;
  readonly type: ChallengeType;
  readonly identifier: Identifier;
  readonly wildcard: boolean;
  readonly token: string;
  /** Key authorization of the token (RFC 8555 §8.1). */
  readonly keyAuthorization: string;
  readonly accountId: string;
  /**
   * Directory of the account: "roles/web/acme/". The account's URL is the cluster's path, followed
   * by this, "account/" and the id.
   */
  readonly directory: string;
}

/** A queue entry that this replica has claimed. */
export interface ClaimedChallenge extends TriedChallenge {
  /** Other replicas do not claim the entry before this time. */
  readonly claimedUntilMs: number;
}

/** Position of the challenge for which a client reported that it is ready. */
export interface ChallengePlace {
  readonly mount: MountScope;
  readonly accountId: string;
  readonly orderId: string;
  readonly authorizationIndex: number;
  readonly type: ChallengeType;
}

/** @returns undefined if the authorization has no such challenge */
export const describeChallenge = (
  { accountId, orderId, authorizationIndex, type }: Omit<ChallengePlace, 'mount'>,
  { thumbprint, directory }: Account,
  { identifier, wildcard, challenges }: Authorization,
): Omit<TriedChallenge, keyof Trying> | undefined => {
  const token = challenges.find((one) => one.type === type)?.token;
  if (token === undefined) return undefined;
  const keyAuthorization = `${token}.${thumbprint}`;
  const key = queueKey(orderId, authorizationIndex);
  return { key, type, identifier, wildcard, token, keyAuthorization, accountId, directory };
};

const describe = async (
  tx: Transaction,
  mount: MountScope,
  entry: QueuedChallenge,
): Promise<ClaimedChallenge | undefined> => {
  const account = await accountRecords(mount).find(tx, entry.accountId);
  const order = await orderRecords(mount).find(tx, orderKey(entry.accountId, entry.orderId));
  const authorization = order?.authorizations[entry.authorizationIndex];
  const challenge = authorization?.challenges.find(({ type }) => type === entry.type);
  if (account?.status !== 'valid' || challenge?.status !== 'processing') return undefined;
  const described = authorization && describeChallenge(entry, account, authorization);
  const { attempts, triedSinceMs, claimedUntilMs } = entry;
  return described && { ...described, attempts, triedSinceMs, claimedUntilMs };
};

export interface TriggerOutcome {
  readonly authorization: Authorization;
  /**
   * The challenge that this replica tries immediately; undefined if an attempt is already in
   * progress.
   */
  readonly claimed: ClaimedChallenge | undefined;
}

interface FoundChallenge {
  readonly order: Order;
  readonly authorization: Authorization;
  /**
   * True if it has not been started yet. Otherwise it is in progress or decided (RFC 8555 §7.5.1).
   */
  readonly isNew: boolean;
}

/** @throws AcmeProblem `malformed` where the authorization or another challenge of it is settled */
const requireChallenge = async (
  tx: Transaction,
  { mount, accountId, orderId, authorizationIndex, type }: ChallengePlace,
  nowMs: number,
): Promise<FoundChallenge> => {
  const order = await orderRecords(mount).find(tx, orderKey(accountId, orderId));
  const authorization = order?.authorizations[authorizationIndex];
  if (order === undefined || authorization === undefined)
    throw malformed('there is no such challenge', { status: 404 });
  return { order, authorization, isNew: isStartable(order, authorization, type, nowMs) };
};

const newEntry = (
  { accountId, orderId, authorizationIndex, type }: ChallengePlace,
  nowMs: number,
): QueuedChallenge => ({
  accountId,
  orderId,
  authorizationIndex,
  type,
  attempts: 0,
  dueAtMs: nowMs,
  claimedUntilMs: 0,
});

/**
 * Queues a challenge for which the client is ready, claimed by this replica.
 * @throws AcmeProblem `malformed` where the authorization or another challenge of it is settled
 */
export const triggerChallenge = (
  { store, clock }: ChallengeParts,
  place: ChallengePlace,
): Promise<TriggerOutcome> =>
  store.transact(async (tx) => {
    const { mount, accountId, orderId, authorizationIndex, type } = place;
    const nowMs = clock.nowMs();
    const { order, authorization, isNew } = await requireChallenge(tx, place, nowMs);
    if (!isNew) return { authorization, claimed: undefined };
    const begun = changeAuthorization(order, authorizationIndex, (one) =>
      beginChallenge(one, type),
    );
    orderRecords(mount).write(tx, orderKey(accountId, orderId), begun);
    const entry = { ...newEntry(place, nowMs), claimedUntilMs: nowMs + CLAIM_MS };
    const entryKey = queueKey(orderId, authorizationIndex);
    challengeQueueRecords(mount).write(tx, entryKey, entry);
    return {
      authorization: begun.authorizations[authorizationIndex] as Authorization,
      claimed: await describe(tx, mount, entry),
    };
  });

export interface ClaimLimits {
  readonly count: number;
  /** Accounts whose challenges are not to be claimed. */
  readonly busyAccounts: ReadonlySet<string>;
}

/**
 * Claims due entries that no replica works on: those whose delay has passed, and those left behind
 * by a failed replica. Entries of closed orders and accounts are removed.
 */
export const nextChallenges = async (
  { store, clock }: ChallengeParts,
  mount: MountScope,
  { count, busyAccounts }: ClaimLimits,
): Promise<readonly ClaimedChallenge[]> => {
  const queue = challengeQueueRecords(mount);
  const isDue = ({ dueAtMs, claimedUntilMs, accountId }: QueuedChallenge): boolean =>
    Math.max(dueAtMs, claimedUntilMs) <= clock.nowMs() && !busyAccounts.has(accountId);
  const due = (await queue.entries(readableOnly(store)))
    .filter(([, entry]) => isDue(entry))
    .toSorted(([, a], [, b]) => a.dueAtMs - b.dueAtMs)
    .slice(0, count);
  const claimed: ClaimedChallenge[] = [];
  for (const [key] of due) {
    // One commit per entry, to minimize conflicts between replicas that claim at the same time.
    const one = await store.transact(async (tx) => {
      const entry = await queue.find(tx, key);
      if (entry === undefined || !isDue(entry)) return undefined;
      const taken = { ...entry, claimedUntilMs: clock.nowMs() + CLAIM_MS };
      const described = await describe(tx, mount, taken);
      if (described === undefined) queue.delete(tx, key);
      else queue.write(tx, key, taken);
      return described;
    });
    if (one !== undefined) claimed.push(one);
  }
  return claimed;
};

/** Releases a claimed entry without an attempt, so that any replica may claim it immediately. */
export const releaseChallenge = (
  { store }: ChallengeParts,
  mount: MountScope,
  { key, claimedUntilMs }: Pick<ClaimedChallenge, 'key' | 'claimedUntilMs'>,
): Promise<void> =>
  store.transact(async (tx) => {
    const queue = challengeQueueRecords(mount);
    const entry = await queue.find(tx, key);
    // Leaves the entry alone if another replica has claimed it meanwhile.
    if (entry?.claimedUntilMs === claimedUntilMs)
      queue.write(tx, key, { ...entry, claimedUntilMs: 0 });
  });

/** The outcome of an attempt. */
export type AttemptOutcome =
  | { readonly kind: 'valid' }
  /** Another attempt follows at `retryAtMs`; until then the challenge shows the problem. */
  | {
      readonly kind: 'retry';
      readonly problem: Problem;
      readonly retryAtMs: number;
      /** When the first attempt began. */
      readonly triedSinceMs: number;
    }
  | { readonly kind: 'invalid'; readonly problem: Problem };

const applyOutcome = (
  authorization: Authorization,
  type: ChallengeType,
  outcome: AttemptOutcome,
  nowMs: number,
): Authorization => {
  switch (outcome.kind) {
    case 'valid':
      return completeChallenge(authorization, type, nowMs);
    case 'retry':
      return recordFailedAttempt(authorization, type, outcome.problem);
    case 'invalid':
      return failChallenge(authorization, type, outcome.problem);
  }
};

/**
 * Records the outcome of a first attempt at a challenge that is not queued. Changes nothing if
 * another request has started the challenge meanwhile.
 * @returns the authorization as it is now
 * @throws AcmeProblem `malformed` where the authorization or another challenge of it is settled
 */
export const recordFirstOutcome = (
  { store, clock }: ChallengeParts,
  place: ChallengePlace,
  outcome: AttemptOutcome,
): Promise<Authorization> =>
  store.transact(async (tx) => {
    const { mount, accountId, orderId, authorizationIndex, type } = place;
    const nowMs = clock.nowMs();
    const { order, authorization, isNew } = await requireChallenge(tx, place, nowMs);
    if (!isNew) return authorization;
    const changed = applyOutcome(beginChallenge(authorization, type), type, outcome, nowMs);
    orderRecords(mount).write(
      tx,
      orderKey(accountId, orderId),
      changeAuthorization(order, authorizationIndex, () => changed),
    );
    if (outcome.kind === 'retry')
      challengeQueueRecords(mount).write(tx, queueKey(orderId, authorizationIndex), {
        ...newEntry(place, nowMs),
        attempts: 1,
        triedSinceMs: outcome.triedSinceMs,
        dueAtMs: outcome.retryAtMs,
      });
    return changed;
  });

/**
 * Records the outcome of an attempt in the order and the queue, in one commit. Changes nothing if
 * the entry is gone, because another replica finished it after this one's claim expired. @returns
 * the current order; undefined if there is none
 */
export const recordOutcome = (
  { store, clock }: ChallengeParts,
  mount: MountScope,
  challenge: Pick<ClaimedChallenge, 'key'>,
  outcome: AttemptOutcome,
): Promise<Order | undefined> =>
  store.transact(async (tx) => {
    const queue = challengeQueueRecords(mount);
    const entry = await queue.find(tx, challenge.key);
    if (entry === undefined) return undefined;
    const nowMs = clock.nowMs();
    if (outcome.kind === 'retry')
      queue.write(tx, challenge.key, {
        ...entry,
        attempts: entry.attempts + 1,
        triedSinceMs: outcome.triedSinceMs,
        dueAtMs: outcome.retryAtMs,
        claimedUntilMs: 0,
      });
    else queue.delete(tx, challenge.key);
    const records = orderRecords(mount);
    const key = orderKey(entry.accountId, entry.orderId);
    const order = await records.find(tx, key);
    const authorization = order?.authorizations[entry.authorizationIndex];
    if (order === undefined || authorization === undefined) return undefined;
    // Deactivated or expired meanwhile, which is final.
    if (authorizationStatus(authorization, nowMs) !== 'pending') {
      queue.delete(tx, challenge.key);
      return order;
    }
    const changed = changeAuthorization(order, entry.authorizationIndex, (one) =>
      applyOutcome(one, entry.type, outcome, nowMs),
    );
    records.write(tx, key, changed);
    return changed;
  });
