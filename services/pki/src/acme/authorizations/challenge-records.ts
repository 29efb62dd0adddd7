import { jsonRecords, type RecordCollection } from '@keelson/storage';
import { acmePrefix, type MountScope } from '../../mounts/mount-records.ts';
import type { ChallengeType } from '../orders/domain/challenge-types.ts';

/**
 * A challenge that waits for an attempt. The replica that makes the attempt first claims the entry
 * for a limited time.
 */
export interface QueuedChallenge {
  readonly accountId: string;
  readonly orderId: string;
  /** Index of the authorization in its order. */
  readonly authorizationIndex: number;
  readonly type: ChallengeType;
  /** Attempts made so far. */
  readonly attempts: number;
  readonly dueAtMs: number;
  readonly claimedUntilMs: number;
  /** When the first attempt began; undefined before it. */
  readonly triedSinceMs?: number;
}

/** Keys: `queueKey`. */
export const challengeQueueRecords = (mount: MountScope): RecordCollection<QueuedChallenge> =>
  jsonRecords(acmePrefix(mount, 'challenge-queue'));

export const queueKey = (orderId: string, authorizationIndex: number): string =>
  `${orderId}-${authorizationIndex}`;
