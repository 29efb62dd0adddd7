/**
 * Keeps a service from writing records that another cluster owns: shared/ on a performance secondary,
 * also local/ on a DR secondary, and both during a role change. Replication itself bypasses the gate.
 */
import { hasCode, KeelsonError } from '@keelson/errors';
import { type Store, singleRecord, type Transaction, unlessDamaged } from '@keelson/storage';
import { Type } from 'typebox';

export type ClosedScopes = 'none' | 'shared' | 'all';

/**
 * Reason of a refusal: another cluster owns the records, a role change is in progress, or another cluster
 * was promoted while this one was the primary.
 */
type GateRefusal = 'replication.read_only' | 'replication.switching' | 'replication.superseded';

const PREFIXES: Readonly<Record<ClosedScopes, readonly string[]>> = {
  none: [],
  shared: ['shared/'],
  all: ['shared/', 'local/'],
};

/**
 * Record of the roles that all replicas of a service agree on. Every commit reads it, so a replica
 * that does not know of a role change yet commits nothing. While it cannot be read, no replica commits anything
 * until one has taken a turn.
 */
const turnRecord = singleRecord('replication/turn', {
  scope: 'node',
  version: 1,
  shape: Type.Object({ turn: Type.String() }),
});

export class WriteGate {
  #closed: ClosedScopes = 'none';
  #refusal: GateRefusal = 'replication.read_only';
  #turn: string | undefined;

  /** From now on, allows commits only together with replicas that have taken the same turn. */
  async takeTurn(store: Store, turn: string): Promise<void> {
    await store.transact(async (tx) => {
      const known = await unlessDamaged(turnRecord.find(tx));
      if (known?.turn !== turn) turnRecord.write(tx, { turn });
    });
    this.#turn = turn;
  }

  /** Turn of this replica; undefined before it takes one, in which case it is not checked. */
  get turn(): string | undefined {
    return this.#turn;
  }

  /**
   * @param begunIn the turn in which the transaction began: a transaction that passed an open gate in one
   * turn is not committed in the next one, which closed it
   * @throws KeelsonError `replication.switching` when this replica or another one takes another turn
   */
  async requireTurn(tx: Transaction, begunIn: string | undefined): Promise<void> {
    if (this.#turn === undefined) return;
    const known = await unlessDamaged(turnRecord.find(tx));
    if (known === undefined || known.turn !== begunIn)
      throw new KeelsonError('replication.switching');
  }

  get closed(): ClosedScopes {
    return this.#closed;
  }

  close(scopes: ClosedScopes, refusal: GateRefusal = 'replication.read_only'): void {
    this.#closed = scopes;
    this.#refusal = refusal;
  }

  /** @throws the KeelsonError with which the gate was closed */
  requireOpen(path: string): void {
    if (PREFIXES[this.#closed].some((prefix) => path.startsWith(prefix)))
      throw new KeelsonError(this.#refusal);
  }
}

/** The store for everything in a service except replication. */
export const guardWrites = (store: Store, gate: WriteGate): Store => {
  const transactInTurn: Store['transact'] = (body, options) =>
    store.transact(async (tx) => {
      const begunIn = gate.turn;
      let hasWritten = false;
      const result = await body({
        read: (path) => tx.read(path),
        readAs: (path, decoder) => tx.readAs(path, decoder),
        list: (prefix, listed) => tx.list(prefix, listed),
        scan: (prefix, listed) => tx.scan(prefix, listed),
        scanAs: (prefix, decoder, listed) => tx.scanAs(prefix, decoder, listed),
        write: (path, value) => {
          gate.requireOpen(path);
          hasWritten = true;
          tx.write(path, value);
        },
        writeAs: (path, encoder, value) => {
          gate.requireOpen(path);
          hasWritten = true;
          tx.writeAs(path, encoder, value);
        },
        writableVersion: (kind) => tx.writableVersion(kind),
        delete: (path) => {
          gate.requireOpen(path);
          hasWritten = true;
          tx.delete(path);
        },
        writesVersion: (kind, version) => tx.writesVersion(kind, version),
      });
      if (hasWritten) await gate.requireTurn(tx, begunIn);
      return result;
    }, options);
  const transact: Store['transact'] = async (body, options) => {
    const hadTurn = gate.turn !== undefined;
    try {
      return await transactInTurn(body, options);
    } catch (error) {
      // The first turn of this replica ends no other one, so that nothing of the transaction is out of date.
      if (hadTurn || gate.turn === undefined || !hasCode(error, 'replication.switching'))
        throw error;
      return transactInTurn(body, options);
    }
  };
  return {
    read: (path) => store.read(path),
    readAs: (path, decoder) => store.readAs(path, decoder),
    list: (prefix, options) => store.list(prefix, options),
    scan: (prefix, options) => store.scan(prefix, options),
    scanAs: (prefix, decoder, options) => store.scanAs(prefix, decoder, options),
    transact,
    select: (build) => store.select(build),
    findByPart: (table, query) => store.findByPart(table, query),
    countByPart: (table, query) => store.countByPart(table, query),
    tallies: (table, keys) => store.tallies(table, keys),
    findDamagedProjections: () => store.findDamagedProjections(),
    rebuildProjections: () => store.rebuildProjections(),
    applyEntries: (source, entries, options) => store.applyEntries(source, entries, options),
    applyRecords: (source, operations, options) => store.applyRecords(source, operations, options),
    appliedSequence: (source) => store.appliedSequence(source),
    appliedPosition: (source) => store.appliedPosition(source),
    position: () => store.position(),
    pendingUpgrades: () => store.pendingUpgrades(),
    raiseVersions: () => store.raiseVersions(),
    requireUsable: () => store.requireUsable(),
    hasChangedSince: (paths, position) => store.hasChangedSince(paths, position),
    damagedPaths: () => store.damagedPaths(),
    onDamaged: (listener) => store.onDamaged(listener),
    contention: () => store.contention(),
    faults: () => store.faults(),
    onFault: (listener) => store.onFault(listener),
    encrypt: (path, value) => store.encrypt(path, value),
    decrypt: (path, stored) => store.decrypt(path, stored),
    sizeBytes: () => store.sizeBytes(),
    logBytes: () => store.logBytes(),
    wal: store.wal,
    merkle: store.merkle,
    stored: store.stored,
    copies: store.copies,
    close: () => store.close(),
  };
};
