/**
 * A service's part in the replication sets of its cluster: it follows the roles that sys assigns. They
 * determine which records may be written here and which background work runs.
 */
import { hkdfSync } from 'node:crypto';
import type { Bus } from '@keelson/bus';
import { pause } from '@keelson/clock';
import type { EdgeService } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { ReplicationRole } from '@keelson/proto/sys/v1/replication';
import {
  type AdoptedKeyring,
  type ClosedScopes,
  filteredStreamOf,
  finishActivation,
  guardWrites,
  isActivated,
  KnownPromotion,
  type LogPosition,
  loadStreamEnd,
  PrimaryLink,
  REPLICATION_KINDS,
  type ReplicationKind,
  removeReplicated,
  streamOf,
  type WriteGate,
  writeLogEnd,
} from '@keelson/replication';
import { takeFence } from '@keelson/storage';
import { type ServeForwarded, serveForwarded } from './forwarded-requests.ts';
import type { LogIndex } from './log-index.ts';
import { NO_TRANSPORT } from './nats-transport.ts';
import { parseKind } from './remote-membership.ts';
import { ReplicaTurns } from './replica-turns.ts';
import { toNatsFault, toPublicationFault, toSecondaryFault } from './replication-faults.ts';
import {
  type PrimaryRun,
  type RunParts,
  type SecondaryRun,
  startPrimaryRun,
  startSecondaryRun,
  toIdentity,
} from './replication-runs.ts';
import { afterRestoration } from './store-copy.ts';
import { loadUpkeep } from './upkeep-records.ts';

export interface ReplicationMemberOptions extends RunParts {
  /** Filter group of a service whose data belongs to a single mount. */
  readonly wholeGroup?: string | undefined;
  /** Gate for the writes of the service itself, as opposed to those of replication. */
  readonly gate: WriteGate;
}

/** Called when another cluster was promoted to be the primary of a set. */
export type OnSuperseded = (kind: ReplicationKind, promotion: number) => Promise<void>;

interface Running {
  readonly generation: string;
  readonly run: PrimaryRun | SecondaryRun | undefined;
}

const PUBLISHED_WITHIN_MS = 10_000;
/** Maximum wait for the other replicas, longer than the lease of a killed replica. */
const TAKEN_UP_WITHIN_MS = 12_000;
/** How long a report waits for this replica to take up its roles. */
const REPORTED_WITHIN_MS = 2000;
const PUBLISHED_POLL_MS = 20;

const LEASE_TTL_MS = 15_000;
const NEVER = new AbortController().signal;

const notServing: ServeForwarded = () => Promise.reject(new KeelsonError('replication.not_ready'));

/** Identifies a set of roles; equal in all replicas that act on the same roles. */
const turnOf = (roles: readonly ReplicationRole[]): string =>
  roles.map(({ kind, generation }) => `${kind} ${generation}`).join();

/** Whether another cluster has replaced this one as primary. */
const isSuperseded = (roles: readonly ReplicationRole[]): boolean =>
  roles.some(({ role }) => role === 'superseded');

const closedBy = (roles: readonly ReplicationRole[]): ClosedScopes => {
  const isSecondaryOf = (kind: ReplicationKind): boolean =>
    roles.some((one) => one.kind === kind && one.role === 'secondary');
  if (isSecondaryOf('dr') || isSuperseded(roles)) return 'all';
  return isSecondaryOf('performance') ? 'shared' : 'none';
};

export class ReplicationMember {
  readonly #options: ReplicationMemberOptions;
  readonly #running = new Map<ReplicationKind, Running>();
  #roles: readonly ReplicationRole[] = [];
  /** Whether the runs and the write gate already follow `#roles`. */
  #isSettled = false;
  #settled = Promise.withResolvers<void>();
  #rootKey: Uint8Array = new Uint8Array(0);
  #indexKey: Uint8Array | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #serveForwarded: ServeForwarded = notServing;
  #onSuperseded: OnSuperseded = () => Promise.resolve();
  readonly #replicas: ReplicaTurns;

