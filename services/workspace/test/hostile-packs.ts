/** Packs that no honest git writes, and a server that answers a fetch with one of them. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { deflateSync } from 'node:zlib';

const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4, 'ofs-delta': 6, 'ref-delta': 7 } as const;
type EntryType = keyof typeof TYPES;

export const objectId = (type: string, content: Uint8Array): string =>
  createHash('sha1').update(`${type} ${content.byteLength}\0`).update(content).digest('hex');

/** The type and the size of an entry of a pack, seven bits a byte after the first. */
const entryHead = (type: EntryType, sizeBytes: bigint): Buffer => {
  const bytes: number[] = [];
  let byte = (TYPES[type] << 4) | Number(sizeBytes & 15n);
  for (let rest = sizeBytes >> 4n; rest > 0n; rest >>= 7n) {
    bytes.push(byte | 0x80);
    byte = Number(rest & 127n);
  }
  return Buffer.from([...bytes, byte]);
};

/** @param declaredBytes the size that its head states, if it is not that of the content */
export const entry = (
  type: EntryType,
  content: Uint8Array,
  {
    declaredBytes = content.byteLength,
    base = Buffer.alloc(0),
  }: {
    readonly declaredBytes?: number | bigint;
    /** The object that a delta refers to. */
    readonly base?: Buffer;
  } = {},
): Buffer => Buffer.concat([entryHead(type, BigInt(declaredBytes)), base, deflateSync(content)]);

/** @param count the number of objects that its head states */
export const packOf = (entries: readonly Buffer[], count = entries.length): Buffer => {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  head.writeUInt32BE(count, 8);
  const body = Buffer.concat([head, ...entries]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
};

const IDENTITY = 'Ada <ada@b.example> 1700000000 +0000';

export const commitContent = (tree: string, message = 'A commit'): Buffer =>
  Buffer.from(`tree ${tree}\nauthor ${IDENTITY}\ncommitter ${IDENTITY}\n\n${message}\n`);

export const tagContent = (object: string, type: string): Buffer =>
  Buffer.from(`object ${object}\ntype ${type}\ntag t\ntagger ${IDENTITY}\n\nA tag\n`);

export const treeContent = (
  ...entries: readonly (readonly [mode: string, name: string, id: string])[]
): Buffer =>
  Buffer.concat(
    entries.flatMap(([mode, name, id]) => [
      Buffer.from(`${mode} ${name}\0`),
      Buffer.from(id, 'hex'),
    ]),
  );

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
};

/** A delta that repeats the whole base, which has at most 16 MiB - 1. */
export const repeatingDelta = (baseBytes: number, times: number): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(baseBytes);
  const copy = Buffer.concat([Buffer.from([0xf0]), size.subarray(0, 3)]);
  const copies = Array.from({ length: times }, () => copy);
  return Buffer.concat([varint(baseBytes), varint(baseBytes * times), ...copies]);
};

/** The distance to the entry that a delta refers to. */
export const distance = (bytes: number): Buffer => {
  const found: number[] = [bytes % 128];
  for (let rest = Math.floor(bytes / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1;
    found.unshift((rest % 128) | 0x80);
  }
  return Buffer.from(found);
};

export const packet = (text: string | Buffer): Buffer => {
  const content = Buffer.from(text as string);
  return Buffer.concat([
    Buffer.from((content.byteLength + 4).toString(16).padStart(4, '0')),
    content,
  ]);
};

export const FLUSH = Buffer.from('0000');

/** The answer to the first request of a fetch. @param branch the target of HEAD, which may be no name at all */
const advertisement = (tip: string, branch = 'refs/heads/main'): Buffer =>
  Buffer.concat([
    packet('# service=git-upload-pack\n'),
    FLUSH,
    packet(`${tip} HEAD\0side-band-64k ofs-delta shallow symref=HEAD:${branch} agent=odd\n`),
    packet(`${tip} refs/heads/main\n`),
    FLUSH,
  ]);

const ANSWER_TYPE = 'application/x-git-upload-pack';

/** Answers each request of a fetch. @param pieces of the answer to the request for objects, after the negotiation */
export const answerFetch = async (
  request: IncomingMessage,
  response: ServerResponse,
  tip: string,
  pieces: Iterable<Buffer>,
  branch?: string,
): Promise<void> => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': `${ANSWER_TYPE}-advertisement` });
    response.end(advertisement(tip, branch));
    return;
  }
  const asked = (await buffer(request)).toString();
  response.writeHead(200, { 'content-type': `${ANSWER_TYPE}-result` });
  response.write(Buffer.concat([packet(`shallow ${tip}`), FLUSH]));
  if (asked.includes('done')) {
    response.write(packet('NAK\n'));
    for (const piece of pieces) {
      if (response.destroyed) return;
      response.write(piece);
    }
  }
  response.end();
};

/** A pack in the packets of the channel for data. */
export const inPackets = (pack: Buffer): readonly Buffer[] => {
  const packets: Buffer[] = [];
  for (let at = 0; at < pack.byteLength; at += 65_000)
    packets.push(packet(Buffer.concat([Buffer.from([1]), pack.subarray(at, at + 65_000)])));
  return [...packets, FLUSH];
};
