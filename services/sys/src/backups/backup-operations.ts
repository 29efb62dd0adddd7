/** Scheduled backups: stores snapshots in a folder or object storage, and removes old ones. */
import { createHash } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { PeriodicWork, RoundOptions } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import { listAll, type ObjectStorage } from '@keelson/objects';
import { backupTimeOf, toBackupName } from '@keelson/objects/backup-names';
import type { Store } from '@keelson/storage';
import type { Snapshots } from '../snapshots/snapshot-operations.ts';
import { type BackupOutcomes, type BackupSuccess, backupOutcomes } from './backup-records.ts';
import {
  type BackupPolicy,
  nextBackupMs,
  type RetainedBackup,
  removableBackups,
} from './domain/backup-schedule.ts';

const LOOK_EVERY_MS = 15_000;

export interface ScheduledBackups {
  readonly policy: BackupPolicy;
  readonly storage: ObjectStorage;
  /** Prefix of the object names. */
  readonly prefix: string;
}

export interface BackupContext {
  /** Undefined when no backups are scheduled. */
  readonly scheduled: ScheduledBackups | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly snapshots: Pick<Snapshots, 'take'>;
}

/** Outcomes so far. */
export const loadOutcomes = async ({
  store,
}: Pick<BackupContext, 'store'>): Promise<BackupOutcomes> =>
  (await backupOutcomes.find(store)) ?? {};

/** Yields the chunks unchanged, and adds them to the hash. */
async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

const digestOf = async (chunks: AsyncIterable<Uint8Array>): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
};

/** Stores a snapshot, and reads it back to verify it. */
const storeSnapshot = async (
  { snapshots, clock }: BackupContext,
  { storage, prefix }: ScheduledBackups,
): Promise<BackupSuccess> => {
  const atMs = clock.nowMs();
  const key = `${prefix}${toBackupName(atMs)}`;
  const ending = new AbortController();
  try {
    const hash = createHash('sha256');
    const chunks = hashed(await snapshots.take(ending.signal), hash);
    const sizeBytes = await storage.putStream(key, chunks);
    const sha256 = hash.digest('hex');
    const stored = await storage.getStream(key);
    if (stored === undefined || (await digestOf(stored)) !== sha256) {
      await storage.delete([key]);
      throw new KeelsonError('objects.damaged', { key });
    }
    await storage.put(`${key}.sha256`, Buffer.from(`${sha256}  ${key.slice(prefix.length)}\n`));
    return { atMs, key, sizeBytes, sha256 };
  } finally {
    ending.abort();
  }
};

const removeOld = async (
  { clock }: BackupContext,
  { storage, prefix, policy }: ScheduledBackups,
): Promise<void> => {
  const kept: RetainedBackup[] = [];
  for await (const { key } of listAll(storage, prefix)) {
    // No other object is ever removed.
    const takenAtMs = backupTimeOf(key.slice(prefix.length));
    if (takenAtMs !== undefined) kept.push({ key, takenAtMs });
  }
  for (const { key } of removableBackups(kept, policy, clock.nowMs()))
    await storage.delete([`${key}.sha256`, key]);
};

const note = (
  { store }: BackupContext,
  outcome: BackupOutcomes,
  options: RoundOptions,
): Promise<void> =>
  store.transact(async (tx) => {
    const known = await backupOutcomes.find(tx);
    backupOutcomes.write(tx, { ...known, ...outcome });
  }, options);

/** Takes the backup that is due, if any. */
const takeWhenDue = async (
  context: BackupContext,
  scheduled: ScheduledBackups,
  options: RoundOptions,
): Promise<void> => {
  const { clock, logger } = context;
  const { success, failure } = await loadOutcomes(context);
  const times = { succeededAtMs: success?.atMs, failedAtMs: failure?.atMs };
  if (clock.nowMs() < nextBackupMs(scheduled.policy, times)) return;
  try {
    const taken = await storeSnapshot(context, scheduled);
    await note(context, { success: taken }, options);
    const { key: name, sizeBytes } = taken;
    logger.info({ place: scheduled.storage.place, name, sizeBytes }, 'a backup was stored');
    await removeOld(context, scheduled);
  } catch (error) {
    logger.error({ err: error, place: scheduled.storage.place }, 'the backup failed');
    const reason = KeelsonError.from(error).message;
    await note(context, { failure: { atMs: clock.nowMs(), reason } }, options);
  }
};

/** The periodic work by name; empty without a schedule. */
export const backupWork = (context: BackupContext): Readonly<Record<string, PeriodicWork>> => {
  const { scheduled } = context;
  if (scheduled === undefined) return {};
  return {
    backups: {
      everyMs: LOOK_EVERY_MS,
      round: async (options) => {
        await takeWhenDue(context, scheduled, options);
        return false;
      },
    },
  };
};

/** Messages for operators when the newest attempt failed. */
export const backupImpairments = async (context: BackupContext): Promise<readonly string[]> => {
  if (context.scheduled === undefined) return [];
  const { success, failure } = await loadOutcomes(context);
  if (failure === undefined || failure.atMs < (success?.atMs ?? 0)) return [];
  const last =
    success === undefined
      ? 'there is no backup yet'
      : `the last one was taken at ${new Date(success.atMs).toISOString()}`;
  return [
    `the backup of ${new Date(failure.atMs).toISOString()} failed (${failure.reason}); ${last}`,
  ];
};
