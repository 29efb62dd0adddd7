import { KeelsonError } from '@keelson/errors';

/** Sequence numbers that a stream holds; `firstSequence` is `lastSequence` + 1 when it is empty. */
export interface StreamRange {
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/**
 * A follower that has consumed up to `sequence` can continue without a gap.
 * @throws KeelsonError `bus.messages_pruned`, `bus.position_ahead`
 */
export const requirePosition = (stream: string, sequence: number, range: StreamRange): void => {
  const { firstSequence, lastSequence } = range;
  if (sequence > lastSequence)
    throw new KeelsonError('bus.position_ahead', { stream, sequence, lastSequence });
  if (sequence + 1 < firstSequence)
    throw new KeelsonError('bus.messages_pruned', { stream, sequence, firstSequence });
};
