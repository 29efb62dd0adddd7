/** Damages DER and PEM, at random positions and by structure. */
import fc from 'fast-check';
import {
  byteDamage,
  choice,
  type Damage,
  damaged,
  oneIn,
  pickAt,
  splice,
  textDamage,
} from '../malformed.ts';

/** An element of DER: the positions of its header and content. */
interface Element {
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

/** The elements of well-formed DER, at every depth. */
const elementsOf = (der: Uint8Array, from = 0, to = der.byteLength): Element[] => {
  const found: Element[] = [];
  let at = from;
  while (at + 2 <= to) {
    const first = der[at + 1] as number;
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    let length = first < 0x80 ? first : 0;
    for (let i = 0; i < lengthBytes; i++) length = length * 256 + (der[at + 2 + i] ?? 0);
    const content = at + 2 + lengthBytes;
    const end = content + length;
    if (lengthBytes > 4 || end > to) break;
    const isConstructed = ((der[at] as number) & 0x20) !== 0;
    found.push({ start: at, content, end });
    if (isConstructed) found.push(...elementsOf(der, content, end));
    at = end;
  }
  return found;
};

/** DER with this content, with its length in the usual encoding. */
const wrapped = (tag: number, content: Uint8Array): Uint8Array => {
  const length = content.byteLength;
  const header =
    length < 0x80 ? [tag, length] : [tag, 0x83, length >> 16, (length >> 8) & 255, length & 255];
  return Buffer.concat([Buffer.from(header), content]);
};

const TAGS = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x17, 0x18, 0x30, 0x31, 0xa0, 0xa3];

/** A change of one element. */
const elementDamage = <T>(
  put: fc.Arbitrary<T>,
  change: (der: Uint8Array, element: Element, put: T) => Uint8Array,
): fc.Arbitrary<Damage<Uint8Array>> =>
  fc.tuple(choice, put).map(
    ([at, given]) =>
      (der: Uint8Array) =>
        change(der, pickAt(elementsOf(der), at), given),
  );

const BY_STRUCTURE = fc.oneof(
  // Removes an element or repeats it, or replaces it with another one.
  elementDamage(fc.constantFrom(0, 2), (der, { start, end }, times) =>
    splice(
      der,
      start,
      end,
      Buffer.concat(Array.from({ length: times }, () => der.subarray(start, end))),
    ),
  ),
  elementDamage(choice, (der, { start, end }, at) => {
    const other = pickAt(elementsOf(der), at);
    return splice(der, start, end, der.subarray(other.start, other.end));
  }),
  // Another type, another length, an indefinite length, much content, deep nesting.
  elementDamage(fc.constantFrom(...TAGS), (der, { start }, tag) =>
    splice(der, start, start + 1, Buffer.of(tag)),
  ),
  elementDamage(fc.constantFrom(0, 1, 0x7f, 0x80, 0x84, 0xff), (der, { start }, length) =>
    splice(der, start + 1, start + 2, Buffer.of(length)),
  ),
  elementDamage(fc.uint8Array({ maxLength: 300, size: 'max' }), (der, { content, end }, put) =>
    splice(der, content, end, put),
  ),
  elementDamage(fc.nat(199), (der, { start, end }, depth) => {
    let nested = der.subarray(start, end);
    for (let left = depth; left > 0; left--) nested = wrapped(0x30, nested);
    return splice(der, start, end, nested);
  }),
);

/** After an insertion most outer lengths are wrong; half of the time they are corrected. */
const repaired = (der: Uint8Array, original: Uint8Array): Uint8Array => {
  const [outer] = elementsOf(original);
  return outer === undefined ? der : wrapped(original[0] as number, der.subarray(outer.content));
};

export const derDamage: fc.Arbitrary<Damage<Uint8Array>> = fc
  .tuple(oneIn(3, byteDamage, BY_STRUCTURE), fc.boolean())
  .map(
    ([damage, isRepaired]) =>
      (der: Uint8Array) =>
        isRepaired ? repaired(damage(der), der) : damage(der),
  );

const LABELS = ['CERTIFICATE', 'X509 CRL', 'PRIVATE KEY', 'EC PARAMETERS', 'NOTHING', ''];

export const toPem = (label: string, der: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${Buffer.from(der)
    .toString('base64')
    .replaceAll(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`;

/** PEM around damaged DER, or damaged itself. */
export const damagedPem = (label: string, der: Uint8Array): fc.Arbitrary<string> => {
  const pemDamage = fc.oneof<fc.Arbitrary<Damage<string>>[]>(
    fc.constantFrom(...LABELS).map((other) => (pem) => pem.replaceAll(label, other)),
    fc.constantFrom('', '\r\n', '\n\n', ' ', '\t').map((end) => (pem) => pem.replaceAll('\n', end)),
    fc.integer({ min: 1, max: 20 }).map((times) => (pem) => pem.repeat(times)),
    choice.map((at) => (pem) => pem.slice(0, at % pem.length)),
    textDamage,
  );
  const pem = derDamage.map((damage) => toPem(label, damage(der)));
  return damaged(pem, pemDamage, 2);
};
