/** The entry without PostgreSQL; `@keelson/storage/postgres` is the other, so that its client is loaded where it is used. */
export { type Barrier, createBarrier, type KeyStatus } from './barrier/barrier.ts';
export {
  countEncryptions,
  extendKeyring,
  loadWrappedKeyring,
  openBarrierFor,
  refreshBarrier,
  rotateBarrier,
  takeOverKeyring,
} from './barrier/open-barrier.ts';
export { termOf } from './barrier/record-cipher.ts';
export { checkTrees, type MerkleCorruptionReport } from './merkle/merkle-check.ts';
export type { MerkleTree } from './merkle/merkle-tree.ts';
export { SUBPAGES_PER_PAGE } from './merkle/merkle-tree.ts';
export {
  digestRecord,
  type SubpageIndex,
  subpageOf,
  type TreeType,
} from './merkle/record-digest.ts';
export { findDifferingSubpages, type RemoteTree } from './merkle/tree-difference.ts';
export {
  type ColumnType,
  defineProjection,
  type Projection,
  type ProjectionRow,
} from './projections/projection.ts';
export type { TableQuery } from './projections/table-queries.ts';
export { comparePaths } from './record-path.ts';
export { deriveView } from './records/derive-view.ts';
export { jsonRecords, type ReadonlyDeep, type RecordCollection } from './records/json-records.ts';
export { type RecordedReads, recordReads } from './records/recorded-reads.ts';
export { type FileLock, takeFileLock } from './sqlite/file-lock.ts';
export { openSqliteStore, type SqliteStoreOptions } from './sqlite/sqlite-store.ts';
export type * from './store.ts';
export { takeFence } from './transaction/fence.ts';
export type { DamagedRecord } from './trees/row-repair.ts';
export type { MerkleRoots, MerkleTrees } from './trees/tree-keeper.ts';
export type { PruneLimits } from './wal/prune.ts';
export { decodeOperations, encodeOperations } from './wal/wal-codec.ts';
