/**
 * Validates challenges: immediately those requested from this replica, later those due for a retry,
 * and those left behind by a replica that failed.
 */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import { Wakeup } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { Store } from '@keelson/storage';
import type { PkiCounters } from '../../metrics/counters.ts';
import {
  type AttemptOutcome,
  type ClaimedChallenge,
  nextChallenges,
  recordOutcome,
  releaseChallenge,
  type TriedChallenge,
} from '../authorizations/challenge-operations.ts';
import { attemptLimitMs, delayBeforeRetry } from '../authorizations/domain/attempt-schedule.ts';
import type { Attempts } from '../authorizations/first-attempts.ts';
import { type ValidationSettings } from './challenge-attempt.ts';
import type { ChallengeOutcome } from './challenge-validation.ts';
import type { OpenValidation, Validate } from './validate-on-thread.ts';
import { TIMEOUTS_MS } from './validation-settings.ts';
import { type SlotLimits, type SlotUse, ValidationSlots } from './validation-slots.ts';

/** Interval at which the worker looks for entries that another replica left behind. */
const POLL_MS = 15_000;

/** Maximum number of claimed challenges that wait for a slot; further ones are released. */
const WAITING_LIMIT = 1000;

const LIMITS: SlotLimits = { total: 64, perMount: 48, perAccount: 16, perHost: 4 };

export interface ValidationParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns the current mounts; none while sealed. */
  readonly mounts: () => readonly MountScope[];
  readonly counters: Pick<PkiCounters, 'acmeChallengesFailed'>;
  readonly openValidation: OpenValidation;
  readonly settingsOf: (mount: MountScope) => Promise<ValidationSettings>;
  /** URL of the account as known to its owner; some challenge types need it. */
  readonly accountUrl: (mount: MountScope, challenge: TriedChallenge) => Promise<string>;
}

interface Work {
  readonly mount: MountScope;
  readonly challenge: ClaimedChallenge;
}

const slotOf = ({
  mount,
  challenge,
}: {
  readonly mount: MountScope;
  readonly challenge: TriedChallenge;
}): SlotUse => ({
  mount: mount.uuid,
  accountId: challenge.accountId,
  host: challenge.identifier.value,
});

const toAttemptOutcome = (
  outcome: ChallengeOutcome,
  trying: { readonly attempts: number; readonly triedSinceMs: number },
  nowMs: number,
): AttemptOutcome => {
  if (outcome.kind === 'valid') return outcome;
  const { problem } = outcome;
  const delayMs =
    outcome.kind === 'retry' ? delayBeforeRetry(problem.type, trying, nowMs) : undefined;
  return delayMs === undefined
    ? { kind: 'invalid', problem }
    : {
        kind: 'retry',
        problem,
        retryAtMs: nowMs + delayMs,
        triedSinceMs: trying.triedSinceMs,
      };
};

export class ValidationWorker implements Attempts {
  readonly #parts: ValidationParts;
  readonly #slots = new ValidationSlots(LIMITS);
  readonly #wakeup = new Wakeup();
  readonly #stopping = new AbortController();
  readonly #validate: Validate;
  readonly #underWay = new Set<Promise<void>>();
  /** Claimed challenges that wait for a slot. */
  #waiting: Work[] = [];
  /** Mounts to check, and when. */
  #due: { readonly atMs: number; readonly mount: MountScope }[] = [];
  /** Mounts that may have more challenges than slots were free. */
  readonly #unfinished = new Map<string, MountScope>();
  #pollAtMs: number;

  constructor(parts: ValidationParts) {
    this.#parts = parts;
    this.#validate = parts.openValidation(this.#stopping.signal);
    this.#pollAtMs = parts.clock.nowMs();
  }

