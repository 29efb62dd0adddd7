/** The index of stored contents. Versions with the same bytes share them, so that references are counted. */

import { collection } from '@keelson/storage';
import { Type } from 'typebox';
import { storedBodyShape } from './domain/stored-content.ts';

/** Keyed by `sc-…`. */
export const stateContents = collection('state-contents', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ ...storedBodyShape.properties, references: Type.Number() }),
});

/**
 * Contents that no version refers to: uploads in progress or interrupted, and released contents. Keyed by
 * `sc-…`.
 */
export const unreferencedContents = collection('loose-state-contents', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({
    place: storedBodyShape.properties.place,
    /** Absent after a release, until the first round of removals sets it. */
    removableFromMs: Type.Optional(Type.Number()),
  }),
});
