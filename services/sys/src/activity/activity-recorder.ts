/**
 * Records who uses the cluster. A request costs an entry in memory; what is new is written in portions, by each replica,
 * so that a client is written once in a month.
 */
import { hash } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import type { RoundOptions } from '@keelson/locks';
import type { Store } from '@keelson/storage';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { RESPONSE_WRAPPING_POLICY, ROOT_POLICY } from '../policies/domain/default-policy.ts';
import type { TokenEntry } from '../tokens/domain/token-entry.ts';
import {
  addClient,
  addRequests,
  countClients,
  deleteClientsOf,
  deleteRequestsOf,
  findActivitySettings,
  listActiveMonths,
  listRequestCounts,
} from './activity-records.ts';
import { type ActiveClient, monthAfter, monthOf } from './domain/activity-report.ts';
import { isCounting } from './domain/activity-settings.ts';

/** Clients that wait to be written; one too many is recorded at its next request. */
const MAX_WAITING = 10_000;
/** Clients of this month that need not be written; beyond it, they are looked up again. */
const MAX_KNOWN = 100_000;
/** Clients of a month; further ones are not counted, so that nobody fills the store. */
export const MAX_CLIENTS = 100_000;
const PORTION = 200;

interface Waiting {
  readonly month: string;
  readonly token: TokenEntry;
  readonly usedMs: number;
}

export interface ActivityRecorder {
  /** Called for each request whose token allows it. */
  recordUse(token: TokenEntry): void;
  /** Writes what has been recorded. */
  write(options?: RoundOptions): Promise<void>;
}

export interface ActivityContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly mounts: () => Promise<MountIndex>;
}

/** Tokens without an entity are one client if they have the same rights in the same namespace. */
const keyOf = ({ entity, namespace, policies }: TokenEntry): string =>
  entity?.id ?? `${namespace.id} ${policies.join(' ')}`;

const toClient = ({ token, usedMs }: Waiting, mounts: MountIndex): ActiveClient => {
  const { entity, login, namespace } = token;
  const mount =
    login === undefined
      ? mounts.findAt(namespace.id, 'auth', 'token/')
      : mounts.findByUuid(login.mountUuid);
  return {
    id: entity?.id ?? hash('sha256', keyOf(token)),
    namespaceId: namespace.id,
    mountAccessor: mount?.accessor ?? '',
    isEntity: entity !== undefined,
    firstUsedMs: usedMs,
  };
};

export const createActivityRecorder = ({
  store,
  clock,
  mounts,
}: ActivityContext): ActivityRecorder => {
  let known = new Set<string>();
  let knownMonth = '';
  let waiting = new Map<string, Waiting>();
  let requests = new Map<string, number>();
  let prunedIn = '';

  const writeClients = async (found: readonly Waiting[], options: RoundOptions): Promise<void> => {
    const index = await mounts();
    for (const [month, own] of Map.groupBy(found, (one) => one.month)) {
      let room = MAX_CLIENTS - (await countClients(store, month, MAX_CLIENTS));
      for (let at = 0; at < own.length && room > 0; at += PORTION) {
        const portion = own.slice(at, at + Math.min(PORTION, room));
        room -= portion.length;
        await store.transact(async (tx) => {
          for (const one of portion) await addClient(tx, month, toClient(one, index));
        }, options);
      }
    }
  };

  const writeRequests = (counts: ReadonlyMap<string, number>, options: RoundOptions) =>
    store.transact(async (tx) => {
      for (const [month, count] of counts) await addRequests(tx, month, count);
    }, options);

  /** Deletes months that are older than they are kept, once in a month. */
  const prune = async (retentionMonths: number, options: RoundOptions): Promise<void> => {
    const now = monthOf(clock.nowMs());
    if (prunedIn === now) return;
    const oldest = monthAfter(now, -retentionMonths);
    for (const month of await listActiveMonths(store))
      while (
        month < oldest &&
        (await store.transact((tx) => deleteClientsOf(tx, month, PORTION), options))
      );
    const counted = (await listRequestCounts(store)).filter(({ month }) => month < oldest);
    await store.transact(async (tx) => {
      for (const { month } of counted) deleteRequestsOf(tx, month);
    }, options);
    prunedIn = now;
  };

  return {
    recordUse: (token) => {
      const usedMs = clock.nowMs();
      const month = monthOf(usedMs);
      requests.set(month, (requests.get(month) ?? 0) + 1);
      const { policies } = token;
      if (policies.includes(ROOT_POLICY) || policies.includes(RESPONSE_WRAPPING_POLICY)) return;
      if (month !== knownMonth || known.size >= MAX_KNOWN) {
        known = new Set();
        knownMonth = month;
      }
      const key = keyOf(token);
      if (known.has(key) || waiting.size >= MAX_WAITING) return;
      known.add(key);
      waiting.set(`${month} ${key}`, { month, token, usedMs });
    },
    write: async (options = {}) => {
      const [clients, counts] = [waiting, requests];
      if (clients.size === 0 && counts.size === 0) return;
      waiting = new Map();
      requests = new Map();
      const settings = await findActivitySettings(store);
      try {
        if (isCounting(settings)) await writeClients([...clients.values()], options);
      } catch (error) {
        // They are recorded again with their next requests.
        known = new Set();
        throw error;
      }
      await writeRequests(counts, options);
      await prune(settings.retentionMonths, options);
    },
  };
};
