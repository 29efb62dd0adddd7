/**
 * Certificate revocation lists (RFC 5280 §5). Entries are written page by page as they arrive,
 * yielding to other work after each page, so that a list of a million entries neither blocks the
 * service nor takes more memory than its encoding.
 */
import { setImmediate } from 'node:timers/promises';
import { DerReader } from './der/der-reader.ts';
import {
  bitString,
  contextTag,
  explicit,
  integer,
  sequence,
  TAG,
  time,
  unsignedInteger,
} from './der/der-types.ts';
import { type Der, encodeDer, writeHeader } from './der/der-writer.ts';
import {
  EXTENSION,
  type Extension,
  extension,
  extensionsSequence,
  parseExtensions,
} from './extensions/extension.ts';
import { algorithmIdentifier, type Signer } from './keys/signature-scheme.ts';
import { type RevocationReason, reasonExtensions } from './revocation-reason.ts';
import { isStructureSignedBy, parseSignedStructure } from './signed-structure.ts';

export interface CrlEntry {
  /** Big-endian magnitude. */
  readonly serialNumber: Uint8Array;
  readonly revokedAtMs: number;
  /** Written as the reasonCode extension, except `unspecified`. Parsed entries have it in `extensions`. */
  readonly reason?: RevocationReason | undefined;
  readonly extensions?: readonly Extension[];
}

export interface CrlFields {
  /** Name, DER. */
  readonly issuer: Uint8Array;
  readonly thisUpdateMs: number;
  readonly nextUpdateMs: number;
  readonly extensions: readonly Extension[];
}

/** RFC 5280 §5.2.3. */
export const crlNumber = (number: bigint): Extension =>
  extension(EXTENSION.crlNumber, integer(number));

/** Marks a delta list and names the complete list it adds to (RFC 5280 §5.2.4). */
export const deltaCrlIndicator = (baseNumber: bigint): Extension =>
  extension(EXTENSION.deltaCrlIndicator, integer(baseNumber), true);

const crlEntry = ({ serialNumber, revokedAtMs, reason, extensions = [] }: CrlEntry): Der => {
  const all = [...reasonExtensions(reason), ...extensions];
  return sequence(
    unsignedInteger(serialNumber),
    time(revokedAtMs),
    ...(all.length > 0 ? [extensionsSequence(all)] : []),
  );
};

const MAX_PLAIN_SERIAL_OCTETS = 20;
/** Headers of entry and serial number, a padded serial number, a GeneralizedTime. */
const MAX_PLAIN_ENTRY_BYTES = 2 + 2 + (MAX_PLAIN_SERIAL_OCTETS + 1) + 17;

const isPlain = ({ serialNumber, extensions = [] }: CrlEntry): boolean =>
  extensions.length === 0 && serialNumber.byteLength <= MAX_PLAIN_SERIAL_OCTETS;

/** Writes an INTEGER of at most 127 octets; returns the offset after it. */
const writeInteger = (target: Uint8Array, start: number, magnitude: Uint8Array): number => {
  let first = 0;
  while (first < magnitude.byteLength - 1 && magnitude[first] === 0) first++;
  const isPadded = ((magnitude[first] as number) & 0x80) !== 0;
  const length = magnitude.byteLength - first;
  let offset = writeHeader(target, start, TAG.integer, length + (isPadded ? 1 : 0));
  if (isPadded) target[offset++] = 0;
  for (let at = first; at < magnitude.byteLength; at++) target[offset++] = magnitude[at] as number;
  return offset;
};

const DAY_MS = 86_400_000;
const ZERO = 0x30;

/** Encoded midnights. Cached, because the times of a list fall on few days. */
class Days {
  readonly #starts = new Map<number, Uint8Array>();

  /** Encoded time of the day's midnight; its clock digits are 000000. */
  startOf(day: number): Uint8Array {
    let start = this.#starts.get(day);
    if (start === undefined) {
      start = encodeDer(time(day * DAY_MS));
      this.#starts.set(day, start);
    }
    return start;
  }
}

const writeTwoDigits = (target: Uint8Array, offset: number, value: number): void => {
  target[offset] = ZERO + Math.floor(value / 10);
  target[offset + 1] = ZERO + (value % 10);
};

