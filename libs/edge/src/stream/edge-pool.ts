/**
 * The streams to all replicas of one service. The pool chooses a stream for each request, waits while there
 * is none, and repeats requests where that is safe: after a stream is lost, and when a replica is sealed or may not
 * write to its store because another version of Keelson has taken it over.
 */
import { type Clock, systemClock } from '@keelson/clock';
import { isSealed, KeelsonError, mayPassElsewhere } from '@keelson/errors';
import type { TlsIdentity, TrustedAuthority } from '@keelson/rpc';
import { type EdgeConnection, StreamLost } from './edge-connection.ts';
import { MAX_IDS_PER_STREAM } from './edge-limits.ts';
import { resolveReplicas } from './replica-addresses.ts';
import { ReplicaLink } from './replica-link.ts';

export interface EdgePoolOptions {
  /** "host:port" each; a DNS name denotes all replicas it resolves to. */
  readonly addresses: readonly string[];
  /** Name of the service: checked in its certificate, named in errors. */
  readonly service: string;
  readonly tls?: TlsIdentity | TrustedAuthority | undefined;
  readonly streamsPerReplica?: number;
  readonly clock?: Clock;
}

export interface ReplicaStatus {
  readonly replica: string;
  readonly state: 'connecting' | 'ready' | 'draining';
  readonly idsUnderWay: number;
}

export interface Attempt {
  /** Whether it has the same effect when executed twice. */
  readonly isRepeatable: boolean;
  /** Whether it can be sent again because its body is in memory. */
  readonly canResend: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

const MAX_ATTEMPTS = 4;
/** Maximum wait for a usable stream; a replica that was started again has one within a second, or later on a busy machine. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Maximum wait for a replica of the version that has taken the store over. */
const SUCCESSOR_TIMEOUT_MS = 10_000;
/** Time in which a replica that may not write is asked only if there is no other. */
const AVOID_MS = 5_000;
const RESOLVE_INTERVAL_MS = 15_000;
/** Interval of DNS queries while no name resolves. */
const UNRESOLVED_INTERVAL_MS = 1_000;

export class EdgePool {
  readonly #options: EdgePoolOptions;
  readonly #clock: Clock;
  readonly #links = new Set<ReplicaLink>();
  #changed = Promise.withResolvers<void>();
  #cancelRefresh: () => void = () => undefined;
  #isClosing = false;

  constructor(options: EdgePoolOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    void this.#refresh();
  }

  get status(): readonly ReplicaStatus[] {
    return [...this.#links].flatMap((link) =>
      [...link.connections].map(({ state, idsUnderWay }) => ({
        replica: link.target,
        state,
        idsUnderWay,
      })),
    );
  }

