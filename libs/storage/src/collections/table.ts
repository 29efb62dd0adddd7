/** All kinds of records that the modules of this process declare. */
import type { TSchema } from 'typebox';
import { shapeDigest } from '../shapes/shape.ts';
import type { RecordScope } from '../store.ts';

/** Facts about a kind of records that hold without reading any. */
export interface Declaration {
  /** Path below the scope, without a final slash. "*" stands for one segment, such as the id of a mount. */
  readonly name: string;
  readonly scopes: readonly RecordScope[];
  /** Whether there is one record at the path, rather than any number below it. */
  readonly isSingle: boolean;
  readonly version: number;
  readonly shape: TSchema;
}

const declarations: Declaration[] = [];

/** Called by every declaration, so that none can be forgotten in a list. */
export const register = (declaration: Declaration): Declaration => {
  declarations.push(declaration);
  return declaration;
};

/** Declarations of the modules loaded so far, in order of their names. */
export const declaredRecords = (): readonly Declaration[] =>
  declarations.toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** Paths of the records of a declaration: "*" is one segment, "…" one or more. */
const pathsOf = ({ name, scopes, isSingle }: Declaration): string =>
  scopes.map((scope) => `\`${scope}/${name}${isSingle ? '' : '/…'}\``).join(', ');

/** The declarations as rows of a Markdown table: paths, version and digest of the shape. */
export const recordsMarkdown = (declared: readonly Declaration[]): string =>
  [
    '| records | version | shape |',
    '| --- | --- | --- |',
    ...declared.map(
      (one) => `| ${pathsOf(one)} | ${one.version} | \`${shapeDigest(one.shape)}\` |`,
    ),
  ].join('\n');
