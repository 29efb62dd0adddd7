/** Archives whose entries are not exactly those of a snapshot are refused, and nothing is changed. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const PATH = 'sys/storage/raft/snapshot';
const SUMS = 'SHA256SUMS';
const SEALED_SUMS = 'SHA256SUMS.sealed';
const PAGE = 'sys/00000001';
/** The end of a tar archive: two empty blocks. */
const END_BYTES = 1024;

let harness: SysHarness;
let snapshot: Buffer;
beforeAll(async () => {
  harness = await openInitializedSys();
  snapshot = (await harness.asRoot('GET', PATH)).body as Buffer;
});
afterAll(() => harness.close());

/** The block of the entry's header. */
const positionOf = (tar: Buffer, name: string): number => tar.indexOf(`${name}\0`, 0, 'latin1');

/** The archive with a copy of one of its entries before another entry, or at the end. */
const withCopy = (name: string, before?: string): Buffer => {
  const tar = gunzipSync(snapshot);
  const at = positionOf(tar, name);
  const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8);
  const copy = tar.subarray(at, at + 512 + Math.ceil(size / 512) * 512);
  const to = before === undefined ? tar.length - END_BYTES : positionOf(tar, before);
  return gzipSync(Buffer.concat([tar.subarray(0, to), copy, tar.subarray(to)]));
};

/** The archive whose manifest says something else of the same length. */
const withManifest = (before: string, after: string): Buffer => {
  const tar = gunzipSync(snapshot);
  tar.write(after, tar.indexOf(before));
  return gzipSync(tar);
};

const restore = (body: Buffer) => harness.asRoot('POST', PATH, { body });

test.for([
  ['a second seal', () => withCopy(SEALED_SUMS), `${SEALED_SUMS} follows ${SEALED_SUMS}`],
  ['a second list of digests', () => withCopy(SUMS, SEALED_SUMS), `it has ${SUMS} twice`],
  ['a second manifest', () => withCopy('meta.json', SUMS), 'it has meta.json twice'],
  ['a page twice', () => withCopy(PAGE, SUMS), `it has ${PAGE} twice`],
  [
    'a newer format',
    () => withManifest('"format": 1', '"format": 2'),
    'the snapshot has format 2 and was made by Keelson',
  ],
  [
    'an older format',
    () => withManifest('"format": 1', '"format": 0'),
    'this version reads format 1',
  ],
  [
    'a foreign manifest',
    () => withManifest('"format": 1', '"frames": 1'),
    'it does not begin with a meta.json of Keelson',
  ],
  ['a page after its end', () => withCopy(PAGE), `${PAGE} follows ${SEALED_SUMS}`],
] as const)('an archive with %s is refused', async ([, make, text]) => {
  const policy = { policy: 'path "kept" { capabilities = ["read"] }' };
  await harness.asRoot('PUT', 'sys/policies/acl/kept', { body: policy });
  const { status, body } = await restore(make());
  expect([status, body.errors]).toEqual([400, [expect.stringContaining(text)]]);
  expect((await harness.asRoot('GET', 'sys/policies/acl/kept')).status).toBe(200);
});

test('the archive itself is restored', async () => {
  expect((await restore(snapshot)).status).toBe(204);
});
