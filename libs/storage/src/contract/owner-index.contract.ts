/** Indexes of declared collections. */
import { describe, expect, expectTypeOf, test } from 'vitest';
import { deleteOwned, removeOwned } from '../collections/owned-records.ts';
import {
  books,
  desks,
  labels,
  listLibraryPaths,
  members,
  tale,
  visits,
} from './library-collections.ts';
import { damage, entriesAfter, put, refusal, type StoreContext, text } from './store-context.ts';

export const registerOwnerIndexContract = (context: StoreContext): void => {
  const rows = async (): Promise<string[]> => {
    const found = [];
    for (const scope of ['shared', 'local', 'node'])
      found.push(...(await context.store.scan(`${scope}/`, { onDamaged: () => undefined })));
    return found.map(({ path }) => path).filter((path) => path.includes('~'));
  };
  describe('an index of a collection', () => {
    test('has a row for each value, which the same commit writes, moves and deletes', async () => {
      const sequence = await context.store.wal.headSequence();
      await context.store.transact((tx) => books.write(tx, 'b1', tale));
      expect(await rows()).toEqual([
        'shared/books~shelfId/s1/b1',
        'shared/books~title/s1/tale/b1',
        'shared/books~topics/sea/b1',
        'shared/books~topics/war/b1',
      ]);
      await context.store.transact((tx) =>
        books.write(tx, 'b1', { ...tale, readerId: 'r1', topics: ['war', 'ice'] }),
      );
      expect(await rows()).toEqual([
        'shared/books~readerId/r1/b1',
        'shared/books~shelfId/s1/b1',
        'shared/books~title/s1/tale/b1',
        'shared/books~topics/ice/b1',
        'shared/books~topics/war/b1',
      ]);
      await context.store.transact((tx) => books.delete(tx, 'b1'));
      expect(await rows()).toEqual([]);
      const commits = await entriesAfter(context.store, sequence);
      expect(commits.map(({ operations }) => operations.length)).toEqual([5, 4, 6]);
    });

    test('finds records by value, as the transaction that writes them already does', async () => {
      await context.store.transact(async (tx) => {
        await books.write(tx, 'b1', tale);
        await books.write(tx, 'b2', { ...tale, title: 'other', topics: ['sea'] });
        expect(await books.by.topics.keys(tx, 'sea')).toEqual(['b1', 'b2']);
      });
      expect(await books.by.topics.keys(context.store, 'sea', { after: 'b1' })).toEqual(['b2']);
      expect(await books.by.title.keys(context.store, ['s1', 'other'])).toEqual(['b2']);
      expect(await books.by.title.keys(context.store, 's1')).toEqual(['other/', 'tale/']);
      const found = await books.by.topics.records(context.store, 'war');
      expect(found).toEqual([tale]);
      expectTypeOf(found[0]?.topics).toEqualTypeOf<readonly string[] | undefined>();
      expectTypeOf<keyof typeof books.by>().toEqualTypeOf<
        'shelfId' | 'readerId' | 'topics' | 'title'
      >();
    });

    test('is asked for names only, so that a value from a request reaches no other row', async () => {
      await context.store.transact((tx) => books.write(tx, 'b1', tale));
      for (const value of ['', '..', 's1/tale', 'a\u0000']) {
        expect(await books.by.title.keys(context.store, value)).toEqual([]);
        expect(await books.by.title.records(context.store, value)).toEqual([]);
      }
    });

    test('conflicts with a transaction that listed the value', async () => {
      let runs = 0;
      const kept = await context.store.transact(async (tx) => {
        runs += 1;
        const found = await books.by.shelfId.keys(tx, 's1');
        if (runs === 1) await context.store.transact((other) => books.write(other, 'b1', tale));
        labels.write(tx, 's1', String(found.length));
        return found;
      });
      expect([runs, kept]).toEqual([2, ['b1']]);
    });

    test('loses the rows of a record that cannot be read when it is written or deleted', async () => {
      await context.store.transact(async (tx) => {
        await books.write(tx, 'b1', tale);
        await books.write(tx, 'b2', tale);
        await books.write(tx, 'xb2', tale);
      });
      await damage(context.store, books.path('b1'), books.path('b2'));
      await context.store.transact(async (tx) => {
        await books.write(tx, 'b1', { ...tale, shelfId: 's2', topics: [] });
        await books.delete(tx, 'b2');
      });
      expect(await rows()).toEqual([
        'shared/books~shelfId/s1/xb2',
        'shared/books~shelfId/s2/b1',
        'shared/books~title/s1/tale/xb2',
        'shared/books~title/s2/tale/b1',
        'shared/books~topics/sea/xb2',
        'shared/books~topics/war/xb2',
      ]);
    });

    test('makes a transaction that listed a value run again when a row is touched', async () => {
      await context.store.transact((tx) => books.write(tx, 'b1', tale));
      let runs = 0;
      await context.store.transact(async (tx) => {
        runs += 1;
        await books.by.shelfId.keys(tx, 's1');
        if (runs === 1)
          await context.store.transact((other) => books.by.shelfId.touch(other, 'b1', tale));
        labels.write(tx, 's1', 'x');
      });
      expect(runs).toBe(2);
      expect(await books.by.shelfId.keys(context.store, 's1')).toEqual(['b1']);
    });

    test('lists rows in the order of their values, a page at a time', async () => {
      await context.store.transact(async (tx) => {
        await books.write(tx, 'b2', tale);
        await books.write(tx, 'b1', { ...tale, title: 'zebra' });
        await books.write(tx, 'b3', { ...tale, shelfId: 's0' });
      });
      const { title } = books.by;
      expect(title.prefix).toBe('shared/books~title/');
      const all = ['s0/tale/b3', 's1/tale/b2', 's1/zebra/b1'];
      expect(await title.rests(context.store, [])).toEqual(all);
      const [first = ''] = await title.rests(context.store, [], { limit: 1 });
      expect(await title.rests(context.store, [], { after: first })).toEqual(all.slice(1));
      expect(await title.rests(context.store, ['s1'])).toEqual(['tale/b2', 'zebra/b1']);
      expect(await title.rests(context.store, ['s1', 'zebra'])).toEqual(['b1']);
      expect(await title.rests(context.store, ['..'])).toEqual([]);
      await damage(context.store, 'shared/books~title/s1/tale/b2');
      expect(await title.rests(context.store, [])).toEqual(all);
    });

    test('loses a row that its record does not have, and no other', async () => {
      await context.store.transact(async (tx) => {
        await books.write(tx, 'b1', tale);
        await books.write(tx, 'b2', tale);
      });
      const before = await rows();
      await put(context.store, {
        'shared/books~shelfId/s1/gone': '{}',
        'shared/books~shelfId/s9/b1': '{}',
      });
      await damage(context.store, books.path('b2'));
      await context.store.transact(async (tx) => {
        for (const key of ['b1', 'b2', 'gone']) await books.by.shelfId.prune(tx, 's1', key);
        await books.by.shelfId.prune(tx, 's9', 'b1');
      });
      expect(await rows()).toEqual(before);
    });

    test('writes nothing when its record is refused', async () => {
      await expect(
        context.store.transact((tx) => books.write(tx, 'b1', { ...tale, title: 5 as never })),
      ).rejects.toThrow('another shape');
      expect(await listLibraryPaths(context.store)).toEqual([]);
    });
  });

  describe('an index with rows in a form of its own', () => {
    const visit = (key: string, ticket: string, isOpen = true) =>
      context.store.transact((tx) => visits.write(tx, key, { ticket, isOpen }));
    const FORMS = ['shared/visited-libraries/', 'shared/tickets/', 'shared/open-visits/'];
    const formed = async (): Promise<string[]> => {
      const found = await Promise.all(FORMS.map((prefix) => context.store.scan(prefix)));
      return found.flat().map(({ path, value }) => `${path.slice(7)} ${text(value)}`);
    };

    test('writes the end and the content that the declaration says, and reads keys from them', async () => {
      await visit('l1/r1', 't1');
      await visit('l2/r1', 't2', false);
      await visit('l1/r2', 't3');
      expect(await formed()).toEqual([
        'visited-libraries/r1/l1 {}',
        'visited-libraries/r1/l2 {}',
        'visited-libraries/r2/l1 {}',
        'tickets/t1 {"library":"l1","reader":"r1"}',
        'tickets/t2 {"library":"l2","reader":"r1"}',
        'tickets/t3 {"library":"l1","reader":"r2"}',
        'open-visits/l1/r1 {"ticket":"t1"}',
        'open-visits/l1/r2 {"ticket":"t3"}',
      ]);
      expect(await visits.by.reader.keys(context.store, 'r1')).toEqual(['l1', 'l2']);
      expect(await visits.by.reader.records(context.store, 'r2')).toEqual([
        { ticket: 't3', isOpen: true },
      ]);
      expect(await visits.by.ticket.findKey(context.store, 't2')).toBe('l2/r1');
      expect(await visits.by.ticket.find(context.store, 't2')).toEqual({
        ticket: 't2',
        isOpen: false,
      });
      expect(await visits.by.open.keys(context.store, [])).toEqual(['l1/']);
      expect(await visits.by.open.records(context.store, [])).toHaveLength(2);
      await visit('l1/r1', 't1', false);
      await expect(visit('l3/r3', 't1')).rejects.toThrow(refusal('storage.not_unique'));
      expect(await visits.by.open.records(context.store, [])).toHaveLength(1);
    });

    test('loses the rows of a record that cannot be read, and no others', async () => {
      await visit('l1/r1', 't1');
      await visit('l1/r2', 't2');
      await visit('l2/r1', 't3');
      await damage(context.store, visits.path('l1/r1'));
      await context.store.transact((tx) => visits.delete(tx, 'l1', 'r1'));
      expect(await formed()).toEqual([
        'visited-libraries/r1/l2 {}',
        'visited-libraries/r2/l1 {}',
        'tickets/t2 {"library":"l1","reader":"r2"}',
        'tickets/t3 {"library":"l2","reader":"r1"}',
        'open-visits/l1/r2 {"ticket":"t2"}',
        'open-visits/l2/r1 {"ticket":"t3"}',
      ]);
    });

    test('finds what an owner owns', async () => {
      await visit('l1/r1', 't1');
      await visit('l2/r1', 't2');
      await visit('l1/r2', 't3');
      await removeOwned(context.store, { kind: 'reader', id: 'r1' });
      expect(await visits.entries(context.store)).toHaveLength(1);
      expect(await formed()).toHaveLength(3);
    });
  });

  describe('a unique index of a collection', () => {
    const member = (name: string, card = name) => ({ name, card });
    const join = (key: string, value: ReturnType<typeof member>) =>
      context.store.transact((tx) => members.write(tx, key, value));
    const rowsAt = async (prefix: string) =>
      (await context.store.scan(prefix)).map(({ path, value }) => [path, text(value)]);

    test('finds the only record with a value, at a place of its own', async () => {
      await join('m1', member('Ann', 'c1'));
      expect(await rowsAt('shared/member-names/')).toEqual([
        ['shared/member-names/a/ann', '{"id":"m1"}'],
      ]);
      expect(await members.by.name.find(context.store, ['a', 'ann'])).toEqual(member('Ann', 'c1'));
      expect(await members.by.card.findKey(context.store, 'c1')).toBe('m1');
      expect(await members.by.name.values(context.store)).toEqual(['a/']);
      expect(await members.by.name.values(context.store, ['a'])).toEqual(['ann']);
      for (const value of ['', '..', 'a/ann', 'a\u0000']) {
        expect(await members.by.name.find(context.store, value)).toBeUndefined();
        expect(await members.by.name.values(context.store, [value])).toEqual([]);
      }
      const found = await members.by.name.find(context.store, ['a', 'bob']);
      expectTypeOf(found?.card).toEqualTypeOf<string | undefined>();
    });

    test('has a record with a value for each owner, with the owner first in its path', async () => {
      const find = (library: string) => desks.by.name.findKey(context.store, [library, 'window']);
      await context.store.transact(async (tx) => {
        for (const key of ['l1/d1', 'l2/d1']) await desks.write(tx, key, { name: 'window' });
      });
      expect(await rows()).toEqual(['l1', 'l2'].map((id) => `shared/desks~name/${id}/window`));
      expect([await find('l1'), await find('l2')]).toEqual(['l1/d1', 'l2/d1']);
      const second = context.store.transact((tx) => desks.write(tx, 'l1/d2', { name: 'window' }));
      await expect(second).rejects.toMatchObject({ code: 'storage.not_unique' });
      await context.store.transact((tx) => deleteOwned(tx, { kind: 'library', id: 'l1' }));
      expect([await find('l1'), await find('l2')]).toEqual([undefined, 'l2/d1']);
      expect(await rows()).toEqual(['shared/desks~name/l2/window']);
    });

    test('refuses a second record with a value, and nothing is written', async () => {
      await join('m1', member('Ann', 'c1'));
      await expect(join('m2', member('ANN', 'c2'))).rejects.toThrow(refusal('storage.not_unique'));
      await expect(
        context.store.transact(async (tx) => {
          await members.write(tx, 'm3', member('Cleo', 'c3'));
          await members.write(tx, 'm4', member('Dan', 'c3'));
        }),
      ).rejects.toThrow(refusal('storage.not_unique'));
      expect(await members.keys(context.store)).toEqual(['m1']);
    });

    test('has two records of one value never, also if both are written at once', async () => {
      const outcomes = await Promise.allSettled(
        ['m1', 'm2', 'm3'].map((key) => join(key, member('Ann', key))),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await members.keys(context.store)).toHaveLength(1);
    });

    test('gives a value back that its record no longer has, in the same transaction too', async () => {
      await join('m1', member('Ann', 'c1'));
      await join('m1', member('Amy', 'c1'));
      await join('m2', member('Ann', 'c2'));
      await context.store.transact(async (tx) => {
        await members.delete(tx, 'm1');
        await members.write(tx, 'm3', member('Amy', 'c1'));
      });
      expect(await rowsAt('shared/members~card/')).toEqual([
        ['shared/members~card/c1', '{"id":"m3"}'],
        ['shared/members~card/c2', '{"id":"m2"}'],
      ]);
    });

    test('loses the rows of a record that cannot be read', async () => {
      await join('m1', member('Ann', 'c1'));
      await join('m2', member('Bob', 'c2'));
      await damage(context.store, members.path('m1'));
      await context.store.transact((tx) => members.delete(tx, 'm1'));
      expect(await rowsAt('shared/member-names/')).toEqual([
        ['shared/member-names/b/bob', '{"id":"m2"}'],
      ]);
    });
  });
};
