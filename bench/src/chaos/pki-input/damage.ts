/** Damages DER, PEM and JSON values, at random positions and by structure. */
import type { Random } from '../random.ts';

/** An element of DER: the positions of its header and content, and whether it is constructed. */
interface Element {
  readonly start: number;
  readonly content: number;
  readonly end: number;
  readonly isConstructed: boolean;
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
    found.push({ start: at, content, end, isConstructed });
    if (isConstructed) found.push(...elementsOf(der, content, end));
    at = end;
  }
  return found;
};

const splice = (bytes: Uint8Array, from: number, to: number, put: Uint8Array): Uint8Array =>
  Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(to)]);

/** DER with this content, with its length in the usual encoding. */
const wrapped = (tag: number, content: Uint8Array): Uint8Array => {
  const length = content.byteLength;
  const header =
    length < 0x80 ? [tag, length] : [tag, 0x83, length >> 16, (length >> 8) & 255, length & 255];
  return Buffer.concat([Buffer.from(header), content]);
};

type Damage = (der: Uint8Array, random: Random) => Uint8Array;

const TAGS = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x17, 0x18, 0x30, 0x31, 0xa0, 0xa3];

const BY_STRUCTURE: readonly Damage[] = [
  // Duplicates, removes or replaces an element.
  (der, random) => {
    const { start, end } = random.pick(elementsOf(der));
    return splice(der, end, end, der.subarray(start, end));
  },
  (der, random) => {
    const { start, end } = random.pick(elementsOf(der));
    return splice(der, start, end, new Uint8Array(0));
  },
  (der, random) => {
    const elements = elementsOf(der);
    const one = random.pick(elements);
    const other = random.pick(elements);
    return splice(der, one.start, one.end, der.subarray(other.start, other.end));
  },
  // Another type, another length, an indefinite length, much content, deep nesting.
  (der, random) => {
    const damaged = Uint8Array.from(der);
    damaged[random.pick(elementsOf(der)).start] = random.pick(TAGS);
    return damaged;
  },
  (der, random) => {
    const damaged = Uint8Array.from(der);
    damaged[random.pick(elementsOf(der)).start + 1] = random.pick([0, 1, 0x7f, 0x80, 0x84, 0xff]);
    return damaged;
  },
  (der, random) => {
    const { content, end } = random.pick(elementsOf(der));
    return splice(der, content, end, random.bytes(random.pick([0, 1, 20, 300])));
  },
  (der, random) => {
    const { start, end } = random.pick(elementsOf(der));
    let nested = der.subarray(start, end);
    for (let depth = random.below(200); depth > 0; depth--) nested = wrapped(0x30, nested);
    return splice(der, start, end, nested);
  },
];

const BLIND: readonly Damage[] = [
  (der, random) => {
    const damaged = Uint8Array.from(der);
    for (let changes = 1 + random.below(4); changes > 0; changes--)
      damaged[random.below(damaged.byteLength)] = random.below(256);
    return damaged;
  },
  (der, random) => der.subarray(0, random.below(der.byteLength)),
  (der, random) => Buffer.concat([der, random.bytes(1 + random.below(8))]),
  (_, random) => random.bytes(random.below(200)),
];

/** After an insertion most outer lengths are wrong; half of the time they are corrected. */
const repaired = (der: Uint8Array, original: Uint8Array): Uint8Array => {
  const [outer] = elementsOf(original);
  return outer === undefined ? der : wrapped(original[0] as number, der.subarray(outer.content));
};

export const damageDer = (der: Uint8Array, random: Random): Uint8Array => {
  const damaged = random.pick(random.once(3) ? BLIND : BY_STRUCTURE)(der, random);
  return random.once(2) ? repaired(damaged, der) : damaged;
};

const LABELS = ['CERTIFICATE', 'X509 CRL', 'PRIVATE KEY', 'EC PARAMETERS', 'NOTHING', ''];

export const toPem = (label: string, der: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${Buffer.from(der)
    .toString('base64')
    .replaceAll(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`;

/** PEM around damaged DER, or damaged itself. */
export const damagePem = (label: string, der: Uint8Array, random: Random): string => {
  const pem = toPem(label, damageDer(der, random));
  switch (random.below(8)) {
    case 0:
      return pem.replaceAll(label, random.pick(LABELS));
    case 1:
      return pem.slice(0, random.below(pem.length));
    case 2:
      return pem.repeat(1 + random.below(20));
    case 3: {
      const at = random.below(pem.length);
      const put = Buffer.from(random.bytes(1 + random.below(8))).toString('latin1');
      return pem.slice(0, at) + put + pem.slice(at);
    }
    case 4:
      return pem.replaceAll('\n', random.pick(['', '\r\n', '\n\n', ' ', '\t']));
    default:
      return pem;
  }
};

const WRONG: readonly unknown[] = [
  null,
  true,
  -1,
  2 ** 53,
  1e308,
  '',
  '\0',
  '*',
  'x'.repeat(3000),
  '🂡'.repeat(40),
  '-1h',
  '1e9h',
  '0000-00-00T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '1.2.3;UTF8:x',
  '1.2;;',
  '::1',
  '0.0.0.0/0',
  'http://[',
  [],
  ['a', 'b'],
  [[1]],
  { a: 1 },
];

/** A JSON value of a wrong type for the parameter. */
export const wrongValue = (random: Random): unknown => random.pick(WRONG);
