/**
 * DER (X.690) as a small tree whose lengths are known when a node is made, so that a whole structure is
 * written into one buffer in one pass. A `Uint8Array` in place of a node is a complete element that is
 * copied as it is (a name, a public key, an extension value that is already encoded).
 */

export interface DerNode {
  readonly tag: number;
  readonly content: Uint8Array | readonly Der[];
  readonly contentLength: number;
  readonly byteLength: number;
}

export type Der = DerNode | Uint8Array;

const lengthOctetCount = (contentLength: number): number => {
  if (contentLength < 0x80) return 1;
  if (contentLength < 0x100) return 2;
  if (contentLength < 0x1_0000) return 3;
  if (contentLength < 0x100_0000) return 4;
  return 5;
};

const node = (
  tag: number,
  content: Uint8Array | readonly Der[],
  contentLength: number,
): DerNode => ({
  tag,
  content,
  contentLength,
  byteLength: 1 + lengthOctetCount(contentLength) + contentLength,
});

/** An element with these content octets. */
export const primitive = (tag: number, content: Uint8Array): DerNode =>
  node(tag, content, content.byteLength);

/** An element that holds these elements in this order. */
export const constructed = (tag: number, parts: readonly Der[]): DerNode => {
  let contentLength = 0;
  for (const part of parts) contentLength += part.byteLength;
  return node(tag, parts, contentLength);
};

/** Writes tag and length octets; returns the offset after them. */
export const writeHeader = (
  target: Uint8Array,
  start: number,
  tag: number,
  contentLength: number,
): number => {
  let offset = start;
  target[offset++] = tag;
  if (contentLength < 0x80) {
    target[offset++] = contentLength;
    return offset;
  }
  const octets = lengthOctetCount(contentLength) - 1;
  target[offset++] = 0x80 | octets;
  for (let shift = (octets - 1) * 8; shift >= 0; shift -= 8)
    target[offset++] = (contentLength >>> shift) & 0xff;
  return offset;
};

const write = (element: Der, target: Uint8Array, start: number): number => {
  if (element instanceof Uint8Array) {
    target.set(element, start);
    return start + element.byteLength;
  }
  let offset = writeHeader(target, start, element.tag, element.contentLength);
  if (element.content instanceof Uint8Array) {
    target.set(element.content, offset);
    return offset + element.contentLength;
  }
  for (const part of element.content) offset = write(part, target, offset);
  return offset;
};

/** The octets of an element. */
export const encodeDer = (element: Der): Uint8Array => {
  if (element instanceof Uint8Array) return element;
  const bytes = new Uint8Array(element.byteLength);
  write(element, bytes, 0);
  return bytes;
};
