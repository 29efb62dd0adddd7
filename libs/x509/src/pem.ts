/** PEM (RFC 7468), lax about text between blocks, strict about size and count. */
import { KeelsonError } from '@keelson/errors';

export interface PemBlock {
  readonly label: string;
  readonly der: Uint8Array;
}

/** A PEM block, without a trailing newline. */
export const encodePem = (label: string, der: Uint8Array): string => {
  const base64 = Buffer.from(der.buffer, der.byteOffset, der.byteLength).toString('base64');
  let lines = '';
  for (let at = 0; at < base64.length; at += 64) lines += `${base64.slice(at, at + 64)}\n`;
  return `-----BEGIN ${label}-----\n${lines}-----END ${label}-----`;
};

const MAX_PEM_LENGTH = 4 * 1024 * 1024;
const MAX_BLOCK_COUNT = 1000;
const BEGIN = '-----BEGIN ';
const DASHES = '-----';
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const malformed = (text: string): KeelsonError => new KeelsonError('pki.malformed', { text });

/** Headers of encapsulated text ("Proc-Type: ...") end at an empty line. */
const withoutHeaders = (body: string): string => {
  const headerEnd = /^[\w-]+:.*?\r?\n\r?\n/s.exec(body.trimStart());
  return headerEnd ? body.trimStart().slice(headerEnd[0].length) : body;
};

/**
 * Yields the blocks of a text in order; text between them is ignored.
 * @throws KeelsonError `pki.malformed` when a block is not closed or not base64
 */
export function* readPemBlocks(text: string): Generator<PemBlock> {
  if (text.length > MAX_PEM_LENGTH) throw malformed('PEM text is too long');
  let count = 0;
  let at = text.indexOf(BEGIN);
  while (at >= 0) {
    if (count++ >= MAX_BLOCK_COUNT) throw malformed('too many PEM blocks');
    const labelEnd = text.indexOf(DASHES, at + BEGIN.length);
    const label = text.slice(at + BEGIN.length, labelEnd);
    const bodyStart = labelEnd + DASHES.length;
    const end = text.indexOf(`-----END ${label}-----`, bodyStart);
    if (labelEnd < 0 || label.length > 64 || label.includes('\n') || end < 0)
      throw malformed('PEM block is not closed');
    const base64 = withoutHeaders(text.slice(bodyStart, end)).replaceAll(/\s+/g, '');
    if (base64 === '' || !BASE64.test(base64)) throw malformed('PEM block is not base64');
    yield { label, der: Buffer.from(base64, 'base64') };
    at = text.indexOf(BEGIN, end);
  }
}

/**
 * All blocks of a text in order.
 * @throws KeelsonError `pki.malformed` when a block is not closed or not base64
 */
export const decodePem = (text: string): readonly PemBlock[] => [...readPemBlocks(text)];
