/** Snapshots that a cluster refuses before it changes anything, whatever its stores are. */
import { gunzipSync, gzipSync } from 'node:zlib';

interface Snapshots {
  /** A snapshot of the cluster itself. */
  readonly own: Uint8Array;
  /** A snapshot of a cluster with other keys. */
  readonly foreign: Uint8Array;
}

type RefusedSnapshot = readonly [
  name: string,
  make: (snapshots: Snapshots) => Uint8Array,
  refusal: string,
];

/** The snapshot whose manifest says something else of the same length. */
const withManifest = (snapshot: Uint8Array, before: string, after: string): Uint8Array => {
  const tar = gunzipSync(snapshot);
  tar.write(after, tar.indexOf(before));
  return gzipSync(tar);
};

export const REFUSED_SNAPSHOTS: readonly RefusedSnapshot[] = [
  ['that is no archive', () => Buffer.from('hello'), 'not a snapshot of Keelson'],
  ['that is empty', () => Buffer.alloc(0), 'damaged or incomplete: it ends early'],
  ['of something else', () => gzipSync(Buffer.alloc(1024)), 'not a snapshot of Keelson'],
  [
    'that ends early',
    ({ own }) => own.subarray(0, Math.floor(own.length * 0.9)),
    'damaged or incomplete: it ends early',
  ],
  [
    'in which a byte differs',
    ({ own }) => {
      const tar = gunzipSync(own);
      const at = tar.indexOf('pki/00000001') + 512 + 200;
      tar[at] = (tar[at] ?? 0) ^ 1;
      return gzipSync(tar);
    },
    'damaged or incomplete',
  ],
  [
    'of a newer format',
    ({ own }) => withManifest(own, '"format": 1', '"format": 2'),
    'the snapshot has format 2 and was made by Keelson',
  ],
  [
    'of an older format',
    ({ own }) => withManifest(own, '"format": 1', '"format": 0'),
    'this version reads format 1',
  ],
  ['of other keys', ({ foreign }) => foreign, 'use the snapshot-force API'],
];
