/**
 * The sys processes that serve this cluster. Processes that share a store announce themselves to
 * each other; a sealed or silent process is not listed.
 */

import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import type { PeriodicWork } from '@keelson/locks';
import { collection, type Store } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

const echoRecordShape = Type.Object({
  hostname: Type.String(),
  /** Version of the software. */
  version: Type.String(),
  atMs: Type.Number(),
});
type EchoRecord = Shaped<typeof echoRecordShape>;

/** Keys: random ids, one per process. */
const echoRecords = collection('replicas', {
  scope: 'node',
  version: 1,
  keys: 'paths',
  shape: echoRecordShape,
});

export interface Node {
  readonly hostname: string;
  readonly version: string;
  /** Time of its last announcement; undefined for this process. */
  readonly lastEchoMs: number | undefined;
}

export interface Nodes {
  /** This process comes first. */
  list(): Promise<readonly Node[]>;
  /** The announcements of a process that shares its store. */
  readonly echoing: PeriodicWork;
}

const ECHO_EVERY_MS = 10_000;
const SILENT_AFTER_MS = 30_000;

export const createNodes = ({
  store,
  clock,
  hostname,
  version,
}: {
  /** Not guarded by the replication gate: the records belong to the node. */
  readonly store: Store;
  readonly clock: Clock;
  readonly hostname: string;
  readonly version: string;
}): Nodes => {
  const own = randomUUID();
  const isSilent = ({ atMs }: EchoRecord): boolean => clock.nowMs() - atMs > SILENT_AFTER_MS;

  const echo = async (): Promise<boolean> => {
    const silent = (await echoRecords.entries(store)).filter(([, record]) => isSilent(record));
    await store.transact((tx) => {
      for (const [id] of silent) echoRecords.delete(tx, id);
      echoRecords.write(tx, own, { hostname, version, atMs: clock.nowMs() });
    });
    return false;
  };

  return {
    list: async () => {
      const others = (await echoRecords.entries(store)).filter(
        ([id, record]) => id !== own && !isSilent(record),
      );
      return [
        { hostname, version, lastEchoMs: undefined },
        ...others.map(([, { atMs, ...other }]) => ({ ...other, lastEchoMs: atMs })),
      ];
    },
    echoing: { everyMs: ECHO_EVERY_MS, inEveryReplica: true, round: echo },
  };
};