/** Writes what `time` encodes; returns the offset after it. */
const writeTime = (target: Uint8Array, start: number, epochMs: number, days: Days): number => {
  const day = Math.floor(epochMs / DAY_MS);
  const startOfDay = days.startOf(day);
  for (let at = 0; at < startOfDay.byteLength; at++) target[start + at] = startOfDay[at] as number;
  const end = start + startOfDay.byteLength;
  const second = Math.floor((epochMs - day * DAY_MS) / 1000);
  writeTwoDigits(target, end - 7, Math.floor(second / 3600));
  writeTwoDigits(target, end - 5, Math.floor(second / 60) % 60);
  writeTwoDigits(target, end - 3, second % 60);
  return end;
};

/**
 * Entry extensions with the reason, encoded once per reason; undefined where there is nothing to
 * encode.
 */
const encodedReasons = new Map<RevocationReason, Uint8Array | undefined>();
const encodedReason = (reason: RevocationReason | undefined): Uint8Array | undefined => {
  if (reason === undefined) return undefined;
  if (!encodedReasons.has(reason)) {
    const extensions = reasonExtensions(reason);
    encodedReasons.set(
      reason,
      extensions.length === 0 ? undefined : encodeDer(extensionsSequence(extensions)),
    );
  }
  return encodedReasons.get(reason);
};

/**
 * Fast path without a tree of nodes, for entries with at most a reason: nearly all entries of large
 * lists.
 */
const encodePlainPage = (page: readonly CrlEntry[]): Uint8Array => {
  let maxBytes = page.length * MAX_PLAIN_ENTRY_BYTES;
  for (const { reason } of page) maxBytes += encodedReason(reason)?.byteLength ?? 0;
  const bytes = Buffer.allocUnsafe(maxBytes);
  const days = new Days();
  let offset = 0;
  for (const { serialNumber, revokedAtMs, reason } of page) {
    // Never 128 octets long, so the header is two octets that are filled in afterwards.
    const contentStart = offset + 2;
    const timeStart = writeInteger(bytes, contentStart, serialNumber);
    let end = writeTime(bytes, timeStart, revokedAtMs, days);
    const extensions = encodedReason(reason);
    if (extensions !== undefined) {
      bytes.set(extensions, end);
      end += extensions.byteLength;
    }
    writeHeader(bytes, offset, TAG.sequence, end - contentStart);
    offset = end;
  }
  return bytes.subarray(0, offset);
};

const encodePage = (page: readonly CrlEntry[]): Uint8Array =>
  page.every(isPlain)
    ? encodePlainPage(page)
    : Buffer.concat(page.map((entry) => encodeDer(crlEntry(entry))));

/** Entries of a list: all at once, or page by page. */
export type CrlEntries = readonly CrlEntry[] | AsyncIterable<readonly CrlEntry[]>;

const encodePages = async (entries: CrlEntries): Promise<Uint8Array[]> => {
  if (Array.isArray(entries)) return entries.length === 0 ? [] : [encodePage(entries)];
  const blocks: Uint8Array[] = [];
  for await (const page of entries as AsyncIterable<readonly CrlEntry[]>) {
    if (page.length > 0) blocks.push(encodePage(page));
    await setImmediate();
  }
  return blocks;
};

/** The header of a SEQUENCE around content of this length. */
const sequenceHeader = (contentLength: number): Uint8Array => {
  const header = new Uint8Array(6);
  return header.subarray(0, writeHeader(header, 0, TAG.sequence, contentLength));
};

const totalLength = (parts: readonly Uint8Array[]): number =>
  parts.reduce((total, part) => total + part.byteLength, 0);

/** Bytes copied before other work gets a turn. */
const COPY_STEP_BYTES = 4 * 1024 * 1024;

/** Copies the parts in order, releasing each once it is copied; returns the offset after them. */
const moveParts = async (
  parts: Uint8Array[],
  target: Uint8Array,
  start: number,
): Promise<number> => {
  parts.reverse();
  let offset = start;
  let pauseAt = start + COPY_STEP_BYTES;
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    target.set(part, offset);
    offset += part.byteLength;
    if (offset < pauseAt) continue;
    pauseAt = offset + COPY_STEP_BYTES;
    await setImmediate();
  }
  return offset;
};

