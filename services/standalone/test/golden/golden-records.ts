/** Decodes every record of a data folder, of which no process has the stores open, with the declarations of today. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  createBarrier,
  type Declaration,
  examineSqliteStore,
  findDeclaration,
} from '@keelson/storage';
// Loads every module of every service, and with it every declaration.
import '../../src/compose.ts';
import { deriveServiceKey } from '../../../sys/src/seal/root-key-wrap.ts';
import { unwrapAny } from '../../../sys/src/seal/seal.ts';
import { sealRecords } from '../../../sys/src/seal/seal-records.ts';
import { loadUnsealKey } from '../../../sys/src/seal/unseal-key-file.ts';
import { STORE_SERVICES } from '../../src/first-start.ts';

/** Records that are not declared, with the reason. */
const OWN_FORMATS: readonly (readonly [path: RegExp, reason: string])[] = [
  [/^shared\/state-chunks\//, 'bytes of a state'],
  [
    /^node\/core\/keyring$/,
    'a format with a version of its own, without strings that could not be wiped',
  ],
  [/^node\/applied\//, 'a position in the log of another cluster'],
  [/^node\/fences\/(?!pki\/(crl|tidy)\/)/, 'the holder of a lease'],
];

export interface DecodedFolder {
  readonly decoded: number;
  /** Places of the kinds of which there are records, as in the table of declared kinds. */
  readonly kinds: ReadonlySet<string>;
  /** Paths of records that are damaged, with the fault, and of those without a declaration. */
  readonly faults: readonly string[];
}

/** The root key of a data folder whose key file opens the seal. */
export const rootKeyOf = async (folder: string): Promise<Uint8Array> => {
  const sys = examineSqliteStore(join(folder, 'sys.sqlite'));
  const seal = await sealRecords.find(sys);
  sys.close();
  const rootKey = seal && unwrapAny(await loadUnsealKey(join(folder, 'unseal.key'), true), seal);
  if (rootKey === undefined) throw new Error(`${folder}: the key file does not open the seal`);
  return rootKey;
};

interface Row {
  readonly path: string;
  readonly stored: Uint8Array;
}

const rowsOf = (file: string): readonly Row[] => {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare('SELECT path, stored FROM record ORDER BY path').all();
    return rows as unknown as readonly Row[];
  } finally {
    database.close();
  }
};

/** The place of the kind of a record: "*" is one segment, "…" one or more. */
const kindOf = (path: string, { name, isSingle }: Declaration): string =>
  `${path.slice(0, path.indexOf('/'))}/${name}${isSingle ? '' : '/…'}`;

/** The keyring of a service, wrapped, and its records as they are on the disk. */
export const storedOf = (
  folder: string,
  service: string,
): { readonly keyring: Uint8Array; readonly rows: readonly Row[] } => {
  const rows = rowsOf(join(folder, `${service}.sqlite`));
  const keyring = rows.find(({ path }) => path === 'node/core/keyring')?.stored;
  return { keyring: keyring ?? new Uint8Array(), rows };
};

/** Root key of the barrier of a service. */
export const barrierKeyOf = (rootKey: Uint8Array, service: string): Uint8Array =>
  service === 'sys' ? rootKey : deriveServiceKey(rootKey, service);

export const decodeFolder = async (folder: string): Promise<DecodedFolder> => {
  const rootKey = await rootKeyOf(folder);
  const faults: string[] = [];
  const kinds = new Set<string>();
  let decoded = 0;
  for (const service of STORE_SERVICES) {
    // A folder of a release before auth has no store of it.
    if (service === 'auth' && !existsSync(join(folder, 'auth.sqlite'))) continue;
    const { keyring, rows } = storedOf(folder, service);
    // A snapshot of such a release empties the store, until auth joins again.
    if (service === 'auth' && keyring.byteLength === 0) continue;
    const barrier = createBarrier();
    barrier.unseal(barrierKeyOf(rootKey, service), keyring);
    for (const { path, stored } of rows) {
      const declaration = findDeclaration(path);
      const isOwn = OWN_FORMATS.some(([own]) => own.test(path));
      try {
        const value = path.startsWith('node/') ? stored : barrier.decrypt(path, stored);
        if (declaration?.isSealed !== true) declaration?.codec.decode(path, value);
        if (declaration !== undefined) kinds.add(kindOf(path, declaration));
        decoded += declaration === undefined ? 0 : 1;
        if (declaration === undefined && !isOwn) faults.push(`${path}: no declaration`);
        if (declaration !== undefined && isOwn) faults.push(`${path}: declared after all`);
      } catch (error) {
        faults.push(`${path}: ${String(error)}`);
      }
    }
    barrier.seal();
  }
  return { decoded, kinds, faults };
};