  /** Lets open requests finish; refuses new ones with `edge.backend_unavailable`. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#cancelRefresh();
    await Promise.all([...this.#links].map((link) => link.close()));
    this.#announce();
  }

  /**
   * Runs `send` on a stream.
   * @throws KeelsonError `edge.backend_unavailable` without a usable replica, or when a stream was lost
   *   under a request that may have had an effect; `edge.overloaded` when all streams are full;
   *   `storage.superseded` when no replica may write; `sys.sealed` or `storage.sealed` when none is open
   */
  async run<T>(
    attempt: Attempt,
    send: (connection: EdgeConnection, timeoutMs: number | undefined) => Promise<T>,
  ): Promise<T> {
    const { timeoutMs } = attempt;
    const endsAtMs = timeoutMs === undefined ? undefined : this.#clock.nowMs() + timeoutMs;
    const refused = new Set<EdgeConnection>();
    let sealed: KeelsonError | undefined;
    for (let attempts = 1; ; attempts++) {
      if (attempt.signal?.aborted) throw new KeelsonError('request.cancelled');
      const open = this.#choose(refused);
      // Nobody knows when an operator unseals a replica.
      if (open === undefined && sealed !== undefined) throw sealed;
      const connection = open ?? (await this.#waitForConnection(attempt, endsAtMs, refused));
      try {
        return await send(connection, this.#timeLeft(endsAtMs));
      } catch (error) {
        if (mayPassElsewhere(error) && attempt.canResend) {
          // The refused transaction changed nothing. A request that had already committed another one is repeated whole.
          refused.add(connection);
          // A sealed replica is not avoided: shares that unseal it must reach it.
          if (isSealed(error)) sealed = error;
          else connection.avoidedUntilMs = this.#clock.nowMs() + AVOID_MS;
          continue;
        }
        if (!(error instanceof StreamLost)) throw error;
        const mayRepeat = attempt.canResend && (attempt.isRepeatable || !error.wasSent);
        if (!mayRepeat || attempts === MAX_ATTEMPTS) throw this.#unavailable(error);
      }
    }
  }

  /**
   * Runs `send` on a stream to each replica that is ready, and waits for the first one if there is none.
   * @returns what replicas have answered
   * @throws the error of a replica if none has answered, and as `run` without a usable one
   */
  async runOnEach<T>(
    attempt: Attempt,
    send: (connection: EdgeConnection, timeoutMs: number | undefined) => Promise<T>,
  ): Promise<readonly T[]> {
    const endsAtMs =
      attempt.timeoutMs === undefined ? undefined : this.#clock.nowMs() + attempt.timeoutMs;
    const byReplica = new Map<string, EdgeConnection>();
    const first = await this.#waitForConnection(attempt, endsAtMs, new Set());
    for (const { target, connections } of this.#links)
      for (const connection of connections)
        if (connection.state === 'ready') byReplica.set(target, connection);
    const connections = byReplica.size === 0 ? [first] : [...byReplica.values()];
    const settled = await Promise.allSettled(
      connections.map((connection) => send(connection, this.#timeLeft(endsAtMs))),
    );
    const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    if (answers.length > 0) return answers;
    const [failed] = settled;
    const reason: unknown = failed?.status === 'rejected' ? failed.reason : undefined;
    throw reason instanceof StreamLost ? this.#unavailable(reason) : reason;
  }

  #timeLeft(endsAtMs: number | undefined): number | undefined {
    if (endsAtMs === undefined) return undefined;
    const leftMs = endsAtMs - this.#clock.nowMs();
    if (leftMs <= 0) throw new KeelsonError('request.deadline_exceeded');
    return Math.ceil(leftMs);
  }

  #unavailable(cause?: unknown): KeelsonError {
    const { service } = this.#options;
    return new KeelsonError('edge.backend_unavailable', { service }, { cause });
  }

  /** The ready stream with the fewest open ids, one that is avoided last. @param refused not chosen */
  #choose(refused: ReadonlySet<EdgeConnection>): EdgeConnection | undefined {
    const nowMs = this.#clock.nowMs();
    let chosen: EdgeConnection | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const link of this.#links) {
      for (const connection of link.connections) {
        if (connection.state !== 'ready' || refused.has(connection)) continue;
        const isAvoided = connection.avoidedUntilMs > nowMs;
        const load = connection.idsUnderWay + (isAvoided ? MAX_IDS_PER_STREAM : 0);
        if (load >= fewest) continue;
        chosen = connection;
        fewest = load;
      }
    }
    if (chosen && !chosen.hasRoom) {
      throw new KeelsonError('edge.overloaded', { service: this.#options.service });
    }
    return chosen;
  }

  async #waitForConnection(
    { signal }: Attempt,
    endsAtMs: number | undefined,
    refused: ReadonlySet<EdgeConnection>,
  ): Promise<EdgeConnection> {
    const isSuperseded = refused.size > 0;
    const longestMs = isSuperseded ? SUCCESSOR_TIMEOUT_MS : CONNECT_TIMEOUT_MS;
    const stopped = Promise.withResolvers<KeelsonError>();
    const cancel = (): void => stopped.resolve(new KeelsonError('request.cancelled'));
    signal?.addEventListener('abort', cancel, { once: true });
    const waitMs = Math.min(this.#timeLeft(endsAtMs) ?? longestMs, longestMs);
    const cancelTimer = this.#clock.after(waitMs, () =>
      stopped.resolve(isSuperseded ? new KeelsonError('storage.superseded') : this.#unavailable()),
    );
    try {
      for (;;) {
        if (this.#isClosing) throw this.#unavailable();
        const connection = this.#choose(refused);
        if (connection) return connection;
        const outcome = await Promise.race([this.#changed.promise, stopped.promise]);
        if (outcome) throw outcome;
      }
    } finally {
      cancelTimer();
      signal?.removeEventListener('abort', cancel);
    }
  }

  #announce(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /**
   * Adjusts the links to the resolved addresses: new replicas get one, and links to removed ones finish and
   * end.
   */
  async #refresh(): Promise<void> {
    const targets = await resolveReplicas(this.#options.addresses);
    if (this.#isClosing) return;
    // A failed name server must not close working links.
    if (targets.length > 0) {
      for (const link of this.#links) {
        if (targets.includes(link.target)) continue;
        this.#links.delete(link);
        void link.close();
      }
      const linked = new Set([...this.#links].map((link) => link.target));
      for (const target of targets) if (!linked.has(target)) this.#link(target);
    }
    const waitMs = this.#links.size > 0 ? RESOLVE_INTERVAL_MS : UNRESOLVED_INTERVAL_MS;
    this.#cancelRefresh = this.#clock.after(waitMs, () => void this.#refresh());
  }

  #link(target: string): void {
    const { service, tls, streamsPerReplica = 1 } = this.#options;
    for (let count = 0; count < streamsPerReplica; count++) {
      this.#links.add(
        new ReplicaLink({
          target,
          service,
          tls,
          clock: this.#clock,
          onChange: () => this.#announce(),
        }),
      );
    }
  }
}
