/**
 * Validates challenges: at once those that this replica was asked for, later those that are to be tried
 * again, and those that a replica left behind when it ended.
 */
import type { Clock } from '@keelson/clock';
import { Wakeup } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { Store } from '@keelson/storage';
import type { MountScope } from '../../mounts/mount-records.ts';
import {
  type AttemptOutcome,
  type ClaimedChallenge,
  nextChallenges,
  recordOutcome,
  releaseChallenge,
  type TriedChallenge,
} from '../authorizations/challenge-operations.ts';
import type { Attempts } from '../authorizations/first-attempts.ts';
import { attemptLimitMs, delayBeforeRetry } from '../domain/attempt-schedule.ts';
import type { ChallengeOutcome, ValidationSettings } from './challenge-validation.ts';
import { TIMEOUTS_MS } from './validation-settings.ts';
import { type SlotLimits, type SlotUse, ValidationSlots } from './validation-slots.ts';
import type { OpenValidation } from './validation-threads.ts';

/** How often entries are looked for that another replica left behind. */
const POLL_MS = 15_000;

/** Of claimed challenges without a slot; above it they are given back. */
const WAITING_LIMIT = 1000;

const LIMITS: SlotLimits = { total: 64, perAccount: 16, perHost: 4 };

export interface ValidationParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Mounts as of now; none while sealed. */
  readonly mounts: () => readonly MountScope[];
  readonly openValidation: OpenValidation;
  readonly settingsOf: (mount: MountScope) => Promise<ValidationSettings>;
  /** As the account's owner knows it; asked for where the challenge is about it. */
  readonly accountUrl: (mount: MountScope, challenge: TriedChallenge) => Promise<string>;
}

export interface ValidationWorker extends Attempts {
  /** Looks for work now: the mounts have changed. */
  wake(): void;
  /** Runs until `signal` aborts, then gives back what is under way. */
  run(signal: AbortSignal): Promise<void>;
}

interface Work {
  readonly mount: MountScope;
  readonly challenge: ClaimedChallenge;
}

