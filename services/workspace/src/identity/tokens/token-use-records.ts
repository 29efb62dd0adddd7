import { keyedRecords } from '../../base/keyed-records.ts';

/**
 * Token id -> its last use on this cluster, at most an hour before the actual one. Local, because each cluster
 * records the uses of its own callers, also one that follows another.
 */
export const tokenUses = keyedRecords<{ readonly atMs: number }>('local/token-uses/');
