/** Protobuf messages to bytes and back, for the paths that do it tens of thousands of times a second. */
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { RpcMethod } from './rpc-service.ts';

type MessageType = RpcMethod['requestType'];

/** Above this a writer's buffer is let go: it would be kept for good after one large message. */
const KEPT_BUFFER_BYTES = 1024 * 1024;

// `finish` copies out and empties the writer but keeps its buffer: growing a new one for each message
// made a fifth of the gateway's garbage.
let writer = new BinaryWriter();

/** The bytes of a message. */
export const encodeMessage = (type: MessageType, message: unknown): Buffer => {
  const own = writer;
  // An encoder that throws leaves the writer half full, and one that is called from within another
  // must not share it: the writer returns only from a finished message.
  writer = new BinaryWriter();
  const bytes = type.encode(message, own).finish();
  if (bytes.byteLength <= KEPT_BUFFER_BYTES) writer = own;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

/** @throws Error when the bytes are not such a message */
export const decodeMessage = (type: MessageType, bytes: Uint8Array): unknown => type.decode(bytes);
