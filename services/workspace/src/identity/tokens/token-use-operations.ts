/** The last use of tokens, recorded at most once an hour for each, so that requests do not wait for writes. */
import { type Reads, type Store, type TransactOptions, unlessDamaged } from '@keelson/storage';
import type { ServiceContext } from '../../base/service-context.ts';
import { tokenRecords } from '../model/token-records.ts';
import { tokenUses } from './token-use-records.ts';

const HOUR_MS = 3_600_000;
/** Tokens whose last recorded use is remembered in memory. */
const MOST_REMEMBERED = 50_000;

export type NoteTokenUse = (tokenId: string) => Promise<void>;

/** Notes uses; a use that cannot be stored is noted with a later one and refuses no request. */
export const createTokenUseNotes = ({ store, clock }: ServiceContext): NoteTokenUse => {
  const noted = new Map<string, number>();
  return async (tokenId) => {
    const atMs = clock.nowMs();
    const isNoted = atMs - (noted.get(tokenId) ?? Number.NEGATIVE_INFINITY) < HOUR_MS;
    if (isNoted) return;
    if (noted.size >= MOST_REMEMBERED) noted.clear();
    // Requests that follow at once do not write as well.
    noted.set(tokenId, atMs);
    try {
      await store.transact(async (tx) => {
        const known = await tokenUses.find(tx, tokenId);
        if (known === undefined || atMs - known.atMs >= HOUR_MS)
          tokenUses.write(tx, [tokenId], { atMs });
      });
    } catch {
      noted.delete(tokenId);
    }
  };
};

/** Milliseconds since 1970 of the last use; null before the first. */
export const findLastUse = async (reads: Reads, tokenId: string): Promise<number | null> =>
  (await unlessDamaged(tokenUses.find(reads, tokenId)))?.atMs ?? null;

/** Removes the uses of tokens that no longer exist, also of those that another cluster has deleted. */
export const removeUsesOfDeleted = async (
  store: Store,
  options: TransactOptions,
): Promise<void> => {
  for (const tokenId of await tokenUses.keys(store, [])) {
    if ((await tokenRecords.by.id.keys(store, tokenId, { limit: 1 })).length > 0) continue;
    await store.transact(async (tx) => tokenUses.delete(tx, tokenId), options);
  }
};