  tryNow(
    mount: MountScope,
    challenge: TriedChallenge,
    record: (outcome: AttemptOutcome | undefined) => Promise<void>,
  ): boolean {
    if (this.#stopping.signal.aborted || !this.#slots.take(slotOf({ mount, challenge })))
      return false;
    this.#begin(mount, challenge, record);
    return true;
  }

  take(mount: MountScope, challenge: ClaimedChallenge): void {
    const work = { mount, challenge };
    if (this.#slots.take(slotOf(work))) this.#beginClaimed(work);
    else if (this.#waiting.length < WAITING_LIMIT) this.#waiting.push(work);
    else {
      this.#unfinished.set(mount.uuid, mount);
      void this.#release(work);
    }
  }

  /** Looks for work now, because the mounts have changed. */
  wake(): void {
    this.#pollAtMs = this.#parts.clock.nowMs();
    this.#wakeup.notify();
  }

  /** Runs until `signal` aborts, then releases challenges in progress. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    signal.addEventListener('abort', () => this.#stopping.abort(signal.reason), { once: true });
    while (!signal.aborted) {
      await this.#lookForWork();
      const nextMs = this.#due.reduce((first, { atMs }) => Math.min(first, atMs), this.#pollAtMs);
      const delayMs = nextMs - clock.nowMs();
      if (delayMs > 0) await this.#wakeup.pause(clock, delayMs, signal);
    }
    const left = this.#waiting;
    this.#waiting = [];
    await Promise.all([...this.#underWay, ...left.map((work) => this.#release(work))]);
  }

  #lookAt(mount: MountScope, atMs: number): void {
    this.#due.push({ atMs, mount });
    this.#wakeup.notify();
  }

  async #release({ mount, challenge }: Work): Promise<void> {
    try {
      await releaseChallenge(this.#parts, mount, challenge);
    } catch (err) {
      // The claim expires by itself.
      this.#parts.logger.warn({ err, mount: mount.uuid }, 'a challenge was not released');
    }
  }

  async #attempt(
    mount: MountScope,
    challenge: TriedChallenge,
  ): Promise<AttemptOutcome | undefined> {
    const { clock, logger, accountUrl, settingsOf } = this.#parts;
    const { type, identifier, wildcard, token, keyAuthorization, attempts } = challenge;
    const begunAtMs = clock.nowMs();
    const triedSinceMs = challenge.triedSinceMs ?? begunAtMs;
    try {
      const url = type === 'dns-account-01' ? await accountUrl(mount, challenge) : '';
      const settings = await settingsOf(mount);
      const { connect, attempt: wholeAttemptMs } = settings.timeoutsMs;
      const limitMs = attemptLimitMs(challenge, wholeAttemptMs, begunAtMs);
      const outcome = await this.#validate(
        { type, identifier, wildcard, token, keyAuthorization, accountUrl: url },
        { ...settings, timeoutsMs: { connect, attempt: limitMs } },
      );
      const attempted = toAttemptOutcome(outcome, { attempts, triedSinceMs }, clock.nowMs());
      if (attempted.kind === 'invalid') this.#parts.counters.acmeChallengesFailed.inc();
      return attempted;
    } catch (err) {
      if (!this.#stopping.signal.aborted)
        logger.error({ err, mount: mount.uuid }, 'a challenge was not validated');
      return undefined;
    }
  }

  /** Makes an attempt whose slot has been taken. */
  #begin(
    mount: MountScope,
    challenge: TriedChallenge,
    record: (outcome: AttemptOutcome | undefined) => Promise<void>,
  ): void {
    const { clock, logger } = this.#parts;
    const run = async (): Promise<void> => {
      const outcome = await this.#attempt(mount, challenge);
      try {
        await record(outcome);
        if (outcome?.kind === 'retry') this.#lookAt(mount, outcome.retryAtMs);
      } catch (err) {
        // The claim expires by itself.
        logger.warn({ err, mount: mount.uuid }, 'the outcome of a challenge was not recorded');
      }
      this.#slots.release(slotOf({ mount, challenge }));
      this.#underWay.delete(ended);
      this.#beginWaiting();
      for (const other of this.#unfinished.values()) this.#lookAt(other, clock.nowMs());
      this.#unfinished.clear();
    };
    const ended = run();
    this.#underWay.add(ended);
  }

  #beginClaimed({ mount, challenge }: Work): void {
    this.#begin(mount, challenge, async (outcome) => {
      if (outcome !== undefined) await recordOutcome(this.#parts, mount, challenge, outcome);
      // After a failure of this service, the next attempt waits until the claim expires.
      else if (this.#stopping.signal.aborted) await releaseChallenge(this.#parts, mount, challenge);
    });
  }

  #beginWaiting(): void {
    const lastStartMs = this.#parts.clock.nowMs() + TIMEOUTS_MS.attempt;
    this.#waiting = this.#waiting.filter((work) => {
      const { claimedUntilMs } = work.challenge;
      // The claim would expire during the attempt, so the challenge is claimed again afterwards.
      if (claimedUntilMs < lastStartMs) this.#lookAt(work.mount, claimedUntilMs);
      else if (!this.#stopping.signal.aborted && this.#slots.take(slotOf(work)))
        this.#beginClaimed(work);
      else return true;
      return false;
    });
  }

  async #claimDue(mount: MountScope): Promise<void> {
    const { busyAccounts } = this.#slots;
    const free = this.#slots.freeOf(mount.uuid);
    if (free > 0) {
      const claimed = await nextChallenges(this.#parts, mount, { count: free, busyAccounts });
      for (const challenge of claimed) this.take(mount, challenge);
      if (claimed.length < free && busyAccounts.size === 0) return;
    }
    this.#unfinished.set(mount.uuid, mount);
  }

  /** Mounts that are due; all mounts when it is time to poll. */
  #mountsToLookAt(): Iterable<MountScope> {
    const nowMs = this.#parts.clock.nowMs();
    const dueNow = this.#due.filter(({ atMs }) => atMs <= nowMs);
    this.#due = this.#due.filter(({ atMs }) => atMs > nowMs);
    if (this.#pollAtMs > nowMs)
      return new Map(dueNow.map(({ mount }) => [mount.uuid, mount])).values();
    this.#pollAtMs = nowMs + POLL_MS;
    return this.#parts.mounts();
  }

  async #lookForWork(): Promise<void> {
    for (const mount of this.#mountsToLookAt())
      try {
        await this.#claimDue(mount);
      } catch (err) {
        this.#parts.logger.error(
          { err, mount: mount.uuid },
          'the search for pending challenges failed',
        );
      }
  }
}
