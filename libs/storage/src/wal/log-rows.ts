/** The log as a database keeps it. */
import type { WalEntry } from '../store.ts';
import type { WalMark } from './prune.ts';

export interface LogEntries {
  /** Sequence of the oldest entry kept, undefined when none is. */
  firstSequence(): Promise<number | undefined>;
  /** Kept entries after `sequence`, oldest first. */
  loadEntries(sequence: number, limit: number): Promise<readonly WalEntry[]>;
}

export interface LogRows extends LogEntries {
  /** Undefined if it was not stored. */
  loadMark(sequence: number): Promise<WalMark | undefined>;
  deleteEntriesBefore(sequence: number): Promise<void>;
}
