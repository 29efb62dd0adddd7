import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { acmeRecords } from '../../mounts/mount-records.ts';
import { challengeTypeShape } from '../orders/domain/challenge-types.ts';

/**
 * A challenge that waits for an attempt. The replica that makes the attempt first claims the entry
 * for a limited time.
 */
export const queuedChallengeShape = Type.Object({
  accountId: Type.String(),
  orderId: Type.String(),
  /** Index of the authorization in its order. */
  authorizationIndex: Type.Number(),
  type: challengeTypeShape,
  /** Attempts made so far. */
  attempts: Type.Number(),
  dueAtMs: Type.Number(),
  claimedUntilMs: Type.Number(),
  /** When the first attempt began; undefined before it. */
  triedSinceMs: Type.Optional(Type.Number()),
});
export type QueuedChallenge = Shaped<typeof queuedChallengeShape>;

/** Keys: `queueKey`. */
export const challengeQueueRecords = acmeRecords('challenge-queue', {
  version: 1,
  shape: queuedChallengeShape,
});

export const queueKey = (orderId: string, authorizationIndex: number): string =>
  `${orderId}-${authorizationIndex}`;
