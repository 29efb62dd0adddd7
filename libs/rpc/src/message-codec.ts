/** Encodes and decodes Protobuf messages, for paths that do so tens of thousands of times a second. */
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { RpcMethod } from './rpc-service.ts';

type MessageType = RpcMethod['requestType'];

/** A larger writer buffer is released, because it would otherwise be kept after one large message. */
const KEPT_BUFFER_BYTES = 1024 * 1024;

// `finish` copies the bytes and empties the writer but keeps its buffer: growing a new buffer for each
// message caused a fifth of the gateway's garbage.
let writer = new BinaryWriter();

/** The bytes of a message. */
export const encodeMessage = (type: MessageType, message: unknown): Buffer => {
  const own = writer;
  // An encoder that throws leaves the writer half full, and a nested call must not share it, so that only a
  // finished message returns the writer.
  writer = new BinaryWriter();
  const bytes = type.encode(message, own).finish();
  if (bytes.byteLength <= KEPT_BUFFER_BYTES) writer = own;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

/** @throws Error when the bytes are not such a message */
export const decodeMessage = (type: MessageType, bytes: Uint8Array): unknown => type.decode(bytes);
