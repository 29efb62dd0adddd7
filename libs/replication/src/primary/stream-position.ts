/** Position of a published log, read from the stream because it holds exactly the acknowledged messages. */
import type { Bus } from '@keelson/bus';
import { parsePartHead } from '../wire/stream-message.ts';

export interface PublishedPosition {
  readonly logId: string;
  /** Newest entry that is wholly in the stream. */
  readonly walSequence: number;
  /** Sequence after which the next entry belongs; parts of an interrupted batch may already follow it. */
  readonly streamSequence: number;
}

export interface StreamEnd {
  /** Last message of the stream, parts of an interrupted batch included. */
  readonly lastSequence: number;
  /** undefined when the stream is empty. */
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
