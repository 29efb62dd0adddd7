/** Declared collections of a library, which the contracts of indexes and of owners fill. */
import { Type } from 'typebox';
import { collection, collections } from '../collections/collection.ts';
import { rowContent } from '../collections/index-declaration.ts';
import { nullable } from '../shapes/shape.ts';
import type { Store } from '../store.ts';

export const shelves = collection('shelves', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ libraryId: Type.String() }),
  kind: 'shelf',
  owner: { kind: 'library', by: 'libraryId' },
  index: ['libraryId'],
});

export const books = collection('books', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({
    shelfId: Type.String(),
    readerId: nullable(Type.String()),
    topics: Type.Array(Type.String()),
    title: Type.String(),
  }),
  kind: 'book',
  owner: [
    { kind: 'shelf', by: 'shelfId' },
    { kind: 'reader', by: 'readerId' },
  ],
  index: [
    'shelfId',
    'readerId',
    'topics',
    { name: 'title', values: ({ shelfId, title }) => [[shelfId, title]] },
  ],
});

/** The rows of "name" are where an earlier release wrote them. */
export const members = collection('members', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ name: Type.String(), card: Type.String() }),
  index: [
    {
      name: 'name',
      unique: true,
      rows: 'member-names',
      values: ({ name }) => [[name.slice(0, 1).toLowerCase(), name.toLowerCase()]],
    },
    { name: 'card', unique: true, values: ({ card }) => [card] },
  ],
});

/** Keyed by library id, desk id. */
export const desks = collection('desks', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: Type.Object({ name: Type.String() }),
  owner: { kind: 'library', by: '*' },
  index: [{ name: 'name', values: ({ name }) => [name], unique: true, ofOwner: true }],
});

/** Keyed by library id, reader id. The rows are where an earlier release wrote them, in its form. */
export const visits = collection('visits', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ ticket: Type.String(), isOpen: Type.Boolean() }),
  owner: { kind: 'reader', by: 'reader' },
  index: [
    {
      name: 'reader',
      values: (_, key) => [key.split('/')[1] ?? ''],
      rows: {
        at: 'visited-libraries',
        end: {
          of: (key) => key.split('/')[0] ?? '',
          toKey: (library, [reader = '']) => `${library}/${reader}`,
        },
      },
    },
    {
      name: 'ticket',
      unique: true,
      values: ({ ticket }) => [ticket],
      rows: {
        at: 'tickets',
        content: rowContent(
          Type.Object({ library: Type.String(), reader: Type.String() }),
          (_, key) => {
            const [library = '', reader = ''] = key.split('/');
            return { library, reader };
          },
          ({ library, reader }) => `${library}/${reader}`,
        ),
      },
    },
    {
      name: 'open',
      values: ({ isOpen }) => (isOpen ? [[]] : []),
      rows: {
        at: 'open-visits',
        content: rowContent(
          Type.Object({ ticket: Type.String() }),
          ({ ticket }: { readonly ticket: string }) => ({ ticket }),
        ),
      },
    },
  ],
});

/** Keyed by book id, page. */
export const notes = collection('notes', {
  scope: 'local',
  version: 1,
  shape: Type.String(),
  owner: { kind: 'book', by: '*' },
});

/** Keyed by the id of the shelf. */
export const labels = collection('labels', {
  scope: 'shared',
  version: 1,
  shape: Type.String(),
  owner: { kind: 'shelf', by: '*' },
});

export const plans = collections('libraries/*/plans', {
  scopes: ['shared', 'local'],
  version: 1,
  shape: Type.String(),
  owner: { kind: 'library', by: '*' },
});

export const tale = { shelfId: 's1', readerId: null, topics: ['sea', 'war'], title: 'tale' };

/** Paths of all records of the library, damaged ones too. */
export const listLibraryPaths = async (store: Store): Promise<string[]> => {
  const found: string[] = [];
  for (const scope of ['shared/', 'local/'])
    for (const { path } of await store.scan(scope, {
      onDamaged: (damaged) => found.push(damaged),
    }))
      found.push(path);
  return found.filter((path) =>
    /^(shared|local)\/(shelves|books|notes|labels|libraries)/.test(path),
  );
};
