/**
 * The log that a service follows and its position, as known without asking the primary. The record
 * is valid only for the link under which it was written, because between two links the store may
 * have been emptied or changed.
 */
import { type Clock, pause } from '@keelson/clock';
import type { Fence, Store } from '@keelson/storage';
import type { ReplicationKind } from '../domain/crossing.ts';
import { findLogEnd } from '../primary/log-end.ts';
import {
  type FollowedRecord,
  findFollowed,
  type LogPosition,
  writeFollowed,
} from '../primary/previous-logs.ts';
import { unfilteredLogOf } from '../wire/names.ts';

const FORMER_LOGS = 8;
/** With more groups, a comparison has to find the records that cross again. */
const MAX_WITHHELD_GROUPS = 1000;

export interface FollowedLogOptions {
  readonly store: Store;
  readonly service: string;
  readonly link: string;
  readonly clock: Clock;
}

export class FollowedLog {
  readonly #options: FollowedLogOptions;

  constructor(options: FollowedLogOptions) {
    this.#options = options;
  }

  async logId(): Promise<string | undefined> {
    return (await this.#find())?.logId;
  }

  /** Whether the complete log is here, because its primary was demoted and announced the end of its log. */
  async isWhole(kind: ReplicationKind): Promise<boolean> {
    const logId = await this.logId();
    const ended = await findLogEnd(this.#options.store, kind);
    return logId !== undefined && ended === unfilteredLogOf(logId);
  }

  /** The groups known to be withheld from this store. */
  async withheldGroups(): Promise<readonly string[]> {
    return (await this.#find())?.withheldGroups ?? [];
  }

  /** Whether no record of these groups was withheld from this store; false also when that is unknown. */
  async holds(isOwn: (group: string) => boolean): Promise<boolean> {
    const found = await this.#find();
    return (
      found !== undefined &&
      found.isTruncated !== true &&
      found.withheldGroups?.some(isOwn) !== true
    );
  }

  /**
   * Records that this log is followed from now on, after its records were copied.
   * @param withheldGroups groups of records that were withheld
   */
  note(logId: string, withheldGroups: readonly string[], fence: Fence): Promise<void> {
    const { store, service, link } = this.#options;
    return store.transact(
      async (tx) => {
        const before = await findFollowed(tx, service);
        const known = before === undefined ? [] : [before.logId, ...(before.former ?? [])];
        const former = known.filter((one) => one !== logId).slice(0, FORMER_LOGS);
        const withheld =
          withheldGroups.length > MAX_WITHHELD_GROUPS
            ? { isTruncated: true as const }
            : withheldGroups.length > 0 && { withheldGroups };
        writeFollowed(tx, service, { logId, link, former, ...withheld });
      },
      { fence },
    );
  }

  /** Newest entry applied, of the log as its primary numbers it; undefined before the first copy. */
  async position(): Promise<LogPosition | undefined> {
    const logId = await this.logId();
    if (logId === undefined) return undefined;
    const sequence = await this.#options.store.appliedSequence(logId);
    return { logId: unfilteredLogOf(logId), sequence };
  }

  /**
   * Waits until a replica has applied an entry. The position is read from the store.
   * @param wanted without `logId`, it refers to the followed log
   * @returns false after the time limit; true for an earlier log, which is complete
   */
  async reaches(
    wanted: { readonly sequence: number; readonly logId?: string },
    withinMs: number,
  ): Promise<boolean> {
    const { store, clock } = this.#options;
    const waiting = new AbortController();
    const watch = async (): Promise<boolean> => {
      const position = await store.wal.headSequence();
      if (await this.#hasReached(wanted)) return true;
      for await (const _ of store.wal.follow(position, waiting.signal))
        if (await this.#hasReached(wanted)) return true;
      return false;
    };
    const giveUp = pause(clock, withinMs, waiting.signal).then(() => waiting.abort());
    try {
      return await watch();
    } finally {
      waiting.abort();
      await giveUp;
    }
  }

  async #hasReached({
    sequence,
    logId,
  }: {
    readonly sequence: number;
    readonly logId?: string;
  }): Promise<boolean> {
    const followed = await this.#find();
    if (followed === undefined) return false;
    if (logId !== undefined && logId !== unfilteredLogOf(followed.logId))
      return followed.former?.some((former) => unfilteredLogOf(former) === logId) === true;
    return (await this.#options.store.appliedSequence(followed.logId)) >= sequence;
  }

  async #find(): Promise<FollowedRecord | undefined> {
    const { store, service, link } = this.#options;
    const found = await findFollowed(store, service);
    return found?.link === link ? found : undefined;
  }
}
