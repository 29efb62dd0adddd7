/**
 * A batch as the content of a record of the redo log:
 *   4 bytes length of a description, the description (JSON), then the operations of each entry as the
 *   `wal` table holds them
 * The records that are changed follow from the operations; the rows of projections do not, since values
 * are encrypted while a store is opened.
 */
import type { Batch, RowChange } from '../backend.ts';
import { digestRecord, treeTypeOf } from '../merkle/record-digest.ts';
import { type ProjectedChange, type Projection, sumTallies } from '../projections/projection.ts';
import { decodeOperations } from '../wal/wal-codec.ts';

/** What a batch changes in the table of one projection. */
export interface TableChanges {
  readonly projection: Projection;
  readonly changes: readonly Omit<ProjectedChange, 'projection' | 'tallied'>[];
  readonly tallies: readonly (readonly [key: string, difference: number])[];
}

export const toTableChanges = (projected: readonly ProjectedChange[]): TableChanges[] =>
  Array.from(
    Map.groupBy(projected, ({ projection }) => projection),
    ([projection, changes]) => ({
      projection,
      changes,
      tallies: [...sumTallies(projection, changes)],
    }),
  );

/** A batch whose entries are encoded as they are stored. */
export interface EncodedBatch {
  readonly entries: readonly {
    readonly sequence: number;
    readonly committedAtMs: number;
    readonly operations: Uint8Array;
  }[];
  readonly changes: Batch['changes'];
  readonly tables: readonly TableChanges[];
}

interface Description {
  readonly committedAtMs: readonly number[];
  /** Of the operations of each entry, in bytes. */
  readonly lengths: readonly number[];
  readonly tables: readonly (Omit<TableChanges, 'projection'> & { readonly table: string })[];
}

const LENGTH_BYTES = 4;

/** Parts that follow each other. */
export const encodeBatch = ({ entries, tables }: EncodedBatch): readonly Uint8Array[] => {
  const description: Description = {
    committedAtMs: entries.map(({ committedAtMs }) => committedAtMs),
    lengths: entries.map(({ operations }) => operations.length),
    tables: tables.map(({ projection, changes, tallies }) => ({
      table: projection.table,
      changes: changes.map(({ path, put, truncatedTo, texts }) => ({
        path,
        put,
        ...(truncatedTo !== undefined && { truncatedTo }),
        texts,
      })),
      tallies,
    })),
  };
  const json = Buffer.from(JSON.stringify(description));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  return [length, json, ...entries.map(({ operations }) => operations)];
};

/**
 * @param sequence newest before the batch
 * @param projectionOf undefined: the table is to be built anew, and nothing is told of it
 */
export const decodeBatch = (
  content: Buffer,
  sequence: number,
  projectionOf: (table: string) => Projection | undefined,
): EncodedBatch => {
  const jsonEnd = LENGTH_BYTES + content.readUInt32BE(0);
  const description = JSON.parse(content.toString('utf8', LENGTH_BYTES, jsonEnd)) as Description;
  let at = jsonEnd;
  const entries = description.lengths.map((length, index) => {
    const operations = content.subarray(at, at + length);
    at += length;
    const committedAtMs = description.committedAtMs[index] ?? 0;
    return { sequence: sequence + index + 1, committedAtMs, operations };
  });
  const changes = new Map<string, RowChange>();
  for (const entry of entries)
    for (const { path, stored } of decodeOperations(entry.operations))
      changes.set(path, toRowChange(path, stored, entry.sequence));
  const tables = description.tables.flatMap(({ table, ...rest }) => {
    const projection = projectionOf(table);
    return projection === undefined ? [] : [{ projection, ...rest }];
  });
  return { entries, changes: [...changes.values()], tables };
};

const toRowChange = (path: string, stored: Uint8Array | undefined, version: number): RowChange => {
  if (stored === undefined) return { path, stored };
  const digest = treeTypeOf(path) === undefined ? undefined : digestRecord(path, stored);
  return { path, stored, version, digest };
};
