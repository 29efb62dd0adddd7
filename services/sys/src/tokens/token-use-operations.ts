/**
 * The last use of the tokens of entities, to the hour. A request costs an entry in memory at most once an hour; what is
 * new is written in portions. The first hour of a token needs no note, so those that end within it are never written.
 */
import type { Clock } from '@keelson/clock';
import type { RoundOptions } from '@keelson/locks';
import { type Reads, type Store, type Transaction, unlessDamaged } from '@keelson/storage';
import { LRUCache } from 'lru-cache';
import type { TokenEntry } from './domain/token-entry.ts';
import { findStoredToken, refOf, type TokenRef } from './token-records.ts';
import { tokenUses } from './token-use-records.ts';

const HOUR_MS = 3_600_000;
/** Tokens whose last noted use is remembered; others are looked up when they are written. */
const MAX_KNOWN = 50_000;
/** Uses that wait to be written; one too many is noted with the next request. */
const MAX_WAITING = 10_000;
const PORTION = 200;

export interface TokenUseNotes {
  /** Called for each request that the token has allowed. */
  note(token: TokenEntry): void;
  /** Writes what has been noted. */
  write(options?: RoundOptions): Promise<void>;
}

interface Use {
  readonly ref: TokenRef;
  readonly atMs: number;
}

const keyOf = ({ namespaceId, hash }: TokenRef): string => `${namespaceId}/${hash}`;

const findUse = async (reads: Reads, token: TokenEntry): Promise<number | undefined> =>
  (await unlessDamaged(tokenUses.find(reads, keyOf(refOf(token)))))?.atMs;

/** Without a note, the token was last used within an hour of its creation. */
const orCreation = (noted: number | undefined, { createdAtMs }: TokenEntry): number =>
  noted ?? createdAtMs;

/** Milliseconds since 1970: the token was last used at that time, or within an hour after it. */
export const findLastUse = async (reads: Reads, token: TokenEntry): Promise<number> =>
  orCreation(await findUse(reads, token), token);

const writeUse = async (tx: Transaction, { ref, atMs }: Use): Promise<void> => {
  const token = await findStoredToken(tx, ref);
  if (token !== undefined && atMs - (await findLastUse(tx, token)) >= HOUR_MS)
    tokenUses.write(tx, keyOf(ref), { atMs });
};

export const createTokenUseNotes = ({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): TokenUseNotes => {
  const known = new LRUCache<string, number>({ max: MAX_KNOWN });
  let waiting = new Map<string, Use>();
  return {
    note: (token) => {
      if (token.entity === undefined || token.type === 'batch') return;
      const atMs = clock.nowMs();
      if (atMs - orCreation(known.get(token.hash), token) < HOUR_MS) return;
      if (waiting.size >= MAX_WAITING) return;
      known.set(token.hash, atMs);
      waiting.set(token.hash, { ref: refOf(token), atMs });
    },
    write: async (options = {}) => {
      const uses = [...waiting.values()];
      waiting = new Map();
      try {
        for (let at = 0; at < uses.length; at += PORTION)
          await store.transact(async (tx) => {
            for (const use of uses.slice(at, at + PORTION)) await writeUse(tx, use);
          }, options);
      } catch (error) {
        // They are noted again with their next requests.
        for (const { ref } of uses) known.delete(ref.hash);
        throw error;
      }
    },
  };
};

/** Part of the removal of a token. */
export const forgetUse = async (tx: Transaction, token: TokenEntry): Promise<void> => {
  if (token.entity !== undefined && (await findUse(tx, token)) !== undefined)
    tokenUses.delete(tx, keyOf(refOf(token)));
};
