/** Compares the records of all stores with their Merkle trees, which nobody would do otherwise. */
import type { Clock } from '@keelson/clock';
import { loadUpkeep } from '@keelson/cluster-member';
import type { PeriodicWork } from '@keelson/locks';
import type { Store } from '@keelson/storage';
import type { UpkeepOperations } from './upkeep-operations.ts';

const LOOK_EVERY_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;

export interface CorruptionCheckParts {
  /** 0 means never. */
  readonly everyHours: number;
  readonly clock: Clock;
  /** The store of sys, without the gate of replication. */
  readonly store: Store;
  readonly upkeep: UpkeepOperations;
}

/** Begins an hour after the start, when all services are there. The result is in readiness and in the status of replication. */
export const corruptionCheckWork = ({
  everyHours,
  clock,
  store,
  upkeep,
}: CorruptionCheckParts): Readonly<Record<string, PeriodicWork>> => {
  if (everyHours === 0) return {};
  const startedAtMs = clock.nowMs();
  return {
    'corruption-check': {
      everyMs: LOOK_EVERY_MS,
      round: async () => {
        const nowMs = clock.nowMs();
        const { checkedAtMs } = await loadUpkeep(store);
        const isDue = nowMs - startedAtMs >= HOUR_MS && nowMs - checkedAtMs >= everyHours * HOUR_MS;
        if (isDue) await upkeep.checkMerkle({ treesOnly: true });
        return false;
      },
    },
  };
};
