/** Counts failed logins with passwords and secret ids, and refuses logins of locked users. */
import { hash, randomInt } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import type { RecordCollection, Store, Transaction } from '@keelson/storage';
import { afterFailure, isForgotten, isLocked, type Lockout, type UserLockout } from './lockout.ts';

export interface LockoutParts {
  readonly store: Store;
  readonly clock: Clock;
  /** By the digest of the name of the user. */
  readonly records: RecordCollection<Lockout>;
  readonly settings: UserLockout;
  /** Throws the error for a login of a locked user. */
  readonly refuse: (this: void) => never;
  /** Names that are remembered; `REMEMBERED_NAMES` if absent. */
  readonly capacity?: number | undefined;
}

/**
 * Names with failed logins. More than these are a flood, in which a name with the fewest failures is forgotten, of
 * several the one whose last failure is the oldest, whether or not a user has it, so that nobody learns that from what a
 * flood leaves. A flood of other names therefore unlocks nobody, and brings nobody further from a lock, unless it has
 * first locked so many names itself, with five times as many failures, which hold for the time of a lock. From then on
 * it gains about eight guesses for so many failures, where five would be gained if the oldest name were forgotten: that
 * is more only in floods of 240 failures in a second, which the hashes of passwords do not let pass.
 */
const REMEMBERED_NAMES = 16_384;

/** New names between two looks at how many there are, as a part of the capacity. */
const LOOKS = 16;

const keyOf = (name: string): string => hash('sha256', name);

/** The failed logins of one place, such as a mount. */
export class Lockouts {
  readonly #parts: LockoutParts;

  constructor(parts: LockoutParts) {
    this.#parts = parts;
  }

  /** Removes failures that count no more, and of those that are too many the fewest and oldest. */
  async tidy(): Promise<void> {
    const { store, clock, records, settings } = this.#parts;
    const nowMs = clock.nowMs();
    const [forgotten, kept] = [[] as string[], [] as (readonly [string, Lockout])[]];
    for (const [key, lockout] of await records.entries(store))
      if (isForgotten(lockout, settings, nowMs)) forgotten.push(key);
      else kept.push([key, lockout]);
    const tooMany = kept
      .toSorted(
        ([, left], [, right]) =>
          left.failures - right.failures || left.lastFailureMs - right.lastFailureMs,
      )
      .slice(0, Math.max(0, kept.length - this.#capacity))
      .map(([key]) => key);
    if (forgotten.length + tooMany.length === 0) return;
    await store.transact((tx) => {
      for (const key of [...forgotten, ...tooMany]) records.delete(tx, key);
      return Promise.resolve();
    });
  }

  /**
   * Verifies a login unless the user is locked. Names that no user has are counted as well, so that neither the answer
   * nor the work says which users exist.
   * @param name of the alias that the login would have
   * @param verify yields undefined if the credentials are wrong, and throws if they could not be verified, which is no
   *   failure of the user
   * @param isRandom whether nobody can guess the credentials, so that right ones prove themselves even when failures at
   *   the same time have locked the user
   * @returns undefined if the credentials are wrong
   */
  async verifyUnlessLocked<T>(
    name: string,
    verify: () => Promise<T | undefined>,
    { isRandom = false }: { readonly isRandom?: boolean } = {},
  ): Promise<T | undefined> {
    const { store, clock, records, settings, refuse } = this.#parts;
    if (settings.disabled) return verify();
    const key = keyOf(name);
    const current = () => records.find(store, key);
    if (isLocked(await current(), settings, clock.nowMs())) return refuse();
    const login = await verify();
    if (login === undefined) {
      await this.#countFailure(name);
      return undefined;
    }
    // Guesses that were under way at the same time may have locked the user.
    const before = await current();
    if (isLocked(before, settings, clock.nowMs())) return isRandom ? login : refuse();
    if (before !== undefined) await this.unlock(name);
    return login;
  }

  /** Names of the users that are locked, sorted. */
  async listLocked(): Promise<string[]> {
    const { store, clock, records, settings } = this.#parts;
    const nowMs = clock.nowMs();
    if (settings.disabled) return [];
    return (await records.entries(store))
      .flatMap(([, lockout]) => (isLocked(lockout, settings, nowMs) ? [lockout.name] : []))
      .toSorted();
  }

  /** Forgets the failures of a user, in the transaction that removes it for instance. */
  forget(tx: Transaction, name: string): void {
    this.#parts.records.delete(tx, keyOf(name));
  }

  /** Succeeds also for a user that is not locked. */
  unlock(name: string): Promise<void> {
    return this.#parts.store.transact((tx) => {
      this.forget(tx, name);
      return Promise.resolve();
    });
  }

  get #capacity(): number {
    return this.#parts.capacity ?? REMEMBERED_NAMES;
  }

  /** Looking costs as much as there are names, so that only some new names do it, which nobody can choose. */
  #isTimeToLook(): boolean {
    return randomInt(Math.ceil(this.#capacity / LOOKS)) === 0;
  }

  async #countFailure(name: string): Promise<void> {
    const { store, clock, records, settings, refuse } = this.#parts;
    const key = keyOf(name);
    const isNew = await store.transact(async (tx) => {
      const nowMs = clock.nowMs();
      const before = await records.find(tx, key);
      if (isLocked(before, settings, nowMs)) refuse();
      records.write(tx, [key], afterFailure(before, settings, { name, nowMs }));
      return before === undefined;
    });
    if (isNew && this.#isTimeToLook()) await this.tidy();
  }
}
