/** Records of each subpage compared with a walk over all, whatever is made, deleted, added and undone. */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SQLITE_SCHEMA } from './sqlite-schema.ts';
import { SqliteSubpages } from './sqlite-subpages.ts';

const STEP_RECORDS = 3;
const SUBPAGES = [0, 1, 4095, 4096, 65_535];

const path = fc.nat(30).map((number) => `shared/${number}`);
const operation = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    put: fc.array(path, { maxLength: 6 }),
    deleted: fc.array(path, { maxLength: 6 }),
    isUndone: fc.boolean(),
  }),
  fc.record({ kind: fc.constantFrom('add', 'additions', 'step', 'reopen') }),
);

const subpageOf = (name: string): number => SUBPAGES[(name.length * 7) % SUBPAGES.length] ?? 0;

test('every record is found in its subpage, and nothing else is', () => {
  fc.assert(
    fc.property(fc.array(operation, { minLength: 5, maxLength: 60 }), (operations) => {
      using database = new DatabaseSync(':memory:');
      database.exec(SQLITE_SCHEMA);
      const put = database.prepare(
        `INSERT INTO record (path, version, subpage, stored) VALUES (?, 1, ?, x'00')
         ON CONFLICT (path) DO UPDATE SET version = version + 1`,
      );
      let subpages = new SqliteSubpages(database, STEP_RECORDS);
      let additions = subpages.additions();
      const known = new Map<string, number>();
      let salt = 0;
      const takeStep = (): boolean => {
        const { value, done } = additions.next();
        value?.();
        return done === true;
      };
      const write = (paths: readonly string[], deleted: readonly string[], isUndone: boolean) => {
        database.exec(isUndone ? 'BEGIN' : 'SAVEPOINT kept');
        const gone = deleted.filter((name) => !paths.includes(name));
        subpages.deleteRecords(gone);
        const located = paths.map((name) => {
          const subpage = known.get(name) ?? subpageOf(`${name}${'x'.repeat(salt++ % 5)}`);
          put.run(name, subpage);
          return [name, subpage] as const;
        });
        subpages.noteNew();
        if (isUndone) {
          database.exec('ROLLBACK');
          subpages.reload();
          return;
        }
        database.exec('RELEASE kept');
        for (const name of gone) known.delete(name);
        for (const [name, subpage] of located) if (!known.has(name)) known.set(name, subpage);
      };
      for (const one of operations) {
        if (one.kind === 'write') write(one.put, one.deleted, one.isUndone);
        if (one.kind === 'add' && subpages.behind > 0) subpages.addNext();
        if (one.kind === 'additions') additions = subpages.additions();
        if (one.kind === 'step') takeStep();
        if (one.kind === 'reopen') {
          subpages = new SqliteSubpages(database, STEP_RECORDS);
          additions = subpages.additions();
        }
      }
      while (!takeStep());
      while (subpages.behind > 0) subpages.addNext();
      for (const subpage of SUBPAGES) {
        const expected = [...known].filter(([, at]) => at === subpage).map(([name]) => name);
        expect(subpages.list(subpage)).toEqual(expected.toSorted());
      }
    }),
    { numRuns: 300 },
  );
});
