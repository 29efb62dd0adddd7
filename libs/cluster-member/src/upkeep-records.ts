/** Results of the newest maintenance of the Merkle trees of a store. */
import { type Reads, singleRecord, type Transaction, unlessDamaged } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Times are 0 before the first. */
const upkeepShape = Type.Object({
  checkedAtMs: Type.Number(),
  isCorrupted: Type.Boolean(),
  reindexedAtMs: Type.Number(),
});
export type Upkeep = Shaped<typeof upkeepShape>;

const upkeepRecord = singleRecord('replication/upkeep', {
  scope: 'node',
  version: 1,
  shape: upkeepShape,
});
const NEVER: Upkeep = { checkedAtMs: 0, isCorrupted: false, reindexedAtMs: 0 };

/** Results that cannot be read are replaced by those of the next check. */
export const loadUpkeep = async (reads: Reads): Promise<Upkeep> =>
  (await unlessDamaged(upkeepRecord.find(reads))) ?? NEVER;

export const writeUpkeep = (tx: Transaction, upkeep: Upkeep): void =>
  upkeepRecord.write(tx, upkeep);
