/** Where a published log stands, read from the stream itself: what it holds is what was acknowledged. */
import type { Bus } from '@keelson/bus';
import { parsePartHead } from '../wire/stream-message.ts';

export interface PublishedPosition {
  readonly logId: string;
  /** Newest entry that is wholly in the stream. */
  readonly walSequence: number;
  /** Where the next entry follows; parts of an interrupted batch may come after it. */
  readonly streamSequence: number;
}

export interface StreamEnd {
  /** Of the stream, interrupted parts included. */
  readonly lastSequence: number;
  /** undefined: the stream holds nothing that tells. */
  readonly published: PublishedPosition | undefined;
}

/** @throws KeelsonError `bus.unavailable`, `bus.stream_not_found`, `replication.malformed` */
export const loadStreamEnd = async (bus: Bus, stream: string): Promise<StreamEnd> => {
  const { lastSequence, message } = await bus.tail(stream);
  if (message === undefined) return { lastSequence, published: undefined };
  const { logId, first, last, part, parts } = parsePartHead(message.headers);
  const isWhole = part === parts;
  return {
    lastSequence,
    published: {
      logId,
      walSequence: isWhole ? last : first - 1,
      streamSequence: isWhole ? lastSequence : lastSequence - part,
    },
  };
};
