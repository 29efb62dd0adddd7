/**
 * Limits of the edge stream. Both ends have the same or adjacent versions, so that a change here is a
 * protocol change (decision 0008).
 */
import type { RequestHead } from '@keelson/proto/edge/v1/edge';

/** Body bytes in transit, or received but not consumed, per id and direction. */
export const WINDOW_BYTES = 128 * 1024;
/** Bodies are split into chunks of this size, so that ids take turns on the stream. */
export const CHUNK_BYTES = 32 * 1024;
/** A body in memory up to this size is sent in the same frame as its head. */
export const INLINE_BODY_BYTES = 64 * 1024;
/**
 * Maximum number of open ids on a stream. A client opens no more; a server refuses them with
 * `edge.overloaded`.
 */
export const MAX_IDS_PER_STREAM = 2048;
/** Text of all header names and values, path and query of one head. */
export const MAX_HEAD_BYTES = 64 * 1024;
/** Largest message of a call on the stream. */
export const MAX_CALL_BYTES = 8 * 1024 * 1024;
/** Size at which collected frames are written as one message. */
export const BATCH_BYTES = 128 * 1024;
/** Ids are uint32 and only increase; a stream that has used them up is replaced. */
export const MAX_ID = 0xffff_ffff;

/** Length of the parts of a request head that clients control, in characters. */
export const requestHeadSize = (head: RequestHead): number => {
  let size = head.path.length + head.query.length;
  for (const name in head.headers) size += name.length + (head.headers[name]?.length ?? 0);
  return size;
};
