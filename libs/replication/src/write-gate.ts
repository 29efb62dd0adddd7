/**
 * Keeps a service from writing what another cluster decides: shared/ on a performance secondary, local/
 * too on a DR secondary, both while the role changes. What replication itself applies goes past it.
 */
import { KeelsonError } from '@keelson/errors';
import type { Store, Transaction } from '@keelson/storage';

export type ClosedScopes = 'none' | 'shared' | 'all';

const PREFIXES: Readonly<Record<ClosedScopes, readonly string[]>> = {
  none: [],
  shared: ['shared/'],
  all: ['shared/', 'local/'],
};

export class WriteGate {
  #closed: ClosedScopes = 'none';

  get closed(): ClosedScopes {
    return this.#closed;
  }

  close(scopes: ClosedScopes): void {
    this.#closed = scopes;
  }

  /** @throws KeelsonError `replication.read_only` */
  requireOpen(path: string): void {
    if (PREFIXES[this.#closed].some((prefix) => path.startsWith(prefix)))
      throw new KeelsonError('replication.read_only');
  }
}

/** The store as all of a service but its replication uses it. */
export const guardWrites = (store: Store, gate: WriteGate): Store => {
  const guarded = (tx: Transaction): Transaction => ({
    read: (path) => tx.read(path),
    list: (prefix, options) => tx.list(prefix, options),
    scan: (prefix, options) => tx.scan(prefix, options),
    write: (path, value) => {
      gate.requireOpen(path);
      tx.write(path, value);
    },
    delete: (path) => {
      gate.requireOpen(path);
      tx.delete(path);
    },
  });
  return {
    read: (path) => store.read(path),
    list: (prefix, options) => store.list(prefix, options),
    scan: (prefix, options) => store.scan(prefix, options),
    // Open gates cost nothing.
    transact: (body, options) =>
      store.transact((tx) => body(gate.closed === 'none' ? tx : guarded(tx)), options),
    select: (build) => store.select(build),
    findByPart: (table, query) => store.findByPart(table, query),
    tallies: (table, keys) => store.tallies(table, keys),
    comingAndGoing: (prefix, position) => store.comingAndGoing(prefix, position),
    rebuildProjections: () => store.rebuildProjections(),
    applyEntries: (source, entries, options) => store.applyEntries(source, entries, options),
    applyRecords: (source, operations, options) => store.applyRecords(source, operations, options),
    appliedSequence: (source) => store.appliedSequence(source),
    appliedPosition: (source) => store.appliedPosition(source),
    position: () => store.position(),
    hasChangedSince: (paths, position) => store.hasChangedSince(paths, position),
    wal: store.wal,
    merkle: store.merkle,
    stored: store.stored,
    close: () => store.close(),
  };
};
