/**
 * Operations of one commit as bytes, the form they have in the `wal` table:
 *   1 byte format (1), then per operation
 *   varint path length ‖ path (UTF-8)
 *   varint (0: deleted, n + 1: n bytes follow) ‖ stored bytes
 *   1 byte (0: replaced nothing, 1: leaf follows) ‖ 20 bytes Merkle leaf of what was replaced
 * New code must keep reading old formats; the format byte tells them apart.
 */
import { KeelsonError } from '@keelson/errors';
import { DIGEST_BYTES } from '../records/record-digest.ts';
import type { WalOperation } from '../store.ts';

export const LOG_FORMAT = 1;
const MAX_VARINT_BYTES = 5;

/** The operations of one entry, in their order. */
export const encodeOperations = (operations: readonly WalOperation[]): Uint8Array => {
  let bound = 1;
  for (const { path, stored } of operations)
    bound += 2 * MAX_VARINT_BYTES + path.length * 3 + (stored?.length ?? 0) + 1 + DIGEST_BYTES;
  const buffer = Buffer.allocUnsafe(bound);
  buffer[0] = LOG_FORMAT;
  let at = 1;
  const varint = (value: number): void => {
    for (; value > 0x7f; value >>>= 7) buffer[at++] = (value & 0x7f) | 0x80;
    buffer[at++] = value;
  };
  for (const { path, stored, replaced } of operations) {
    varint(Buffer.byteLength(path));
    at += buffer.write(path, at);
    varint(stored === undefined ? 0 : stored.length + 1);
    if (stored !== undefined) buffer.set(stored, at);
    at += stored?.length ?? 0;
    buffer[at++] = replaced === undefined ? 0 : 1;
    if (replaced !== undefined) buffer.set(replaced, at);
    at += replaced?.length ?? 0;
  }
  return buffer.subarray(0, at);
};

const corrupt = (): KeelsonError =>
  new KeelsonError('storage.corrupt', { reason: 'a log entry cannot be decoded' });

/** @throws KeelsonError `storage.corrupt` */
export const decodeOperations = (bytes: Uint8Array): WalOperation[] => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [format] = buffer;
  if (format === undefined) throw corrupt();
  if (format !== LOG_FORMAT)
    throw new KeelsonError('storage.corrupt', {
      reason: `a log entry has format ${format}, this version of Keelson reads format ${LOG_FORMAT}`,
    });
  let at = 1;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 7 * MAX_VARINT_BYTES; shift += 7) {
      const byte = buffer[at++];
      if (byte === undefined) throw corrupt();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw corrupt();
  };
  const take = (length: number): Buffer => {
    if (at + length > buffer.length) throw corrupt();
    at += length;
    return buffer.subarray(at - length, at);
  };
  const operations: WalOperation[] = [];
  while (at < buffer.length) {
    const path = take(varint()).toString();
    const length = varint();
    const stored = length === 0 ? undefined : take(length - 1);
    const replaced = take(1)[0] === 0 ? undefined : take(DIGEST_BYTES);
    operations.push({ path, stored, ...(replaced && { replaced }) });
  }
  return operations;
};
