/** Checks the table of a projection and its tallies against the records. */
import type { Kysely } from 'kysely';
import { rangeBelow } from '../records/record-path.ts';
import type { StoredRecord } from '../store.ts';
import {
  decideProjectedChange,
  type Parts,
  type Projection,
  projectedRows,
  sumTallies,
} from './projection.ts';
import type { ProjectionTables } from './projection-tables.ts';

interface CheckedTables {
  readonly [table: string]: {
    readonly record_path: string;
    readonly position: number;
    readonly [column: string]: unknown;
  };
}

interface TallyTables {
  readonly projection_tally: {
    readonly name: string;
    readonly tally_key: string;
    readonly row_count: number;
  };
}

export class ProjectionCheck {
  readonly #tables: ProjectionTables;
  readonly #projection: Projection;
  readonly #columns: readonly string[];
  readonly #tallies = new Map<string, number>();
  #isDamaged = false;
  /** Rows up to this path were compared. */
  #comparedTo = '';

  constructor(tables: ProjectionTables, projection: Projection) {
    this.#tables = tables;
    this.#projection = projection;
    this.#columns = ['record_path', 'position', ...Object.keys(projection.columns).sort()];
  }

  /**
   * @param page records that follow those of the call before, without a gap
   * @param partsOf see `Projection.parts`
   */
  async compare(page: readonly StoredRecord[], partsOf: (path: string) => Parts): Promise<void> {
    const last = page.at(-1)?.path;
    if (last === undefined || this.#isDamaged) return;
    const changes = page.flatMap(({ path, value }) => {
      const { source } = this.#projection;
      const decoded = source.codec.decode(path, value);
      const rows = projectedRows(this.#projection, path, decoded, partsOf(path));
      return decideProjectedChange(this.#projection, path, [], rows) ?? [];
    });
    for (const [key, count] of sumTallies(changes))
      this.#tallies.set(key, (this.#tallies.get(key) ?? 0) + count);
    const expected = changes.flatMap(({ path, put }) =>
      put.map(({ position, row }) => this.#toText({ ...row, record_path: path, position })),
    );
    const found = await this.#rowsUpTo(last);
    this.#isDamaged = expected.length !== found.size || expected.some((row) => !found.has(row));
    this.#comparedTo = last;
  }

  /** Must be called after every record was compared. */
  async findsDamage(): Promise<boolean> {
    if (this.#isDamaged) return true;
    // Rows of records that no longer exist.
    const { to } = rangeBelow(this.#projection.source.prefix);
    if ((await this.#rowsUpTo(to)).size > 0) return true;
    const { table } = this.#projection;
    const tables = this.#tables.tables as unknown as Kysely<TallyTables>;
    const found = await this.#tables.select(
      tables
        .selectFrom('projection_tally')
        .select(['tally_key', 'row_count'])
        .where('name', '=', table)
        .where('row_count', '!=', 0)
        .compile(),
    );
    return (
      found.length !== this.#tallies.size ||
      found.some((row) => this.#tallies.get(row.tally_key) !== Number(row.row_count))
    );
  }

  async #rowsUpTo(path: string): Promise<ReadonlySet<string>> {
    const tables = this.#tables.tables as unknown as Kysely<CheckedTables>;
    const rows = await this.#tables.select(
      tables
        .selectFrom(this.#projection.table)
        .selectAll()
        .where('record_path', '>', this.#comparedTo)
        .where('record_path', '<=', path)
        .compile(),
    );
    return new Set(rows.map((row) => this.#toText(row)));
  }

  #toText(row: Readonly<Record<string, unknown>>): string {
    return JSON.stringify(this.#columns.map((column) => row[column] ?? null));
  }
}
