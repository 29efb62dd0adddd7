/** Records as the rows of a database hold them. */

import type { WalEntry, WalOperation } from '../store.ts';
import type { RecordDigest } from './record-digest.ts';
import type { PathRange } from './record-path.ts';

export interface StoredRow {
  readonly path: string;
  /** Bytes on disk: encrypted for shared and local scope. */
  readonly stored: Uint8Array;
  readonly version: number;
}

/** Final state of a record after a group of commits. */
export type RowChange = DeletedRow | PutRow;

export interface DeletedRow {
  readonly path: string;
  readonly stored: undefined;
}

export interface PutRow extends StoredRow {
  /** Leaf stored with the record; undefined if the record is in no Merkle tree. */
  readonly digest: RecordDigest | undefined;
}

/** An operation of a commit of this process. */
export interface CommittedOperation extends WalOperation {
  /** The digest of the new value; undefined if it was deleted, or is in no Merkle tree. */
  readonly digest: RecordDigest | undefined;
}

/** A commit of this process. */
export interface CommittedEntry extends WalEntry {
  readonly operations: readonly CommittedOperation[];
}

/** A row with the leaf that was stored when it was committed. */
export interface CheckedRow extends StoredRow {
  readonly leaf: Uint8Array | undefined;
}

export interface Snapshot {
  readonly headSequence: number;
  scanRows(range: PathRange, limit: number): Promise<readonly StoredRow[]>;
}
