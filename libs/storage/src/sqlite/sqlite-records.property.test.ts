/** Records compared with a map of them, whatever is made, changed, deleted, added to the indexes and undone. */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RowChange } from '../backend.ts';
import { comparePaths, rangeBelow } from '../record-path.ts';
import { SqliteRecords } from './sqlite-records.ts';
import { SQLITE_SCHEMA } from './sqlite-schema.ts';

const OPTIONS = { stepRecords: 3 };
const SUBPAGES = [0, 1, 4095, 4096, 65_535];

interface Compared {
  readonly found: unknown;
  readonly expected: unknown;
}

interface Known {
  readonly version: number;
  readonly subpage: number;
}

const path = fc
  .tuple(fc.constantFrom('a', 'b/', '\uffff', '\u{10000}'), fc.nat(9))
  .map(([text, number]) => `shared/${text}${number}`);
const paths = fc.uniqueArray(path, { maxLength: 8 });
const subpage = fc.constantFrom(...SUBPAGES);
const operation = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      changed: fc.uniqueArray(fc.tuple(path, fc.option(subpage)), {
        maxLength: 8,
        selector: ([name]) => name,
      }),
      located: paths,
      isUndone: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('steps' as const),
      count: fc.integer({ min: 1, max: 12 }),
      isLastUndone: fc.boolean(),
    }),
  },
  fc.record({ kind: fc.constant('restore' as const), path, subpage }),
  fc.record({
    kind: fc.constant('range' as const),
    prefix: fc.constantFrom('', 'shared/', 'shared/b/'),
    after: fc.option(path, { nil: undefined }),
    limit: fc.constantFrom(1, 5, Number.POSITIVE_INFINITY),
  }),
  fc.record({ kind: fc.constantFrom('reopen' as const, 'list' as const, 'catchUp' as const) }),
);

/** A file whose process ends and starts again, with what it should hold. */
class Opened implements Disposable {
  readonly #database = new DatabaseSync(':memory:');
  readonly #known = new Map<string, Known>();
  #records: SqliteRecords;
  #additions: Generator<() => void>;
  #version = 0;

  constructor() {
    this.#database.exec(SQLITE_SCHEMA);
    this.#records = new SqliteRecords(this.#database, OPTIONS);
    this.#additions = this.#records.indexes.additions();
  }

