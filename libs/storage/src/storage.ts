/** Entry point without PostgreSQL. `@keelson/storage/postgres` is separate, so its client loads on demand. */
export { type Barrier, createBarrier, type KeyStatus } from './barrier/barrier.ts';
export {
  countEncryptions,
  extendKeyring,
  loadWrappedKeyring,
  moveKeyring,
  openBarrierFor,
  refreshBarrier,
  rotateBarrier,
  takeOverKeyring,
} from './barrier/open-barrier.ts';
export { termOf } from './barrier/record-cipher.ts';
export { type BytesRecords, bytesRecords } from './collections/bytes-records.ts';
export type { RecordFormat } from './collections/codec.ts';
export {
  collection,
  collections,
  type Declared,
  type Placed,
  sealedRecord,
  singleRecord,
  singleRecords,
} from './collections/collection.ts';
export { type RowContent, rowContent } from './collections/index-declaration.ts';
export type { RecordIndex } from './collections/index-rows.ts';
export type { IndexedCollection } from './collections/indexed-collection.ts';
export {
  deleteOwned,
  listOwners,
  type OwnerRef,
  removeOwned,
} from './collections/owned-records.ts';
export type {
  RecordCollection,
  RecordKey,
  SealedRecord,
  SingleRecord,
} from './collections/record-collection.ts';
export { findUnfinished, type RewrittenBatch, rewriteOlder } from './collections/rewrite-older.ts';
export {
  type Declaration,
  declaredRecords,
  findDeclaration,
  recordFacts,
  recordsMarkdown,
} from './collections/table.ts';
export { countPage, EMPTY_PAGE, loadRestoration, type Restoration } from './copies/store-copies.ts';
export { loadStoreId } from './copies/store-id.ts';
export { findUnreadable } from './copies/unreadable-records.ts';
export { checkTrees } from './merkle/merkle-check.ts';
export type { MerkleTree } from './merkle/merkle-tree.ts';
export { SUBPAGES_PER_PAGE } from './merkle/merkle-tree.ts';
export { findDifferingSubpages, type RemoteTree } from './merkle/tree-difference.ts';
export {
  type ColumnType,
  defineProjection,
  type Projection,
  type ProjectionRow,
} from './projections/projection.ts';
export { countRecords } from './records/count-records.ts';
export { deriveView } from './records/derive-view.ts';
export { readableOnly, unlessDamaged } from './records/readable-records.ts';
export { digestRecord, subpageOf } from './records/record-digest.ts';
export { comparePaths } from './records/record-path.ts';
export { type RecordedReads, recordReads } from './records/recorded-reads.ts';
export { type ExaminedStore, examineSqliteStore } from './sqlite/examine-store.ts';
export { type FileLock, takeFileLock } from './sqlite/file-lock.ts';
export { createStoreMemory, type StoreMemory } from './sqlite/shared-head.ts';
export {
  joinSqliteStore,
  openSqliteStore,
  type SqliteStoreOptions,
} from './sqlite/sqlite-store.ts';
export { openWriterPort, writeThrough } from './sqlite/writer-thread.ts';
export type * from './store.ts';
export type {
  DamagedRecord,
  MerkleCorruptionReport,
  MerkleRoots,
  MerkleTrees,
  PruneLimits,
  SubpageIndex,
  TableQuery,
  TreeType,
} from './store.ts';
export {
  FAULT_KINDS,
  type FaultKind,
  type FaultListener,
  type StoreFault,
} from './store-faults.ts';
export { takeFence } from './transaction/fence.ts';
export { decodeOperations, encodeOperations } from './wal/wal-codec.ts';