/**
 * Space reserved before the content for the list's header, and after it for algorithm and
 * signature.
 */
const HEADER_ROOM = 6;
const SIGNATURE_ROOM = 4096;

/** A signed version 2 list, DER, encoded in one buffer. Entries keep their order. */
export const createCrl = async (
  fields: CrlFields,
  entries: CrlEntries,
  signer: Signer,
): Promise<Uint8Array> => {
  const blocks = await encodePages(entries);
  // An empty list has no revokedCertificates field at all (RFC 5280 §5.1.2.6).
  const revoked = blocks.length === 0 ? [] : [sequenceHeader(totalLength(blocks)), ...blocks];
  blocks.length = 0;
  const algorithm = algorithmIdentifier(signer.scheme);
  const parts = [
    encodeDer(integer(1)),
    algorithm,
    fields.issuer,
    encodeDer(time(fields.thisUpdateMs)),
    encodeDer(time(fields.nextUpdateMs)),
    ...revoked,
    encodeDer(explicit(0, extensionsSequence(fields.extensions))),
  ];
  revoked.length = 0;
  parts.unshift(sequenceHeader(totalLength(parts)));
  const list = Buffer.allocUnsafeSlow(HEADER_ROOM + totalLength(parts) + SIGNATURE_ROOM);
  const end = await moveParts(parts, list, HEADER_ROOM);
  const signature = encodeDer(bitString(await signer.sign(list.subarray(HEADER_ROOM, end))));
  list.set(algorithm, end);
  list.set(signature, end + algorithm.byteLength);
  const header = sequenceHeader(end - HEADER_ROOM + algorithm.byteLength + signature.byteLength);
  const start = HEADER_ROOM - header.byteLength;
  list.set(header, start);
  return list.subarray(start, end + algorithm.byteLength + signature.byteLength);
};

export interface ParsedCrl extends CrlFields {
  readonly tbs: Uint8Array;
  readonly signatureAlgorithm: Uint8Array;
  readonly signature: Uint8Array;
  readonly entries: readonly CrlEntry[];
}

const MAX_CRL_BYTES = 128 * 1024 * 1024;

const parseEntries = (reader: DerReader): readonly CrlEntry[] => {
  const entries: CrlEntry[] = [];
  while (!reader.atEnd) {
    const entry = reader.enter();
    const serialNumber = entry.readUnsignedInteger();
    const revokedAtMs = entry.readTime();
    entries.push({
      serialNumber,
      revokedAtMs,
      extensions: entry.atEnd ? [] : parseExtensions(entry.enter()),
    });
  }
  return entries;
};

/**
 * The fields of an untrusted list. Its signature is not checked here.
 * @throws KeelsonError `pki.malformed`
 */
export const parseCrl = (der: Uint8Array): ParsedCrl => {
  const { content, signatureAlgorithm, signature } = parseSignedStructure(der, MAX_CRL_BYTES);
  const fields = new DerReader(content).enter();
  if (fields.nextTag === TAG.integer) fields.readSmallInteger();
  fields.read(TAG.sequence);
  const issuer = fields.read(TAG.sequence).bytes;
  const thisUpdateMs = fields.readTime();
  const hasTime = fields.nextTag === TAG.utcTime || fields.nextTag === TAG.generalizedTime;
  const nextUpdateMs = hasTime ? fields.readTime() : thisUpdateMs;
  const entries = fields.nextTag === TAG.sequence ? parseEntries(fields.enter()) : [];
  const wrapper = fields.readOptional(contextTag(0, 'constructed'));
  fields.expectEnd();
  return {
    tbs: content,
    signatureAlgorithm,
    signature,
    issuer,
    thisUpdateMs,
    nextUpdateMs,
    entries,
    extensions:
      wrapper === undefined ? [] : parseExtensions(new DerReader(wrapper.content).enter()),
  };
};

/**
 * True when the private key of `publicKeyDer` signed the list with a scheme that is still trusted.
 */
export const isCrlSignedBy = (crl: ParsedCrl, publicKeyDer: Uint8Array): boolean =>
  isStructureSignedBy({ ...crl, content: crl.tbs }, publicKeyDer);
