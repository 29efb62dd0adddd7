/** Results of the newest maintenance of the Merkle trees of a store. */
import { jsonRecords, type Reads, type Transaction } from '@keelson/storage';

/** Times are 0 before the first. */
export interface Upkeep {
  readonly checkedAtMs: number;
  readonly isCorrupted: boolean;
  readonly reindexedAtMs: number;
}

const upkeeps = jsonRecords<Upkeep>('node/replication/');
const UPKEEP = 'upkeep';
const NEVER: Upkeep = { checkedAtMs: 0, isCorrupted: false, reindexedAtMs: 0 };

export const loadUpkeep = async (reads: Reads): Promise<Upkeep> =>
  (await upkeeps.find(reads, UPKEEP)) ?? NEVER;

export const writeUpkeep = (tx: Transaction, upkeep: Upkeep): void =>
  upkeeps.write(tx, UPKEEP, upkeep);
