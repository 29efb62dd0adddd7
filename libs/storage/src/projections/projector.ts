/** Keeps the tables of a store's projections: with every commit, and again when a version was raised. */
import { hasCode } from '@keelson/errors';
import type { Backend } from '../backend.ts';
import { rangeBelow } from '../record-path.ts';
import type { RecordReader } from '../record-reader.ts';
import type { StoredRecord } from '../records/stored-record.ts';
import { decideProjectedChange, type ProjectedChange, type Projection } from './projection.ts';
import { ProjectionCheck } from './projection-check.ts';

/** Records of one step of a rebuild; the event loop is free between steps. */
const REBUILD_PAGE = 200;

export class Projector {
  readonly #backend: Backend;
  readonly #reader: RecordReader;
  readonly #projections: readonly Projection[];
  /** Not yet known to be of the version of this process. */
  #unchecked: readonly Projection[];

  constructor(backend: Backend, reader: RecordReader, projections: readonly Projection[]) {
    this.#backend = backend;
    this.#reader = reader;
    this.#projections = projections;
    this.#unchecked = projections;
  }

  get isReady(): boolean {
    return this.#unchecked.length === 0;
  }

  require(table: string): Projection {
    const found = this.#projections.find((projection) => projection.table === table);
    if (found === undefined) throw new Error(`the store has no projection ${table}`);
    return found;
  }

  isConcernedBy(path: string): boolean {
    return this.#projections.some(({ source }) => path.startsWith(source.prefix));
  }

  /**
   * Builds what is missing or of another version. The caller holds the right to append.
   * @throws KeelsonError `storage.sealed`
   */
  async rebuild(projections: readonly Projection[] = this.#unchecked): Promise<void> {
    for (const projection of projections)
      await this.#backend.rebuildProjection(projection, this.#changesOfAll(projection));
    this.#unchecked = [];
  }

  rebuildAll(): Promise<void> {
    return this.#backend
      .forgetProjections(this.#projections)
      .then(() => this.rebuild(this.#projections));
  }

  /**
   * Compares the tables with what the records say. The caller holds the right to append.
   * @returns names of the tables whose rows or tallies differ, or whose records cannot be read
   * @throws KeelsonError `storage.sealed`
   */
  async findDamaged(): Promise<readonly string[]> {
    const damaged: string[] = [];
    for (const projection of this.#projections)
      if (await this.#isDamaged(projection)) damaged.push(projection.table);
    return damaged;
  }

  async #isDamaged(projection: Projection): Promise<boolean> {
    const check = new ProjectionCheck(this.#backend, projection);
    try {
      for await (const page of this.#pagesOf(projection)) await check.compare(page);
    } catch (error) {
      if (hasCode(error, 'barrier.damaged_value', 'barrier.unknown_term')) return true;
      throw error;
    }
    return check.findsDamage();
  }

  /**
   * What the group changes.
   * @param values each record's value after it
   * @param created those that are known not to have been there before
   */
  async changesOf(
    values: ReadonlyMap<string, Uint8Array | undefined>,
    created: ReadonlySet<string>,
  ): Promise<readonly ProjectedChange[]> {
    const changes: ProjectedChange[] = [];
    for (const [path, value] of values) {
      if (!this.isConcernedBy(path)) continue;
      const old = created.has(path)
        ? undefined
        : await this.#reader.read(path, this.#reader.position);
      const decodedBefore = decodingOnce(old?.value);
      const decodedAfter = decodingOnce(value);
      for (const projection of this.#projections)
        if (path.startsWith(projection.source.prefix)) {
          const { decode } = projection.source;
          const before = decodedBefore(decode);
          const change = decideProjectedChange(projection, path, before, decodedAfter(decode));
          if (change !== undefined) changes.push(change);
        }
    }
    return changes;
  }

  async *#changesOfAll(projection: Projection): AsyncIterable<readonly ProjectedChange[]> {
    for await (const page of this.#pagesOf(projection))
      yield page.flatMap(
        ({ path, value }) =>
          decideProjectedChange(projection, path, undefined, projection.source.decode(value)) ?? [],
      );
  }

  async *#pagesOf({ source }: Projection): AsyncIterable<readonly StoredRecord[]> {
    for (let after: string | undefined; ; ) {
      const page = await this.#reader.scan(rangeBelow(source.prefix, after), REBUILD_PAGE);
      if (page.length === 0) return;
      yield page;
      after = page.at(-1)?.path;
    }
  }
}

/** Projections of the same records share what their values decode to. */
const decodingOnce = (value: Uint8Array | undefined) => {
  const known = new Map<Projection['source']['decode'], unknown>();
  return (decode: Projection['source']['decode']): unknown => {
    if (value !== undefined && !known.has(decode)) known.set(decode, decode(value));
    return known.get(decode);
  };
};
