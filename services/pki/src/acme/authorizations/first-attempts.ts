/**
 * The first attempt at a challenge. Most succeed within milliseconds: then the client learns it at once
 * and need not ask again, which saves both sides a signature and usually a second of waiting, and the
 * outcome is the only thing that is recorded. What takes longer is put into the queue meanwhile.
 */
import type { Clock } from '@keelson/clock';
import type { Store } from '@keelson/storage';
import type { MountScope } from '../../mounts/mount-records.ts';
import type { Account } from '../accounts/domain/account.ts';
import type { Authorization } from '../orders/domain/order.ts';
import {
  type AttemptOutcome,
  type ChallengePlace,
  type ClaimedChallenge,
  describeChallenge,
  recordFirstOutcome,
  recordOutcome,
  releaseChallenge,
  type TriedChallenge,
  triggerChallenge,
} from './challenge-operations.ts';

/** Longest time that a client waits for the answer. */
const MAX_WAIT_MS = 500;

/** Makes attempts; the validation worker does. */
export interface Attempts {
  /**
   * Begins an attempt where there is a slot, else answers false.
   * @param record called once, with the outcome; undefined: the attempt was not made
   */
  tryNow(
    mount: MountScope,
    challenge: TriedChallenge,
    record: (outcome: AttemptOutcome | undefined) => Promise<void>,
  ): boolean;
  /** Makes an attempt at a challenge that this replica has claimed, when there is a slot. */
  take(mount: MountScope, challenge: ClaimedChallenge): void;
}

export interface FirstAttemptParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly attempts: Attempts;
}

export class FirstAttempts {
  readonly #parts: FirstAttemptParts;
  /** By mount and key: two requests for one challenge share an attempt. */
  readonly #underWay = new Map<string, Promise<Authorization>>();

  constructor(parts: FirstAttemptParts) {
    this.#parts = parts;
  }

  /**
   * Tries a challenge that was not started yet.
   * @returns its authorization as it is at the end of the attempt, or when that takes too long
   * @throws AcmeProblem `malformed` where it was settled meanwhile
   */
  begin(
    place: ChallengePlace,
    account: Account,
    authorization: Authorization,
  ): Promise<Authorization> {
    const { mount, orderId, authorizationIndex, type } = place;
    const key = `${mount.uuid}/${orderId}/${authorizationIndex}/${type}`;
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const described = describeChallenge(place, account, authorization);
    if (described === undefined) return Promise.resolve(authorization);
    const begun = this.#begin(place, { ...described, attempts: 0 }).finally(() =>
      this.#underWay.delete(key),
    );
    this.#underWay.set(key, begun);
    return begun;
  }

  async #begin(place: ChallengePlace, challenge: TriedChallenge): Promise<Authorization> {
    const { clock, attempts } = this.#parts;
    const shown = Promise.withResolvers<Authorization>();
    let queued: Promise<ClaimedChallenge | undefined> | undefined;
    /** Puts the challenge into the queue, and answers the client. */
    const queue = async (): Promise<ClaimedChallenge | undefined> => {
      try {
        const { authorization, claimed } = await triggerChallenge(this.#parts, place);
        shown.resolve(authorization);
        return claimed;
      } catch (error) {
        shown.reject(error);
        return undefined;
      }
    };
    const cancel = clock.after(MAX_WAIT_MS, () => {
      queued = queue();
    });
    const hasSlot = attempts.tryNow(place.mount, challenge, async (outcome) => {
      cancel();
      if (queued === undefined && outcome !== undefined) {
        // An error goes to the client that waits for the answer.
        shown.resolve(recordFirstOutcome(this.#parts, place, outcome));
        await shown.promise.catch(() => undefined);
        return;
      }
      const claimed = await (queued ?? queue());
      if (claimed === undefined) return;
      if (outcome === undefined) await releaseChallenge(this.#parts, place.mount, claimed);
      else await recordOutcome(this.#parts, place.mount, claimed, outcome);
    });
    if (!hasSlot) {
      cancel();
      const claimed = await queue();
      if (claimed !== undefined) attempts.take(place.mount, claimed);
    }
    return shown.promise;
  }
}
