/** The versions of Keelson that have run on this cluster, from the first that recorded itself. */

import type { Clock } from '@keelson/clock';
import type { PeriodicWork } from '@keelson/locks';
import { collection, type Store } from '@keelson/storage';
import { Type } from 'typebox';

/** Keys: versions. */
const versionRecords = collection('versions', {
  scope: 'node',
  version: 1,
  keys: 'paths',
  shape: Type.Object({ installedAtMs: Type.Number() }),
});

export interface InstalledVersion {
  readonly version: string;
  readonly installedAtMs: number;
  /** Undefined for the first. */
  readonly previous: string | undefined;
}

export interface VersionHistory {
  /** In the order in which they ran first. */
  list(): Promise<readonly InstalledVersion[]>;
  /** Records the version of this process. */
  readonly recording: PeriodicWork;
}

const RECORD_EVERY_MS = 3_600_000;

export const createVersionHistory = ({
  store,
  clock,
  version,
}: {
  /** Not guarded by the replication gate: the records belong to the node. */
  readonly store: Store;
  readonly clock: Clock;
  readonly version: string;
}): VersionHistory => ({
  list: async () => {
    const entries = await versionRecords.entries(store);
    const ordered = entries.toSorted(([, a], [, b]) => a.installedAtMs - b.installedAtMs);
    return ordered.map(([name, { installedAtMs }], at) => ({
      version: name,
      installedAtMs,
      previous: ordered[at - 1]?.[0],
    }));
  },
  recording: {
    everyMs: RECORD_EVERY_MS,
    round: async () => {
      if ((await versionRecords.find(store, version)) !== undefined) return false;
      await store.transact(async (tx) => {
        if ((await versionRecords.find(tx, version)) === undefined)
          versionRecords.write(tx, version, { installedAtMs: clock.nowMs() });
      });
      return false;
    },
  },
});
