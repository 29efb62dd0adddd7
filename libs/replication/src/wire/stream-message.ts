/**
 * A batch of log entries as stream messages: encrypted with an epoch key, and split into parts if it
 * does not fit one message. Plaintext headers hold what a reader needs before it has the key; all but the format
 * and the part number are bound to the ciphertext.
 *
 *   format  of message and batch
 *   log     id of the log           epoch   number of the key, 0: of one secondary
 *   first   sequence of the first   last    of the last entry (first - 1: none)
 *   part    from 1                  parts   how many there are
 */
import type { StreamMessage } from '@keelson/bus';
import { KeelsonError } from '@keelson/errors';
import { openMessage, sealMessage } from '../cipher/sealed-message.ts';
import type { EpochKey } from '../membership/membership.ts';

/** Format of messages and of the batches in them. Messages of another format are refused before they are decrypted. */
export const STREAM_FORMAT = 1;

export interface BatchHead {
  readonly logId: string;
  readonly epoch: number;
  readonly first: number;
  readonly last: number;
}

export interface MessagePart {
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
}

/** Number of the key that only one secondary derives (`deriveStreamKey`); those given out begin at 1. */
export const LINK_EPOCH = 0;

/** Below NATS's usual max_payload of 1 MB with room for headers. */
export const MAX_PART_BYTES = 900 * 1024;
/** Limit on the parts of a batch, above what the largest transaction needs. */
const MAX_PARTS = 64;

const purposeOf = (stream: string, { logId, epoch, first, last }: BatchHead): string =>
  `batch ${stream} ${logId} ${epoch} ${first} ${last}`;

export const toParts = (
  stream: string,
  head: BatchHead,
  { key }: EpochKey,
  batch: Uint8Array,
): MessagePart[] => {
  const sealed = sealMessage(key, purposeOf(stream, head), batch);
  const partCount = Math.ceil(sealed.length / MAX_PART_BYTES);
  return Array.from({ length: partCount }, (_, index) => ({
    headers: {
      format: String(STREAM_FORMAT),
      log: head.logId,
      epoch: String(head.epoch),
      first: String(head.first),
      last: String(head.last),
      part: String(index + 1),
      parts: String(partCount),
    },
    payload: sealed.subarray(index * MAX_PART_BYTES, (index + 1) * MAX_PART_BYTES),
  }));
};

export interface PartHead extends BatchHead {
  readonly part: number;
  readonly parts: number;
}

/** @throws KeelsonError `replication.malformed` */
export const parsePartHead = (headers: StreamMessage['headers']): PartHead => {
  const count = (name: string): number => {
    const value = Number(headers[name]);
    if (!/^\d{1,15}$/.test(headers[name] ?? ''))
      throw new KeelsonError('replication.malformed', { reason: `no header ${name}` });
    return value;
  };
  const format = count('format');
  if (format !== STREAM_FORMAT)
    throw new KeelsonError('replication.malformed', {
      reason: `the stream has format ${format}, this version of Keelson reads format ${STREAM_FORMAT}`,
    });
  const head = {
    logId: headers['log'] ?? '',
    epoch: count('epoch'),
    first: count('first'),
    last: count('last'),
    part: count('part'),
    parts: count('parts'),
  };
  const { logId, first, last, part, parts } = head;
  if (
    logId === '' ||
    first < 1 ||
    last < first - 1 ||
    part < 1 ||
    part > parts ||
    parts > MAX_PARTS
  )
    throw new KeelsonError('replication.malformed', { reason: 'impossible headers' });
  return head;
};

export interface SealedBatch {
  readonly head: BatchHead;
  readonly sealed: Uint8Array;
  /** Position of the last part. */
  readonly streamSequence: number;
}

/** @throws KeelsonError `replication.undecryptable` */
export const openBatch = (
  stream: string,
  { head, sealed }: SealedBatch,
  key: Uint8Array,
): Uint8Array => openMessage(key, purposeOf(stream, head), sealed);

/** Reassembles batches. Drops parts of a batch whose publisher was interrupted, because it is sent again. */
export class PartAssembler {
  #parts: Uint8Array[] = [];
  #purpose = '';

  /** The batch that this message completes. */
  add({ headers, payload, streamSequence }: StreamMessage): SealedBatch | undefined {
    const { part, parts, ...head } = parsePartHead(headers);
    const purpose = purposeOf('', head);
    if (part === 1) {
      this.#parts = [];
      this.#purpose = purpose;
    } else if (purpose !== this.#purpose || part !== this.#parts.length + 1) return undefined;
    this.#parts.push(payload);
    if (part < parts) return undefined;
    const sealed = this.#parts.length === 1 ? payload : Buffer.concat(this.#parts);
    this.#parts = [];
    return { head, sealed, streamSequence };
  }
}