  /** @returns how far the indexes are, after and before */
  reopen(): Compared {
    const expected = this.#records.indexes.indexedTo;
    this.#database.exec('DROP TABLE temp.recent_path; DROP TABLE temp.subpage_staged');
    this.#records = new SqliteRecords(this.#database, OPTIONS);
    this.#additions = this.#records.indexes.additions();
    return { found: this.#records.indexes.indexedTo, expected };
  }

  write(
    changed: readonly (readonly [string, number | null])[],
    located: readonly string[],
    isUndone: boolean,
  ): void {
    this.#version += 1;
    const version = this.#version;
    const changes = changed.map(([name, at]): RowChange => {
      if (at === null) return { path: name, stored: undefined };
      const leaf = Buffer.from(`leaf ${version}`);
      const digest = { subpage: this.#known.get(name)?.subpage ?? at, leaf };
      return { path: name, stored: Buffer.from(`${name} ${version}`), version, digest };
    });
    for (const name of located) this.#records.findLeaf(name);
    this.#transact(() => this.#records.write(changes), isUndone);
    if (isUndone) return;
    for (const change of changes)
      if (change.stored === undefined) this.#known.delete(change.path);
      else this.#known.set(change.path, { version, subpage: change.digest?.subpage ?? 0 });
  }

  restore(name: string, at: number): void {
    const known = this.#known.get(name);
    const version = known?.version ?? 0;
    const digest = { subpage: at, leaf: Buffer.from(`leaf ${version}`) };
    const stored = Buffer.from(`${name} ${version}`);
    this.#records.restore({ path: name, version, stored, digest });
    if (known !== undefined) this.#known.set(name, { version, subpage: at });
  }

  /** @returns whether there was one */
  step(isUndone: boolean): boolean {
    const { value } = this.#additions.next();
    if (value !== undefined) this.#transact(value, isUndone);
    if (value === undefined || isUndone) this.#additions = this.#records.indexes.additions();
    return value !== undefined;
  }

  readRange(prefix: string, after?: string, limit = Number.POSITIVE_INFINITY): Compared {
    const range = rangeBelow(prefix, after);
    const isIn = ([name]: readonly [string, Known]): boolean =>
      comparePaths(name, range.from) >= 0 && comparePaths(name, range.to) < 0;
    const expected = [...this.#known]
      .filter(isIn)
      .toSorted(([a], [b]) => comparePaths(a, b))
      .slice(0, limit)
      .map(([name, { version }]) => {
        const stored = new Uint8Array(Buffer.from(`${name} ${version}`));
        return { path: name, stored, version };
      });
    const leaves = expected.map(({ version }) => new Uint8Array(Buffer.from(`leaf ${version}`)));
    const paths = expected.map(({ path: name }) => name);
    const records = this.#records;
    return {
      found: {
        paths: records.listPaths(range, limit),
        rows: records.scanRows(range, limit).map((row) => ({ ...row })),
        checked: records.scanChecked(range, limit),
        single: paths.map((name) => ({ ...records.findRow(name) })),
      },
      expected: {
        paths,
        rows: expected,
        checked: expected.map((row, at) => ({ ...row, leaf: leaves[at] })),
        single: expected,
      },
    };
  }

  /** To the end of what is under way, and once more for what came meanwhile. */
  catchUp(): void {
    for (const _ of [1, 2]) while (this.step(false));
  }

  readSubpages(): Compared {
    for (const step of this.#records.indexes.staging()) this.#transact(step, false);
    const pathsIn = (at: number): readonly string[] => {
      const known = [...this.#known].filter(([, record]) => record.subpage === at);
      return known.map(([name]) => name).toSorted(comparePaths);
    };
    return {
      found: SUBPAGES.map((at) => this.#records.indexes.list(at)),
      expected: SUBPAGES.map(pathsIn),
    };
  }

  countIndexed(): Record<string, unknown> {
    const counted = this.#database.prepare(
      `SELECT (SELECT count(*) FROM record_path) AS paths,
              (SELECT count(*) FROM recent_path) AS recent,
              (SELECT count(*) FROM subpage_record) AS subpages,
              (SELECT count(*) FROM subpage_staged) AS staged`,
    );
    return { ...counted.get() };
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #transact(work: () => void, isUndone: boolean): void {
    this.#database.exec('BEGIN');
    work();
    this.#database.exec(isUndone ? 'ROLLBACK' : 'COMMIT');
    if (isUndone) this.#records.indexes.reload();
  }
}

test('records are found by path, in order and by subpage, however far the indexes are', () => {
  fc.assert(
    fc.property(fc.array(operation, { minLength: 5, maxLength: 80 }), (operations) => {
      using opened = new Opened();
      const compare = ({ found, expected }: Compared) => expect(found).toEqual(expected);
      for (const one of operations) {
        if (one.kind === 'write') opened.write(one.changed, one.located, one.isUndone);
        if (one.kind === 'steps')
          for (let at = 1; at <= one.count; at += 1)
            opened.step(one.isLastUndone && at === one.count);
        if (one.kind === 'restore') opened.restore(one.path, one.subpage);
        if (one.kind === 'range') compare(opened.readRange(one.prefix, one.after, one.limit));
        if (one.kind === 'reopen') compare(opened.reopen());
        if (one.kind === 'list') compare(opened.readSubpages());
        if (one.kind === 'catchUp') opened.catchUp();
      }
      compare(opened.readRange(''));
      compare(opened.readSubpages());
    }),
    { numRuns: 300 },
  );
});

test.each(['added', 'staged', 'neither'])('what is deleted is in no index: %s', (state) => {
  using opened = new Opened();
  const names = Array.from({ length: 20 }, (_, number) => `shared/${number}`);
  const write = (subpageOf: number | null): void =>
    opened.write(
      names.map((name) => [name, subpageOf]),
      [],
      false,
    );
  write(1);
  if (state === 'added') opened.catchUp();
  if (state === 'staged') opened.readSubpages();
  write(null);
  expect(opened.countIndexed()).toEqual({ paths: 0, recent: 0, subpages: 0, staged: 0 });
});
