/**
 * The kinds of records that the next release stores in another shape or at another place. Its own code is that of today, so each record is
 * brought back to the shape of today after it has been read as version 2, and to that of version 2 before it is written.
 */
import { type TObject, Type } from 'typebox';
import type { RecordCodec, RecordFormat } from '../../../../libs/storage/src/collections/codec.ts';
import type { VersionedRecord } from '../../../../libs/storage/src/collections/upgrades.ts';
import type { RecordScope } from '../../../../libs/storage/src/store.ts';

interface Change {
  readonly shape: (before: TObject) => TObject;
  readonly up: (older: VersionedRecord) => VersionedRecord;
  readonly down: (newer: VersionedRecord, replaced?: VersionedRecord) => VersionedRecord;
}

const without = (record: VersionedRecord, ...names: readonly string[]): VersionedRecord =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

const propertiesWithout = ({ properties }: TObject, name: string): TObject['properties'] =>
  Object.fromEntries(Object.entries(properties).filter(([one]) => one !== name));

const CHANGES: Readonly<Record<string, Change>> = {
  // workspace: a field is added
  organizations: {
    shape: (before) => Type.Object({ ...before.properties, region: Type.String() }),
    up: (older) => ({ ...older, region: 'none' }),
    down: (newer) => without(newer, 'region'),
  },
  // workspace: a field is removed, and the kind moves; three tables follow from these records
  projects: {
    shape: (before) => Type.Object(propertiesWithout(before, 'description')),
    up: (older) => without(older, 'description'),
    down: (newer, replaced) => ({ ...newer, description: replaced?.['description'] ?? '' }),
  },
  // pki: a field is renamed
  'mounts/*/roles': {
    shape: (before) =>
      Type.Object({ ...propertiesWithout(before, 'allowAnyName'), anyName: Type.Boolean() }),
    up: ({ allowAnyName, ...older }) => ({ ...older, anyName: allowAnyName }),
    down: ({ anyName, ...newer }) => ({ ...newer, allowAnyName: anyName }),
  },
  // sys: a field is divided
  policies: {
    shape: () => Type.Object({ firstLine: Type.String(), others: Type.Array(Type.String()) }),
    up: ({ text }) => {
      const [firstLine = '', ...others] = String(text).split('\n');
      return { firstLine, others };
    },
    down: ({ firstLine, others }) => ({
      text: [firstLine, ...(others as readonly string[])].join('\n'),
    }),
  },
};

/** Other places, by the former ones. */
const MOVES: Readonly<Record<string, string>> = {
  // workspace: owned by an organization, owners themselves, with indexes
  projects: 'groups-of-workspaces',
  teams: 'groups-of-users',
  // pki: of each mount
  'acme/*/eab': 'acme/*/unbound-keys',
  // sys: of each namespace
  'token-roles': 'roles-of-tokens',
};

/** Indexes that the next release adds. */
const LATER_INDEXES: Readonly<Record<string, object>> = {
  teams: {
    name: 'initial',
    since: 2,
    values: ({ name }: { readonly name: string }) => [name.slice(0, 1)],
  },
};

const unchanged = (record: VersionedRecord): VersionedRecord => record;

/** Called with the arguments of a declaration of many records. @returns those of the next release */
export const nextPlace = (
  name: string,
  options: object,
  index?: readonly unknown[],
): readonly [name: string, options: object, index: readonly unknown[] | undefined] => {
  const moved = MOVES[name];
  if (moved === undefined) return [name, options, index];
  const later = LATER_INDEXES[name];
  const upgrades = { 2: { up: unchanged, down: unchanged } };
  return [
    moved,
    { ...options, version: 2, upgrades, moved: { from: name, in: 2 } },
    index && (later === undefined ? index : [...index, later]),
  ];
};

/** Called in place of `codecOf` of `collections/collection.ts`. */
export const nextCodec = (
  make: (kind: string, format: RecordFormat<TObject>) => RecordCodec<unknown>,
  name: string,
  scopes: readonly RecordScope[],
  format: RecordFormat<TObject>,
): RecordCodec<unknown> => {
  const kind = `${scopes.join()}/${name}`;
  const change = CHANGES[name];
  if (change === undefined) return make(kind, format);
  const { up, down } = change;
  const codec = make(kind, {
    version: 2,
    shape: change.shape(format.shape),
    upgrades: { 2: { up, down } },
  });
  return {
    ...codec,
    decode: (path, value) => down(codec.decode(path, value) as VersionedRecord),
    encode: (path, value, form) => codec.encode(path, up(value as VersionedRecord), form),
  };
};
