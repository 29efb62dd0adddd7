import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type NamespaceRecord, parentPathOf } from './namespace.ts';
import { contains, NamespaceTable } from './namespace-table.ts';

const segments = fc.array(fc.constantFrom('a', 'b', 'team'), { minLength: 1, maxLength: 4 });

/** Sets of namespaces whose ancestors all exist. */
const namespaces = fc.array(segments).map((wanted) => {
  const paths = new Set(
    wanted.flatMap((names) => names.map((_, at) => `${names.slice(0, at + 1).join('/')}/`)),
  );
  return [...paths].map(
    (path, index): NamespaceRecord => ({
      id: `id${index}`,
      path,
      customMetadata: {},
      isDeleting: false,
    }),
  );
});
const requestPath = fc
  .tuple(segments, fc.constantFrom('sys/mounts', 'x', ''))
  .map(([names, end]) => `${names.join('/')}/${end}`);

test('header and path prefix name the same namespace, however it is divided between them', () => {
  fc.assert(
    fc.property(namespaces, requestPath, (records, path) => {
      const table = new NamespaceTable(records, new Set());
      const whole = table.resolve('', path);
      expect(whole).toBeDefined();
      for (const above of table.lineageOf(whole?.namespace ?? { path: '' })) {
        const rest = path.slice(above.path.length);
        for (const header of [above.path, above.path.slice(0, -1), `/${above.path}`])
          expect(table.resolve(header, rest)).toEqual(whole);
      }
    }),
  );
});

test('no part of a request path is lost or duplicated', () => {
  fc.assert(
    fc.property(namespaces, requestPath, (records, path) => {
      const found = new NamespaceTable(records, new Set()).resolve('', path);
      expect(`${found?.namespace.path}${found?.path}`).toBe(path);
    }),
  );
});

test('a namespace is locked exactly when it or one above it is', () => {
  fc.assert(
    fc.property(namespaces, fc.nat(), (records, pick) => {
      fc.pre(records.length > 0);
      const locked = records[pick % records.length];
      if (locked === undefined) return;
      const table = new NamespaceTable(records, new Set([locked.id]));
      for (const record of records)
        expect(table.lockedBy(record) === locked).toBe(contains(locked, record));
    }),
  );
});

test('a namespace that is being deleted is not found', () => {
  const gone: NamespaceRecord = { id: 'gone', path: 'a/', customMetadata: {}, isDeleting: true };
  const table = new NamespaceTable([gone], new Set());
  expect(table.resolve('a', 'x')).toBeUndefined();
  expect(table.resolve('', 'a/x')?.path).toBe('a/x');
  expect(table.childrenOf({ path: parentPathOf('a/') })).toEqual([]);
});