  constructor(options: ReplicationMemberOptions) {
    const { membershipOf, store } = options;
    this.#options = {
      ...options,
      membershipOf: (kind) => afterRestoration(membershipOf(kind), store),
    };
    this.#replicas = new ReplicaTurns(options);
    options.store.onDamaged((record, err) =>
      options.logger.error(
        { record, ...(err !== undefined && { err }) },
        err === undefined
          ? 'a record cannot be decrypted: what depends on it is refused (docs/runbooks/repair-damage.md)'
          : 'a record cannot be read by this version: lists and searches do without it or show its former version (docs/runbooks/repair-damage.md)',
      ),
    );
    options.store.onFault(({ kind, text, isOver }, err) => {
      if (isOver) options.logger.info({ fault: kind }, `over: ${text}`);
      else options.logger.error({ fault: kind, err }, text);
    });
  }

  /** Answers requests that secondaries forward from now on; before, they are refused as not ready. */
  serve(edge: EdgeService): void {
    this.#serveForwarded = serveForwarded(edge, this.#options.wholeGroup);
  }

  onSuperseded(listener: OnSuperseded): void {
    this.#onSuperseded = listener;
  }

  get gate(): WriteGate {
    return this.#options.gate;
  }

  get service(): string {
    return this.#options.service;
  }

  get parts(): RunParts {
    return this.#options;
  }

  /** Whether this cluster serves clients; false on a DR secondary and on a superseded primary. */
  get isServing(): boolean {
    return this.gate.closed !== 'all';
  }

  runOf(kind: ReplicationKind): PrimaryRun | SecondaryRun | undefined {
    return this.#running.get(kind)?.run;
  }

  /** Faults of store, replication, leases and records, in sentences for the operators of the cluster. */
  async impaired(): Promise<readonly string[]> {
    const { isCorrupted } = await loadUpkeep(this.#options.store);
    const ofReplication = await Promise.all(
      REPLICATION_KINDS.map((kind) => this.#replicationFault(kind)),
    );
    // Paths contain names of customers, and readiness is shown to anyone; the log has them.
    const damaged = this.#options.store.damagedPaths().length;
    return [
      ...this.#options.store.faults().map(({ text }) => text),
      ...ofReplication.filter((fault) => fault !== undefined),
      ...(this.#options.leases.isReachable
        ? []
        : ['Redis cannot be reached: background work waits for it']),
      ...(isCorrupted
        ? ['records differ from the Merkle trees (docs/runbooks/repair-damage.md)']
        : []),
      ...(damaged === 0 ? [] : [`records that cannot be read (the log names them): ${damaged}`]),
    ];
  }

  /** The sentence about one set; undefined while it replicates. */
  async #replicationFault(kind: ReplicationKind): Promise<string | undefined> {
    const role = this.roleOf(kind)?.role;
    if (role === 'superseded')
      return `another cluster was promoted to ${kind} primary: this one refuses writes (docs/runbooks/failback.md)`;
    const run = this.runOf(kind);
    if (run === undefined)
      return role === 'secondary' ? `this ${kind} secondary follows no primary` : undefined;
    if (run.bus.status() !== 'connected') return toNatsFault(kind, run.role, run.bus.failure());
    if (run.role === 'primary') return toPublicationFault(kind, run.faults.reasons());
    const status = await run.secondary.sharedStatus();
    return toSecondaryFault(kind, status, this.#options.clock.nowMs());
  }

  /**
   * Asks the primary for an object that records refer to; undefined if it has none, or there is no primary.
   * @throws KeelsonError of the bus or the primary
   */
  async loadObject(key: string): Promise<Uint8Array | undefined> {
    for (const kind of REPLICATION_KINDS) {
      const run = this.runOf(kind);
      if (run?.role === 'secondary') return run.secondary.link.loadObject(key);
    }
    return undefined;
  }

  roleOf(kind: ReplicationKind): ReplicationRole | undefined {
    return this.#roles.find((one) => one.kind === kind);
  }

  /** Key for the indices of this service in the performance set; undefined outside such a set. */
  get indexKey(): Uint8Array | undefined {
    return this.#indexKey;
  }

  /** Position of the log of the performance set, as far as this cluster knows it. */
  async index(): Promise<LogIndex | undefined> {
    const run = this.runOf('performance');
    const local = await this.#options.store.wal.headSequence();
    if (run?.role === 'primary') return { logId: await run.logId(), local, replicated: local };
    const position = await run?.secondary.followed.position();
    return position && { logId: position.logId, local, replicated: position.sequence };
  }

  /** Waits until an entry of the primary's log can be read here; false after the time limit. */
  async reaches(position: LogPosition, withinMs: number): Promise<boolean> {
    const run = this.runOf('performance');
    if (run?.role === 'secondary') return run.secondary.followed.reaches(position, withinMs);
    // For a primary, any log other than its own has ended.
    return (
      run === undefined ||
      position.logId !== (await run.logId()) ||
      position.sequence <= (await this.#options.store.wal.headSequence())
    );
  }

  /** The role whose activation this store has not completed. */
  async findPending(roles: readonly ReplicationRole[]): Promise<ReplicationRole | undefined> {
    for (const role of roles)
      if (
        role.role === 'secondary' &&
        !(await isActivated(this.#options.store, parseKind(role.kind), role.activation))
      )
        return role;
    return undefined;
  }

  /**
   * Empties the store and adopts the primary's keyring, unless another replica has done so. The barrier is
   * open with the old keyring.
   * @throws KeelsonError of the bus or the primary; the caller retries
   */
  async activate(role: ReplicationRole): Promise<void> {
    const { store, barrier, leases, service } = this.#options;
    const kind = parseKind(role.kind);
    this.gate.close('all', 'replication.switching');
    await this.stop();
    const lease = await leases.acquire(`activation.${service}`, { ttlMs: LEASE_TTL_MS }, NEVER);
    try {
      if (await isActivated(store, kind, role.activation)) return;
      const fence = await takeFence(store, lease.name);
      const taken = await this.fetchKeyring(role);
      await this.gate.takeTurn(store, `activation ${role.activation}`);
      await removeReplicated(store, fence);
      await finishActivation(store, barrier, kind, role.activation, taken, { fence });
      taken.rootKey.fill(0);
    } finally {
      await lease.release();
    }
  }

  /** Whether this service acts on its roles with this key of its barrier. */
  isOpenWith(rootKey: Uint8Array): boolean {
    return Buffer.compare(this.#rootKey, rootKey) === 0;
  }

  /** The keyring of this service's store on the primary. The request also shows that the link works. */
  async fetchKeyring(role: ReplicationRole): Promise<AdoptedKeyring> {
    const { transport, service, store } = this.#options;
    const identity = toIdentity(role);
    if (identity === undefined) throw new KeelsonError('replication.not_ready');
    const bus = await transport.connect(role.link?.addresses ?? [], role.link?.trustedRoots);
    try {
      const link = new PrimaryLink({
        bus,
        identity,
        service,
        promotion: new KnownPromotion(store, parseKind(role.kind), identity.clusterId),
        onOutcome: () => undefined,
      });
      return await link.loadKeyring();
    } finally {
      await bus.close();
    }
  }

  /**
   * Applies the roles; runs whose role is unchanged continue undisturbed.
   * @param rootKey root key of this service's barrier
   */
  follow(roles: readonly ReplicationRole[], rootKey: Uint8Array): Promise<void> {
    return this.#inTurn(async () => {
      this.#isSettled = false;
      this.#roles = roles;
      this.#rootKey = Uint8Array.from(rootKey);
      this.#indexKey = roles.some(({ kind }) => kind === 'performance')
        ? new Uint8Array(hkdfSync('sha256', rootKey, '', 'keelson/replication/index', 32))
        : undefined;
      const isCurrent = (kind: ReplicationKind, { generation }: Running): boolean =>
        roles.some((one) => one.kind === kind && one.generation === generation);
      for (const [kind, running] of this.#running)
        if (!isCurrent(kind, running)) await this.#end(kind, running);
      this.gate.close(
        closedBy(roles),
        isSuperseded(roles) ? 'replication.superseded' : 'replication.read_only',
      );
      if (this.#takesPart) await this.gate.takeTurn(this.#options.store, turnOf(roles));
      for (const role of roles) await this.#begin(role);
      if (this.#takesPart) await this.#replicas.note(turnOf(roles));
      this.#isSettled = true;
      this.#settled.resolve();
      this.#settled = Promise.withResolvers();
    });
  }

  get #takesPart(): boolean {
    return this.#options.transport !== NO_TRANSPORT;
  }

  /** The run of a kind. Waits a moment while this replica takes up roles on which others may act already. */
  async settledRunOf(kind: ReplicationKind): Promise<PrimaryRun | SecondaryRun | undefined> {
    if (!this.#isSettled)
      await this.#within(REPORTED_WITHIN_MS, (late) => this.#untilSettled(late, () => true));
    return this.runOf(kind);
  }

  /**
   * Waits until all running replicas of this service act on these roles and no longer on earlier ones.
   * @param generations of the roles at one moment; "" if there is no role of this kind
   * @returns false after the time limit
   */
  waitForRoles(generations: Readonly<Record<ReplicationKind, string>>): Promise<boolean> {
    return this.#within(TAKEN_UP_WITHIN_MS, async (late) => {
      const isSettled = await this.#untilSettled(late, () => this.#actsOn(generations));
      return isSettled && (await this.#othersApply(late));
    });
  }

  /** @param work is given a signal that aborts after the time limit */
  async #within<T>(limitMs: number, work: (late: AbortSignal) => Promise<T>): Promise<T> {
    const deadline = new AbortController();
    const late = new AbortController();
    const givenUp = pause(this.#options.clock, limitMs, deadline.signal).then(() => late.abort());
    try {
      return await work(late.signal);
    } finally {
      deadline.abort();
      await givenUp;
    }
  }

  /** Waits until the runs follow the roles, and the roles are wanted. @returns false if it is late before */
  async #untilSettled(late: AbortSignal, areWanted: () => boolean): Promise<boolean> {
    const isLate = Promise.withResolvers<void>();
    late.addEventListener('abort', () => isLate.resolve(), { once: true });
    while (!late.aborted) {
      const settled = this.#settled.promise;
      if (this.#isSettled && areWanted()) return true;
      await Promise.race([isLate.promise, settled]);
    }
    return false;
  }

  #actsOn(generations: Readonly<Record<ReplicationKind, string>>): boolean {
    return REPLICATION_KINDS.every(
      (kind) => (this.roleOf(kind)?.generation ?? '') === generations[kind],
    );
  }

  async #othersApply(late: AbortSignal): Promise<boolean> {
    return !this.#takesPart || this.#replicas.allTake(turnOf(this.#roles), late);
  }

  /** Ends all background work, as on seal, while the barrier is still open because the work needs it. */
  stop(): Promise<void> {
    return this.#inTurn(async () => {
      this.#isSettled = false;
      for (const [kind, running] of this.#running) await this.#end(kind, running);
      await this.#replicas.end();
      this.#roles = [];
      this.#indexKey = undefined;
      this.#rootKey.fill(0);
    });
  }

  /**
   * Stops all writes, and waits until everything written is in the stream.
   * @returns false when the stream did not receive everything in time
   */
  async finishPublishing(kind: ReplicationKind): Promise<boolean> {
    const { service, store, clock } = this.#options;
    const run = this.runOf(kind);
    const role = this.roleOf(kind);
    if (run?.role !== 'primary' || role === undefined) return true;
    this.gate.close('all', 'replication.switching');
    // Keeps the other replicas, which do not know about the switch yet, from committing anything further.
    await this.gate.takeTurn(store, `end of ${role.generation}`);
    await writeLogEnd(store, kind, (await this.#options.membershipOf(kind).identity()).logId);
    const head = await store.wal.headSequence();
    const streams = [
      streamOf(role.clusterId, service),
      ...(await run.views.filtered()).map((id) => filteredStreamOf(role.clusterId, service, id)),
    ];
    const untilMs = clock.nowMs() + PUBLISHED_WITHIN_MS;
    const never = new AbortController().signal;
    while (clock.nowMs() < untilMs) {
      const published = await Promise.all(
        streams.map((stream) => isPublished(run.bus, stream, head)),
      );
      if (published.every(Boolean)) return true;
      await pause(clock, PUBLISHED_POLL_MS, never);
    }
    return false;
  }

  async #begin(role: ReplicationRole): Promise<void> {
    const kind = parseKind(role.kind);
    if (this.#running.has(kind)) return;
    this.#running.set(kind, { generation: role.generation, run: await this.#start(kind, role) });
  }

  async #start(
    kind: ReplicationKind,
    role: ReplicationRole,
  ): Promise<PrimaryRun | SecondaryRun | undefined> {
    const { transport } = this.#options;
    if (role.role === 'primary')
      return transport.bus === undefined
        ? undefined
        : startPrimaryRun(this.#options, kind, transport.bus, {
            rootKey: () => this.#rootKey,
            clusterAddresses: () => this.#clusterAddresses(kind),
            guarded: guardWrites(this.#options.store, this.gate),
            serveForwarded: (request, mayReach) => this.#serveForwarded(request, mayReach),
            onSuperseded: (promotion) => this.#onSuperseded(kind, promotion),
          });
    const identity = toIdentity(role);
    if (identity === undefined) return undefined;
    return startSecondaryRun(this.#options, kind, identity, role.link);
  }

  /** A DR secondary takes over the performance set with its keys, so that its address must be known. */
  async #clusterAddresses(kind: ReplicationKind): Promise<readonly string[]> {
    const own = this.#options.transport.clusterAddress;
    const run = kind === 'performance' ? this.runOf('dr') : undefined;
    const heirs = run?.role === 'primary' ? await run.primary.secondaries() : [];
    const addresses = [own, ...heirs.map(({ clusterAddress }) => clusterAddress)];
    return [...new Set(addresses.filter((address) => address !== ''))];
  }

  async #end(kind: ReplicationKind, { run }: Running): Promise<void> {
    this.#running.delete(kind);
    await run?.stop();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}

const isPublished = async (bus: Bus, stream: string, head: number): Promise<boolean> => {
  const { published } = await loadStreamEnd(bus, stream).catch(() => ({ published: undefined }));
  return published !== undefined && published.walSequence >= head;
};
