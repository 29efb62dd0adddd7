/**
 * The members of a set as records of the primary's store, below local/: they reach its DR secondaries,
 * which take the set over, and never a performance secondary. Revoking changes the epoch in the same
 * commit, so a revoked secondary cannot decrypt anything published afterwards.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Reads, RecordCollection, SingleRecord, Store, Transaction } from '@keelson/storage';
import { generateLinkKeyPair } from '../cipher/link-key.ts';
import type { ReplicationKind } from '../domain/crossing.ts';
import type { PathsFilter } from '../domain/paths-filter.ts';
import type { EpochKey, FilterVerdict, Membership, SetIdentity } from './membership.ts';
import {
  type AdmittedSecondary,
  type EpochRecord,
  epochKeys,
  filters,
  type LogRecord,
  logs,
  type SetRecord,
  type StoredFilter,
  secondaries,
  sets,
} from './membership-records.ts';

const EPOCH_KEY_BYTES = 32;
const MAX_ID_LENGTH = 128;
/** An id is a segment of record paths and of paths of the API. */
// oxlint-disable-next-line no-control-regex -- control characters are what it refuses
const FORBIDDEN_IN_ID = /[\u0000-\u001f\u007f/]|^\.\.?$/;

const requireId = (id: string): void => {
  if (id === '' || id.length > MAX_ID_LENGTH || FORBIDDEN_IN_ID.test(id))
    throw new KeelsonError('request.invalid', { text: 'invalid secondary id' });
};

const newEpochKey = (): string => randomBytes(EPOCH_KEY_BYTES).toString('base64');

/** Knows what mounts and namespaces there are. */
export interface FilterCatalog {
  /** The groups that the filter withholds, among `groups` or among all. Called after the filter was read. */
  withheldGroups(
    filter: StoredFilter,
    groups: readonly string[] | undefined,
  ): Promise<readonly string[]>;
}

const isSameFilter = (a: PathsFilter, b: PathsFilter): boolean =>
  a.mode === b.mode && a.paths.join('\n') === b.paths.join('\n');

export class StoredMembership implements Membership {
  readonly #store: Store;
  readonly #set: SingleRecord<SetRecord>;
  readonly #epochs: RecordCollection<EpochRecord>;
  readonly #secondaries: RecordCollection<AdmittedSecondary>;
  readonly #logs: RecordCollection<LogRecord>;
  readonly #filters: RecordCollection<StoredFilter>;
  readonly #service: string | undefined;
  readonly #catalog: FilterCatalog | undefined;

  /**
   * @param service whose log `identity` names and `renewLog` renews; absent means all logs of the set
   * @param catalog for `findFilter`; absent if filters are not asked for
   */
  constructor(store: Store, kind: ReplicationKind, service?: string, catalog?: FilterCatalog) {
    this.#store = store;
    this.#service = service;
    this.#set = sets.at('local', kind);
    this.#epochs = epochKeys.at('local', kind);
    this.#secondaries = secondaries.at('local', kind);
    this.#logs = logs.at('local', kind);
    this.#filters = filters.at('local', kind);
    this.#catalog = catalog;
  }

