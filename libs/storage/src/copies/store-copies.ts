/**
 * Copies of a whole store, for backups. A copy consists of the records as stored, encrypted by the barrier, in
 * pages that are encoded like the entries of the log. A copy that is restored is staged in a separate table
 * until it is complete, and then replaces all records in one database transaction.
 */

import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import { Type } from 'typebox';
import { singleRecord } from '../collections/collection.ts';
import type { RecordVersions } from '../collections/record-versions.ts';
import { digestRecord, treeTypeOf } from '../records/record-digest.ts';
import { rangeBelow, requireRecordPath } from '../records/record-path.ts';
import type { StoredRow } from '../records/stored-rows.ts';
import type { Shaped } from '../shapes/shape.ts';
import type { Reads, StoreCopies, StoreCopy, WalOperation } from '../store.ts';
import { decodeOperations, encodeOperations } from '../wal/wal-codec.ts';
import type { CopyRows, OpenCopy, StagedRow } from './copy-rows.ts';

/** Number of rows per read from the database. */
const READ_ROWS = 500;
/** A page ends with the record that reaches this size; one record is at most 4 MiB. */
const PAGE_BYTES = 256 * 1024;

const restorationShape = Type.Object({ id: Type.String(), atMs: Type.Number() });
export type Restoration = Shaped<typeof restorationShape>;

/** The newest restoration of a store; not encrypted, so that it can be written by the restoration itself. */
const restorationRecord = singleRecord('core/restoration', {
  scope: 'node',
  version: 1,
  shape: restorationShape,
});

/** The newest restoration of the store; undefined if it was never restored. */
export const loadRestoration = (reads: Pick<Reads, 'readAs'>): Promise<Restoration | undefined> =>
  restorationRecord.find(reads);

const SCOPES = ['local/', 'node/', 'shared/'] as const;

async function* rowsOf(copy: OpenCopy): AsyncGenerator<StoredRow> {
  for (const prefix of SCOPES) {
    for (let last: string | undefined; ; ) {
      const rows = await copy.scanRows(rangeBelow(prefix, last), READ_ROWS);
      yield* rows;
      last = rows.at(-1)?.path;
      if (last === undefined) break;
    }
  }
}

async function* pagesOf(copy: OpenCopy): AsyncGenerator<Uint8Array> {
  let page: WalOperation[] = [];
  let bytes = 0;
  for await (const { path, stored } of rowsOf(copy)) {
    page.push({ path, stored });
    bytes += path.length + stored.byteLength;
    if (bytes < PAGE_BYTES) continue;
    yield encodeOperations(page);
    page = [];
    bytes = 0;
  }
  if (page.length > 0) yield encodeOperations(page);
}

/** @throws KeelsonError `storage.damaged_copy` */
const toStagedRow = ({ path, stored }: WalOperation): StagedRow => {
  if (stored === undefined) throw new KeelsonError('storage.damaged_copy');
  requireRecordPath(path);
  return { path, stored, digest: treeTypeOf(path) && digestRecord(path, stored) };
};

const parsePage = (page: Uint8Array): readonly StagedRow[] => {
  try {
    return decodeOperations(page).map(toStagedRow);
  } catch (cause) {
    throw new KeelsonError('storage.damaged_copy', {}, { cause });
  }
};

/** A page without records: staged, it removes what an earlier restoration left behind. */
export const EMPTY_PAGE = encodeOperations([]);

/** Number of records in a page of a copy. @throws KeelsonError `storage.damaged_copy` */
export const countPage = (page: Uint8Array): number => parsePage(page).length;

export interface StoreCopiesOptions {
  readonly rows: CopyRows;
  readonly clock: Clock;
  readonly versions: Pick<RecordVersions, 'writable'>;
  /** Runs work while this process commits nothing. */
  readonly exclusively: (work: () => Promise<void>) => Promise<void>;
  readonly head: () => Promise<number>;
  /** Called after all records were replaced, while nothing can commit. */
  readonly onReplaced: (headSequence: number) => Promise<void>;
}

export const storeCopies = ({
  rows,
  clock,
  versions,
  exclusively,
  head,
  onReplaced,
}: StoreCopiesOptions): StoreCopies => {
  /** The restoration to which the newest staged page belongs. */
  let staging: string | undefined;
  return {
    take: async (whileHeld) => {
      let taken: StoreCopy | undefined;
      await exclusively(() =>
        rows.holdCommits(async () => {
          const copy = await rows.openCopy();
          try {
            await whileHeld?.();
          } catch (error) {
            await copy.close();
            throw error;
          }
          taken = {
            sequence: copy.headSequence,
            pages: pagesOf(copy),
            close: () => copy.close(),
          };
        }),
      );
      if (taken === undefined) throw new KeelsonError('storage.unavailable');
      return taken;
    },
    stage: async (restoration, page) => {
      const staged = parsePage(page);
      // Only once, because the rows of an interrupted restoration are found by reading all.
      if (restoration !== staging) await rows.discardStagedExcept(restoration);
      staging = restoration;
      await rows.stage(restoration, staged);
    },
    replace: async (restoration, { records, sequence }) => {
      await exclusively(async () => {
        // Written in addition to the records of the copy: nothing else shows that the log was interrupted.
        const mark = {
          path: restorationRecord.path,
          stored: restorationRecord.codec.encode(
            restorationRecord.path,
            { id: restoration, atMs: clock.nowMs() },
            { writable: versions.writable(restorationRecord.codec.kind), replaced: undefined },
          ),
          digest: undefined,
        };
        const staged = await rows.countStaged(restoration);
        if (staged !== records) throw new KeelsonError('storage.damaged_copy');
        // One further, so that a follower of the former log finds an entry missing and starts again.
        const headSequence = Math.max(await head(), sequence) + 2;
        await rows.replaceRecords({ restoration, mark, headSequence });
        await onReplaced(headSequence);
      });
    },
  };
};
