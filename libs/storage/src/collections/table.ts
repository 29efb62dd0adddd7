/** All kinds of records that the modules of this process declare. */
import type { TSchema } from 'typebox';
import { shapeDigest } from '../shapes/shape.ts';
import type { Reads, RecordScope, Store, Transaction } from '../store.ts';
import type { RecordCodec, RecordKind } from './codec.ts';

/** In place of a field: the segment for which "*" stands in the name, or else the first segment of the key. */
export const FIRST_SEGMENT = '*';

/** The owner of a record, which is deleted with it. */
export interface Owner<By extends string = string> {
  /** The kind of the owner, such as "organization": `kind` of the owner's own declaration, if it has one. */
  readonly kind: string;
  /** The index whose value is the owner's id, or "*" (`FIRST_SEGMENT`). */
  readonly by: By;
  /** The owner's id is the whole key, so that an owner has one record at most. Only for "*". */
  readonly isKey?: true;
}

/** The indexes of a kind of records, by their names. */
export interface DeclaredIndexes {
  /** Keys of at most `limit` records with a value. */
  allKeys(reads: Reads, name: string, value: string, limit?: number): Promise<readonly string[]>;
  /** The first segments of the values, as `Reads.list` returns names. */
  firstValues(reads: Reads, name: string): Promise<readonly string[]>;
  /** Ends the time in which an index that was added later lacks rows, if no record of an older version is left. */
  finish(store: Store): Promise<void>;
  /** Places of the indexes that were added later and still lack rows. */
  unfinished(reads: Reads): Promise<readonly string[]>;
}

/** Facts about a kind of records that hold without reading any. */
export interface Declaration {
  /** Path below the scope, without a final slash. "*" stands for one segment, such as the id of a mount. */
  readonly name: string;
  readonly scopes: readonly RecordScope[];
  /** Whether there is one record at the path, rather than any number below it. */
  readonly isSingle: boolean;
  /** Whether the value is encrypted with a key that only its readers have. */
  readonly isSealed?: boolean;
  readonly version: number;
  readonly shape: TSchema;
  readonly codec: RecordCodec<unknown>;
  /** Any of them owns a record. */
  readonly owners: readonly Owner[];
  /** The kind as which records are owners; the last segment of the key is the owner's id. */
  readonly kind?: string | undefined;
  /** The name of the collection, if the records are the rows of its index. */
  readonly indexOf?: string;
  /** Whether the paths of these rows begin with the owner of the record. */
  readonly namesOwner?: boolean;
  /** The name of the collection, if older versions of its records are here. */
  readonly movedTo?: string;
  readonly indexes?: DeclaredIndexes;
  /** Writes a record where it belongs, and its rows in indexes; absent if there is one place and no index. */
  readonly writeAt?: (tx: Transaction, path: string, value: unknown) => Promise<void>;
  /** Deletes a record, wherever it is, and its rows in indexes. */
  readonly deleteAt: (tx: Transaction, path: string) => void | Promise<void>;
}

const declarations: Declaration[] = [];

/** In order, until another one is registered: a start asks for them hundreds of times. */
let ordered: readonly Declaration[] | undefined;

/** A place of the records of a declaration. */
interface Place {
  readonly segments: readonly string[];
  readonly declaration: Declaration;
}

/** By scope and first segment of the name, the most specific first. */
const places = new Map<string, Place[]>();

const starsOf = ({ segments }: Place): number => segments.filter((one) => one === '*').length;

const addPlaces = (declaration: Declaration): void => {
  const segments = declaration.name.split('/');
  for (const scope of declaration.scopes) {
    const start = `${scope}/${segments[0]}`;
    const together = [...(places.get(start) ?? []), { segments, declaration }];
    places.set(
      start,
      together.sort((a, b) => b.segments.length - a.segments.length || starsOf(a) - starsOf(b)),
    );
  }
};

/** Called by every declaration, so that none can be forgotten in a list. */
export const register = (declaration: Declaration): Declaration => {
  declarations.push(declaration);
  ordered = undefined;
  addPlaces(declaration);
  return declaration;
};

/**
 * The declaration of the record at a path: the most specific one of the modules loaded so far.
 * @returns undefined for a record that has a format of its own
 */
export const findDeclaration = (path: string): Declaration | undefined => {
  const [scope, ...segments] = path.split('/');
  const isAt = ({ segments: name, declaration: { isSingle } }: Place): boolean =>
    (isSingle ? segments.length === name.length : segments.length > name.length) &&
    name.every((one, at) => one === '*' || one === segments[at]);
  return places.get(`${scope}/${segments[0]}`)?.find(isAt)?.declaration;
};

/** The kinds of records of which an owner of this kind may have any. */
export const declarationsOwnedBy = (kind: string): readonly Declaration[] =>
  declarations.filter(({ owners }) => owners.some((owner) => owner.kind === kind));

const nameAndScopes = ({ name, scopes }: Declaration): string => `${name} ${scopes.join()}`;

/** Declarations of the modules loaded so far, in order of their names and scopes. */
export const declaredRecords = (): readonly Declaration[] => {
  ordered ??= declarations.toSorted((a, b) => (nameAndScopes(a) < nameAndScopes(b) ? -1 : 1));
  return ordered;
};

/** The kinds of records of the modules loaded so far. */
export const declaredKinds = (): readonly RecordKind[] => declarations.map(({ codec }) => codec);

/** Paths of the records of a declaration: "*" is one segment, "…" one or more. */
const pathsOf = ({ name, scopes, isSingle }: Declaration): readonly string[] =>
  scopes.map((scope) => `${scope}/${name}${isSingle ? '' : '/…'}`);

/** Facts about the records at a path that change only with a version. */
export interface RecordFacts {
  readonly version: number;
  /** Digest of the shape. */
  readonly shape: string;
}

/** By path: "*" is one segment, "…" one or more. */
export const recordFacts = (
  declared: readonly Declaration[],
): Readonly<Record<string, RecordFacts>> =>
  Object.fromEntries(
    declared.flatMap((one) =>
      pathsOf(one).map((path) => [path, { version: one.version, shape: shapeDigest(one.shape) }]),
    ),
  );

const ownersOf = ({ owners, indexOf, movedTo }: Declaration): string => {
  if (indexOf !== undefined) return `(index of \`${indexOf}\`)`;
  if (movedTo !== undefined) return `(former place of \`${movedTo}\`)`;
  return owners.map(({ kind }) => kind).join(' or ');
};

/** The declarations as rows of a Markdown table: paths, version, digest of the shape and kinds of owners. */
export const recordsMarkdown = (declared: readonly Declaration[]): string =>
  [
    '| records | version | shape | owner |',
    '| --- | --- | --- | --- |',
    ...declared.map((one) => {
      const paths = pathsOf(one).map((path) => `\`${path}\``);
      return `| ${paths.join(', ')} | ${one.version} | \`${shapeDigest(one.shape)}\` | ${ownersOf(one)} |`;
    }),
  ].join('\n');
