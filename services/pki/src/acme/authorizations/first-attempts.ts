/**
 * The first attempt at a challenge. Most succeed within milliseconds: the response to the client
 * then contains the result, which saves a signed request and usually a second of waiting, and only
 * the outcome is stored. A challenge whose attempt takes longer is queued meanwhile.
 */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
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

/** Maximum time that the response to the client is delayed. */
const MAX_WAIT_MS = 500;

/** Makes attempts; implemented by the validation worker. */
export interface Attempts {
  /**
   * Begins an attempt if a slot is free; returns whether it did. @param record called once with the
   * outcome, or with undefined if the attempt was not made
   */
  tryNow(
    mount: MountScope,
    challenge: TriedChallenge,
    record: (outcome: AttemptOutcome | undefined) => Promise<void>,
  ): boolean;
  /** Makes an attempt at a challenge that this replica has claimed, as soon as a slot is free. */
  take(mount: MountScope, challenge: ClaimedChallenge): void;
}

export interface FirstAttemptParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly attempts: Attempts;
}

export class FirstAttempts {
  readonly #parts: FirstAttemptParts;
  /** By mount and key, so that two requests for one challenge share an attempt. */
  readonly #underWay = new Map<string, Promise<Authorization>>();

  constructor(parts: FirstAttemptParts) {
    this.#parts = parts;
  }

  /**
   * Tries a challenge that has not been started. @returns its authorization after the attempt, or
   * when the attempt takes too long @throws AcmeProblem `malformed` if it was decided meanwhile
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
    /** Queues the challenge and answers the client. */
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
        // An error of the commit is returned to the waiting client.
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
