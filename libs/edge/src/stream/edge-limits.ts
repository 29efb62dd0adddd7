/**
 * Limits of the edge stream. Both ends are of the same version or one apart: a change here is a change of
 * the protocol (docs/decisions/, "Edge frames").
 */
import type { RequestHead } from '@keelson/proto/edge/v1/edge';

/** Body bytes that may be on the way, or read but not consumed, per id and direction. */
export const WINDOW_BYTES = 128 * 1024;
/** Bodies are cut into pieces of this size, so that ids take turns on the stream. */
export const CHUNK_BYTES = 32 * 1024;
/** A body in memory up to this size travels in the frame of its head. */
export const INLINE_BODY_BYTES = 64 * 1024;
/** Ids under way on one stream; a client opens no more, a server answers `edge.overloaded`. */
export const MAX_IDS_PER_STREAM = 2048;
/** Text of all header names and values, path and query of one head. */
export const MAX_HEAD_BYTES = 64 * 1024;
/** Largest message of a call that rides on the stream. */
export const MAX_CALL_BYTES = 8 * 1024 * 1024;
/** Frames are gathered up to this size before a message is written. */
export const BATCH_BYTES = 128 * 1024;
/** Ids are uint32 and only grow; a stream that has used them up is replaced. */
export const MAX_ID = 0xffff_ffff;

/** Characters of a request head that come from outside. */
export const requestHeadSize = (head: RequestHead): number => {
  let size = head.path.length + head.query.length;
  for (const name in head.headers) size += name.length + (head.headers[name]?.length ?? 0);
  return size;
};
