/**
 * The key of an epoch as it travels with the stream: sealed for each secondary that may have it, in headers
 * of a batch without entries. There is one header for each secondary, named after it, so that
 * others can skip it.
 */
import { createHash } from 'node:crypto';
import type { StreamMessage } from '@keelson/bus';
import { hasCode } from '@keelson/errors';
import { deriveStreamKey } from '../cipher/link-key.ts';
import { openMessage, sealMessage } from '../cipher/sealed-message.ts';
import type { EpochKey } from '../membership/membership.ts';

/** Limit on key headers of about 120 bytes each; NATS accepts headers of 64 KB. */
export const KEYS_PER_MESSAGE = 256;

const headerOf = (secondaryId: string): string =>
  `key-${createHash('sha256').update(secondaryId).digest('hex').slice(0, 32)}`;
const purposeOf = (stream: string, epoch: number): string => `epoch key ${stream} ${epoch}`;

/** The secondary that a key is encrypted for, and the stream that it reads. */
export interface KeyReader {
  readonly stream: string;
  readonly secondaryId: string;
  readonly linkKey: Uint8Array;
}

/** Name and value of the header. */
export const sealEpochKey = (
  { stream, secondaryId, linkKey }: KeyReader,
  { epoch, key }: EpochKey,
): readonly [string, string] => [
  headerOf(secondaryId),
  sealMessage(deriveStreamKey(linkKey), purposeOf(stream, epoch), key).toString('base64'),
];

/** undefined if there is no key for this secondary, or if it was sealed for another one of that name. */
export const openEpochKey = (
  { stream, secondaryId, linkKey }: KeyReader,
  epoch: number,
  headers: StreamMessage['headers'],
): Uint8Array | undefined => {
  const sealed = headers[headerOf(secondaryId)];
  if (sealed === undefined) return undefined;
  try {
    const bytes = Buffer.from(sealed, 'base64');
    return openMessage(deriveStreamKey(linkKey), purposeOf(stream, epoch), bytes);
  } catch (error) {
    if (hasCode(error, 'replication.undecryptable')) return undefined;
    throw error;
  }
};
