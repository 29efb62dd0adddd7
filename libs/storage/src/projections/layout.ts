/**
 * Everything by which a process derives data from records, in one digest. Processes with different digests
 * would derive different data from the same records, so only one digest at a time may write to a store.
 */
import { createHash } from 'node:crypto';
import { type Projection, rowVersionOf } from './projection.ts';

/** A kind of derived data; `version` rises with each change. */
export interface LayoutPart {
  readonly name: string;
  readonly version: number;
}

/** "" when nothing is derived. The parts may be in any order. */
export const layoutDigest = (parts: readonly LayoutPart[]): string =>
  parts.length === 0
    ? ''
    : createHash('sha256')
        .update(
          parts
            .map(({ name, version }) => `${name} ${version}\n`)
            .sort()
            .join(''),
        )
        .digest('hex')
        .slice(0, 32);

export const partsOf = (projections: readonly Projection[]): readonly LayoutPart[] =>
  projections.map((projection) => ({
    name: `projection ${projection.table}`,
    version: rowVersionOf(projection),
  }));

/** The layout in the head while the tables of another are built, so that nobody writes to them meanwhile. */
export const underConstruction = (layout: string): string => `building ${layout}`;
