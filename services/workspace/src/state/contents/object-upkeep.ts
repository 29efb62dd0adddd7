/**
 * Keeps the object storage in step with the index. A primary removes objects that nothing refers to, such as
 * those written after the snapshot that was restored. A secondary with a storage of its own copies what its
 * primary refers to, and removes the rest likewise.
 */
import type { Clock } from '@keelson/clock';
import { hasCode } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import { Gauge, type MetricsRegistry } from '@keelson/metrics';
import { MAX_LISTED, type ObjectStorage } from '@keelson/objects';
import type { Store } from '@keelson/storage';
import { digestOf, type FindElsewhere } from './object-bodies.ts';
import { compareWithIndex, isKnown, objectsOf } from './object-index.ts';
import { ownsObjects } from './object-owner.ts';
import { stateContents } from './state-content-records.ts';

export interface ObjectUpkeepParts {
  readonly store: Store;
  readonly storage: ObjectStorage;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: MetricsRegistry;
  readonly keepMs: number;
  /** Whether another cluster owns the records. */
  readonly isSecondary: () => boolean;
  /** Whether all clusters of the set use this storage, so that only the primary removes objects. */
  readonly isShared: boolean;
  readonly findElsewhere: FindElsewhere;
}

export interface ObjectUpkeep {
  /** Compares everything; run at the beginning of each turn and a few times a day. */
  compare(): Promise<void>;
  /** Copies the objects of contents that changed since the last round, and those missing before. */
  copyChanged(): Promise<void>;
}

const COPIES_AT_ONCE = 4;
/** A round is a second; those that the primary lacks, too, are asked for again and again. */
const COPIES_PER_ROUND = 200;
const CONTENTS = stateContents.path('');

/** Ids of the contents that changed after entry `from` of the log. @throws KeelsonError `storage.wal_pruned` */
async function* changedContents(store: Store, from: number, head: number): AsyncGenerator<string> {
  if (head <= from) return;
  for await (const { sequence, operations } of store.wal.follow(
    from,
    new AbortController().signal,
  )) {
    for (const { path, stored } of operations)
      if (stored !== undefined && path.startsWith(CONTENTS)) yield path.slice(CONTENTS.length);
    if (sequence >= head) return;
  }
}

export const createObjectUpkeep = (parts: ObjectUpkeepParts): ObjectUpkeep => {
  const { store, storage, clock, logger, keepMs } = parts;
  /** Digests of objects that the index names and the storage lacks, by key. */
  let missing = new Map<string, string>();
  /** End of the log up to which objects were looked for; undefined if everything must be compared. */
  let position: number | undefined;
  const gauge = new Gauge({
    name: 'keelson_objects_missing',
    help: 'Objects that records refer to and that the object storage of this cluster lacks.',
    // One thread at a time looks for them.
    aggregator: 'max',
    registers: [parts.registry],
  });
  const note = (): void => gauge.set(missing.size);

  const removeUnknown = async (keys: readonly string[]): Promise<void> => {
    const unknown: string[] = [];
    // Again, just before: an upload may have ended since the comparison.
    for (const key of keys) if (!(await isKnown(store, key))) unknown.push(key);
    await storage.delete(unknown);
    if (unknown.length > 0)
      logger.info({ objects: unknown.length }, 'objects without a reference were removed');
  };

  const copy = async (key: string, digest: string): Promise<void> => {
    const stored = await parts.findElsewhere(key, digest);
    const isWhole = stored !== undefined && digestOf(stored) === digest;
    if (isWhole) await storage.put(key, stored);
    missing.delete(key);
    // Again after the others, unless its content was removed meanwhile.
    if (!isWhole && (await isKnown(store, key))) missing.set(key, digest);
    note();
  };

  const copyMissing = async (): Promise<void> => {
    const waiting = [...missing].slice(0, COPIES_PER_ROUND);
    for (let at = 0; at < waiting.length; at += COPIES_AT_ONCE)
      await Promise.all(
        waiting.slice(at, at + COPIES_AT_ONCE).map(([key, digest]) => copy(key, digest)),
      );
  };

  const compare = async (): Promise<void> => {
    const head = await store.wal.headSequence();
    const found = new Map<string, string>();
    let removable: string[] = [];
    const isSecondary = parts.isSecondary();
    const isOwner = await ownsObjects(store, storage, isSecondary);
    if (!isOwner && !isSecondary)
      logger.warn(
        { place: storage.place },
        'the objects in this place belong to other records, so none is removed (docs/object-storage.md)',
      );
    const mayRemove = isOwner && !(parts.isShared && isSecondary);
    for await (const difference of compareWithIndex(store, storage)) {
      if ('missing' in difference) found.set(difference.missing.key, difference.missing.digest);
      else if (mayRemove && difference.unexpected.modifiedAtMs < clock.nowMs() - keepMs)
        removable.push(difference.unexpected.key);
      if (removable.length === MAX_LISTED) {
        await removeUnknown(removable);
        removable = [];
      }
    }
    await removeUnknown(removable);
    missing = isSecondary ? found : new Map();
    // A content may have been stored, or removed, while both were read.
    for (const [key, digest] of isSecondary ? [] : found)
      if ((await isKnown(store, key)) && (await storage.list(key, { limit: 1 })).length === 0)
        missing.set(key, digest);
    position = head;
    note();
    const [example] = missing.keys();
    if (example !== undefined && !parts.isSecondary())
      logger.error(
        { objects: missing.size, example },
        'the object storage lacks objects that records refer to (docs/backup.md)',
      );
  };

  return {
    compare,
    copyChanged: async () => {
      if (parts.isShared || !parts.isSecondary()) return;
      if (position === undefined) await compare();
      const head = await store.wal.headSequence();
      try {
        for await (const id of changedContents(store, position ?? 0, head))
          for (const { key, digest } of await objectsOf(store, id)) missing.set(key, digest);
        position = head;
      } catch (error) {
        if (!hasCode(error, 'storage.wal_pruned')) throw error;
        position = undefined;
      }
      note();
      await copyMissing();
    },
  };
};