  /**
   * Creates a set with this cluster as primary and no secondaries; removes any previous set.
   * @param promotion 0 for a new set
   */
  async found(clusterId: string, promotion = 0): Promise<void> {
    const keys = generateLinkKeyPair();
    const set = { clusterId, logId: randomUUID(), keys, epoch: 1, promotion };
    const epochKey = newEpochKey();
    await this.#store.transact(async (tx) => {
      await this.#clear(tx);
      this.#set.write(tx, set);
      this.#epochs.write(tx, '1', { key: epochKey });
    });
  }

  /** Removes the set with all its members. */
  dissolve(): Promise<void> {
    return this.#store.transact((tx) => this.#clear(tx));
  }

  /** @throws KeelsonError `replication.id_in_use`, `request.invalid` */
  async admit(id: string, publicKey: string): Promise<void> {
    requireId(id);
    await this.#store.transact(async (tx) => {
      if ((await this.#secondaries.find(tx, id)) !== undefined)
        throw new KeelsonError('replication.id_in_use', { id });
      const { epoch } = await this.#requireSet(tx);
      this.#secondaries.write(tx, id, { id, publicKey, firstEpoch: epoch });
    });
  }

  /** Removes a secondary with its filter, and begins a new epoch. */
  async revoke(id: string): Promise<void> {
    const epochKey = newEpochKey();
    await this.#store.transact(async (tx) => {
      this.#filters.delete(tx, id);
      if ((await this.#secondaries.find(tx, id)) === undefined) return;
      this.#secondaries.delete(tx, id);
      await this.#beginEpoch(tx, epochKey);
    });
  }

  /**
   * Sets the filter of an admitted secondary, whether or not it has connected. A secondary that
   * received everything until now cannot decrypt what is published for the others afterwards.
   * @throws KeelsonError `replication.unknown_secondary`
   */
  async setFilter(id: string, { mode, paths }: PathsFilter): Promise<void> {
    const generation = randomUUID();
    const epochKey = newEpochKey();
    await this.#store.transact(async (tx) => {
      if ((await this.#secondaries.find(tx, id)) === undefined)
        throw new KeelsonError('replication.unknown_secondary', { id });
      const known = await this.#filters.find(tx, id);
      if (known !== undefined && isSameFilter(known, { mode, paths })) return;
      this.#filters.write(tx, id, { mode, paths, generation, moved: {} });
      if (known === undefined) await this.#beginEpoch(tx, epochKey);
    });
  }

  /** Removes the filter, so that the secondary receives everything. Succeeds if there is none. */
  async deleteFilter(id: string): Promise<void> {
    const epochKey = newEpochKey();
    await this.#store.transact(async (tx) => {
      if ((await this.#filters.find(tx, id)) === undefined) return;
      this.#filters.delete(tx, id);
      const secondary = await this.#secondaries.find(tx, id);
      if (secondary === undefined) return;
      // A new epoch keeps it from reading entries that the others received while it was filtered.
      const firstEpoch = await this.#beginEpoch(tx, epochKey);
      this.#secondaries.write(tx, id, { ...secondary, firstEpoch });
    });
  }

  /** The recorded filter of a secondary. */
  loadFilter(id: string): Promise<StoredFilter | undefined> {
    return this.#filters.find(this.#store, id);
  }

  /** Changes filters within a larger transaction; `change` returns undefined to leave a filter unchanged. */
  async changeFilters(
    tx: Transaction,
    generation: string,
    change: (filter: StoredFilter) => Omit<StoredFilter, 'generation'> | undefined,
  ): Promise<void> {
    for (const [id, filter] of await this.#filters.entries(tx)) {
      const changed = change(filter);
      if (changed !== undefined) this.#filters.write(tx, id, { ...changed, generation });
    }
  }

  filteredSecondaries(): Promise<readonly string[]> {
    return this.#filters.keys(this.#store);
  }

  async findFilter(id: string, groups?: readonly string[]): Promise<FilterVerdict | undefined> {
    // Before the catalog: a mount that moves in between changes the generation with its path.
    const filter = await this.#filters.find(this.#store, id);
    if (filter === undefined) return undefined;
    const withheldGroups = await this.#catalog?.withheldGroups(filter, groups);
    if (withheldGroups === undefined) throw new KeelsonError('replication.not_ready');
    return { generation: filter.generation, withheldGroups };
  }

  /** Ids of all admitted secondaries, whether or not they ever connected. */
  knownSecondaries(): Promise<readonly string[]> {
    return this.#secondaries.keys(this.#store);
  }

  /** @param check part of the transaction: throws if this cluster may not renew the log */
  async renewLog(check?: (reads: Reads) => Promise<void>): Promise<void> {
    const logId = randomUUID();
    await this.#store.transact(async (tx) => {
      await check?.(tx);
      const set = await this.#requireSet(tx);
      if (this.#service !== undefined) this.#logs.write(tx, this.#service, { logId });
      else await this.#renewLogs(tx, set, logId);
    });
  }

  /**
   * Makes this cluster the primary of the set in place of the former one, with the same keys and
   * secondaries.
   */
  async succeed(promotion: number): Promise<void> {
    const logId = randomUUID();
    await this.#store.transact(async (tx) => {
      const set = await this.#requireSet(tx);
      await this.#renewLogs(tx, { ...set, promotion }, logId);
    });
  }

  /** Promotion number of the recorded set, whose primary this cluster may no longer be; 0 without a set. */
  async promotion(): Promise<number> {
    return (await this.#set.find(this.#store))?.promotion ?? 0;
  }

  async identity(): Promise<SetIdentity> {
    const { clusterId, logId, keys, promotion } = await this.#requireSet(this.#store);
    const own =
      this.#service === undefined ? undefined : await this.#logs.find(this.#store, this.#service);
    return { clusterId, logId: own?.logId ?? logId, keys, promotion };
  }

  async currentEpoch(): Promise<EpochKey> {
    const { epoch } = await this.#requireSet(this.#store);
    const found = await this.findEpoch(epoch);
    if (found === undefined) throw new KeelsonError('replication.not_ready');
    return found;
  }

  async findEpoch(epoch: number): Promise<EpochKey | undefined> {
    const found = await this.#epochs.find(this.#store, String(epoch));
    return found && { epoch, key: Buffer.from(found.key, 'base64') };
  }

  async findSecondary(id: string): Promise<AdmittedSecondary | undefined> {
    return this.#secondaries.find(this.#store, id);
  }

  async unfilteredSecondaries(): Promise<readonly AdmittedSecondary[]> {
    const admitted = await this.#secondaries.entries(this.#store);
    const filtered = new Set(await this.filteredSecondaries());
    return admitted.flatMap(([id, secondary]) => (filtered.has(id) ? [] : [secondary]));
  }

  async #clear(tx: Transaction): Promise<void> {
    for (const id of await this.#secondaries.keys(tx)) this.#secondaries.delete(tx, id);
    for (const epoch of await this.#epochs.keys(tx)) this.#epochs.delete(tx, epoch);
    for (const service of await this.#logs.keys(tx)) this.#logs.delete(tx, service);
    for (const id of await this.#filters.keys(tx)) this.#filters.delete(tx, id);
    this.#set.delete(tx);
  }

  /** Replaces the log ids of all services. */
  async #renewLogs(tx: Transaction, set: SetRecord, logId: string): Promise<void> {
    for (const service of await this.#logs.keys(tx)) this.#logs.delete(tx, service);
    this.#set.write(tx, { ...set, logId });
  }

  /** Entries published after this commit are encrypted with a new key, which is distributed again. */
  async #beginEpoch(tx: Transaction, key: string): Promise<number> {
    const set = await this.#requireSet(tx);
    const epoch = set.epoch + 1;
    this.#epochs.write(tx, String(epoch), { key });
    this.#set.write(tx, { ...set, epoch });
    return epoch;
  }

  async #requireSet(reads: Reads): Promise<SetRecord> {
    const set = await this.#set.find(reads);
    if (set === undefined) throw new KeelsonError('replication.not_ready');
    return set;
  }
}