const slotOf = ({ challenge }: { readonly challenge: TriedChallenge }): SlotUse => ({
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

export const createValidationWorker = (parts: ValidationParts): ValidationWorker => {
  const { store, clock, logger } = parts;
  const slots = new ValidationSlots(LIMITS);
  const wakeup = new Wakeup();
  const stopping = new AbortController();
  const validate = parts.openValidation(stopping.signal);
  const underWay = new Set<Promise<void>>();
  /** Claimed, without a slot. */
  let waiting: Work[] = [];
  /** When which mounts are to be looked at. */
  let due: { readonly atMs: number; readonly mount: MountScope }[] = [];
  /** Mounts that may have more than there were slots for. */
  const unfinished = new Map<string, MountScope>();
  let pollAtMs = clock.nowMs();

  const lookAt = (mount: MountScope, atMs: number): void => {
    due.push({ atMs, mount });
    wakeup.ring();
  };

  const giveBack = async ({ mount, challenge }: Work): Promise<void> => {
    try {
      await releaseChallenge({ store, clock }, mount, challenge);
    } catch (error) {
      // The claim ends by itself.
      logger.warn({ err: error, mount: mount.uuid }, 'a challenge was not given back');
    }
  };

  const attempt = async (
    mount: MountScope,
    challenge: TriedChallenge,
  ): Promise<AttemptOutcome | undefined> => {
    const { type, identifier, wildcard, token, keyAuthorization, attempts } = challenge;
    const begunAtMs = clock.nowMs();
    const triedSinceMs = challenge.triedSinceMs ?? begunAtMs;
    try {
      const accountUrl = type === 'dns-account-01' ? await parts.accountUrl(mount, challenge) : '';
      const settings = await parts.settingsOf(mount);
      const { connect, attempt: wholeAttemptMs } = settings.timeoutsMs;
      const limitMs = attemptLimitMs(challenge, wholeAttemptMs, begunAtMs);
      const outcome = await validate(
        { type, identifier, wildcard, token, keyAuthorization, accountUrl },
        { ...settings, timeoutsMs: { connect, attempt: limitMs } },
      );
      return toAttemptOutcome(outcome, { attempts, triedSinceMs }, clock.nowMs());
    } catch (error) {
      if (!stopping.signal.aborted)
        logger.error({ err: error, mount: mount.uuid }, 'a challenge was not validated');
      return undefined;
    }
  };

  /** Makes an attempt for which a slot was taken. */
  const begin = (
    mount: MountScope,
    challenge: TriedChallenge,
    record: (outcome: AttemptOutcome | undefined) => Promise<void>,
  ): void => {
    const run = async (): Promise<void> => {
      const outcome = await attempt(mount, challenge);
      try {
        await record(outcome);
        if (outcome?.kind === 'retry') lookAt(mount, outcome.retryAtMs);
      } catch (error) {
        // A claim ends by itself.
        logger.warn({ err: error, mount: mount.uuid }, 'what came of a challenge was not recorded');
      }
      slots.release(slotOf({ challenge }));
      underWay.delete(ended);
      beginWaiting();
      for (const other of unfinished.values()) lookAt(other, clock.nowMs());
      unfinished.clear();
    };
    const ended = run();
    underWay.add(ended);
  };

  const beginClaimed = ({ mount, challenge }: Work): void =>
    begin(mount, challenge, async (outcome) => {
      if (outcome === undefined) await releaseChallenge({ store, clock }, mount, challenge);
      else await recordOutcome({ store, clock }, mount, challenge, outcome);
    });

  const beginWaiting = (): void => {
    const lastStartMs = clock.nowMs() + TIMEOUTS_MS.attempt;
    waiting = waiting.filter((work) => {
      const { claimedUntilMs } = work.challenge;
      // The claim would end during the attempt.
      if (claimedUntilMs < lastStartMs) lookAt(work.mount, claimedUntilMs);
      else if (!stopping.signal.aborted && slots.take(slotOf(work))) beginClaimed(work);
      else return true;
      return false;
    });
  };

  const take = (work: Work): void => {
    if (slots.take(slotOf(work))) beginClaimed(work);
    else if (waiting.length < WAITING_LIMIT) waiting.push(work);
    else {
      unfinished.set(work.mount.uuid, work.mount);
      void giveBack(work);
    }
  };

  const claimDue = async (mount: MountScope): Promise<void> => {
    const { free, busyAccounts } = slots;
    if (free > 0) {
      const limits = { count: free, busyAccounts };
      const claimed = await nextChallenges({ store, clock }, mount, limits);
      for (const challenge of claimed) take({ mount, challenge });
      if (claimed.length < free && busyAccounts.size === 0) return;
    }
    unfinished.set(mount.uuid, mount);
  };

  /** Mounts whose time has come; all of them when it is time to poll. */
  const mountsToLookAt = (): Iterable<MountScope> => {
    const nowMs = clock.nowMs();
    const dueNow = due.filter(({ atMs }) => atMs <= nowMs);
    due = due.filter(({ atMs }) => atMs > nowMs);
    if (pollAtMs > nowMs) return new Map(dueNow.map(({ mount }) => [mount.uuid, mount])).values();
    pollAtMs = nowMs + POLL_MS;
    return parts.mounts();
  };

  const lookForWork = async (): Promise<void> => {
    for (const mount of mountsToLookAt())
      try {
        await claimDue(mount);
      } catch (error) {
        logger.error({ err: error, mount: mount.uuid }, 'challenges were not looked for');
      }
  };

  return {
    tryNow: (mount, challenge, record) => {
      if (stopping.signal.aborted || !slots.take(slotOf({ challenge }))) return false;
      begin(mount, challenge, record);
      return true;
    },
    take: (mount, challenge) => take({ mount, challenge }),
    wake: () => {
      pollAtMs = clock.nowMs();
      wakeup.ring();
    },
    run: async (signal) => {
      signal.addEventListener('abort', () => stopping.abort(signal.reason), { once: true });
      while (!signal.aborted) {
        await lookForWork();
        const nextMs = due.reduce((first, { atMs }) => Math.min(first, atMs), pollAtMs);
        const delayMs = nextMs - clock.nowMs();
        if (delayMs > 0) await wakeup.pause(clock, delayMs, signal);
      }
      const left = waiting;
      waiting = [];
      await Promise.all([...underWay, ...left.map(giveBack)]);
    },
  };
};
