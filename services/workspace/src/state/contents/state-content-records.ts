/** The index of stored contents. Versions with the same bytes share them, so that references are counted. */
import { keyedRecords } from '../../base/keyed-records.ts';
import type { StoredBody } from './domain/stored-content.ts';

/** Keyed by `sc-…`. */
export const stateContents = keyedRecords<
  StoredBody & {
    readonly references: number;
  }
>('shared/state-contents/');

/**
 * Contents that no version refers to: uploads in progress or interrupted, and released contents. Keyed by
 * `sc-…`.
 */
export const looseContents = keyedRecords<{
  readonly place: StoredBody['place'];
  /** Absent after a release, until the first round of removals sets it. */
  readonly removableFromMs?: number;
}>('shared/loose-state-contents/');
