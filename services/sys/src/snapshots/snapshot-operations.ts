/** Takes a snapshot of the stores of all services, and restores one. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type {
  ReplicationMemberDefinition,
  UnreadableRecord,
} from '@keelson/proto/sys/v1/replication';
import type { RpcService } from '@keelson/rpc';
import { type Barrier, countPage, EMPTY_PAGE, type Store } from '@keelson/storage';
import { listAuditDeviceNames } from '../audit/audit-records.ts';
import type { Seal } from '../seal/seal.ts';
import { clusterRecords } from '../seal/seal-records.ts';
import {
  type ArchiveEntry,
  META,
  readArchive,
  SEALED_SUMS,
  SUMS,
  sumLine,
  writeArchive,
} from './snapshot-archive.ts';
import { type PendingRestoration, pendingRestorations } from './snapshot-records.ts';
import { judgeUnreadable } from './unreadable-records.ts';

/** Version of the archive format; archives of another version are refused. */
export const SNAPSHOT_FORMAT = 1;
/** Services that began after the format: a snapshot of a version without them has no records of theirs. */
const LATER_SERVICES: ReadonlySet<string> = new Set(['auth']);
/** Associated data of the encrypted digests; no record has this path. */
const SUMS_PATH = 'local/core/snapshot-sums';
/** Commits of sys wait at most this long for the other services to begin their copies. */
const CUT_WITHIN_MS = 10_000;
/** Replacing all records is one database transaction. */
const REPLACE_WITHIN_MS = 30 * 60_000;
/** Concurrent snapshots of one process; each holds a read transaction open in every store. */
const MAX_SNAPSHOTS = 2;

type MemberRpc = RpcService<typeof ReplicationMemberDefinition>;

/** The installation around the stores, where it has files of its own. */
export interface RestoredInstallation {
  /** Whether all stores can be replaced. @throws KeelsonError `sys.snapshot_no_space` */
  requireSpace(): Promise<void>;
  /**
   * Called when the records of another cluster have replaced all: its tokens and shares are valid now.
   * @returns a sentence for the operator, if files held those of the former cluster
   */
  forgetCluster(): string | undefined;
}

export interface SnapshotContext {
  /** Not guarded by the replication gate. */
  readonly store: Store;
  readonly barrier: Barrier;
  readonly clock: Clock;
  readonly seal: Seal;
  readonly version: string;
  /** Sys itself, whose records are replaced in this process. */
  readonly own: MemberRpc;
  /** All other services that keep stores, by name. */
  readonly others: ReadonlyMap<string, MemberRpc>;
  /** The kind of replication set of which this cluster is a secondary. */
  readonly secondaryKind: () => Promise<string | undefined>;
  readonly installation: RestoredInstallation | undefined;
}

interface SnapshotMeta {
  readonly format: number;
  readonly version: string;
  readonly cluster_id: string;
  readonly cluster_name: string;
  readonly taken_at: string;
  /** By service. */
  readonly positions: Readonly<Record<string, number>>;
}

interface ServiceCopy {
  readonly service: string;
  readonly sequence: number;
  readonly pages: AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

const beginCopy = async (
  service: string,
  member: MemberRpc,
  signal: AbortSignal,
): Promise<ServiceCopy> => {
  const messages = member.copyStore({}, { signal })[Symbol.asyncIterator]();
  const first = await messages.next();
  if (first.done === true) throw new KeelsonError('edge.backend_unavailable', { service });
  return {
    service,
    sequence: Number(first.value.sequence),
    pages: (async function* () {
      for (let next = await messages.next(); next.done !== true; next = await messages.next())
        yield next.value.page;
    })(),
    close: async () => {
      await messages.return?.();
    },
  };
};

const closeAll = async (copies: readonly ServiceCopy[]): Promise<void> => {
  await Promise.allSettled(copies.map((copy) => copy.close()));
};

/**
 * Begins the copies of all stores while sys cannot commit. An instruction of sys to another service, such as
 * to remove the data of a mount, is therefore in both copies or in neither.
 */
const beginCopies = async (
  { store, others }: SnapshotContext,
  signal: AbortSignal,
): Promise<readonly ServiceCopy[]> => {
  const begun: ServiceCopy[] = [];
  const cut = AbortSignal.timeout(CUT_WITHIN_MS);
  const begin = async (): Promise<void> => {
    const results = await Promise.allSettled(
      [...others].map(async ([service, member]) => {
        const late = Promise.withResolvers<never>();
        const refuse = (): void =>
          late.reject(new KeelsonError('edge.backend_unavailable', { service }));
        cut.addEventListener('abort', refuse, { once: true });
        const copy = beginCopy(service, member, signal);
        // A copy that begins after the limit is closed at once.
        copy.then((late) => (cut.aborted ? late.close() : undefined)).catch(() => undefined);
        begun.push(await Promise.race([copy, late.promise]));
      }),
    );
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  };
  try {
    const own = await store.copies.take(begin);
    return [{ service: 'sys', ...own }, ...begun.sort((a, b) => (a.service < b.service ? -1 : 1))];
  } catch (error) {
    await closeAll(begun);
    throw error;
  }
};

const toMeta = async (
  { store, clock, version }: SnapshotContext,
  copies: readonly ServiceCopy[],
): Promise<SnapshotMeta> => {
  const cluster = await clusterRecords.find(store);
  return {
    format: SNAPSHOT_FORMAT,
    version,
    cluster_id: cluster?.id ?? '',
    cluster_name: cluster?.name ?? '',
    taken_at: new Date(clock.nowMs()).toISOString(),
    positions: Object.fromEntries(copies.map(({ service, sequence }) => [service, sequence])),
  };
};

async function* entriesOf(
  { barrier }: SnapshotContext,
  meta: SnapshotMeta,
  copies: readonly ServiceCopy[],
): AsyncGenerator<ArchiveEntry> {
  const sums: string[] = [];
  const counted = (entry: ArchiveEntry): ArchiveEntry => {
    sums.push(sumLine(entry));
    return entry;
  };
  yield counted({ name: META, content: Buffer.from(`${JSON.stringify(meta, undefined, 2)}\n`) });
  for (const { service, pages } of copies) {
    let number = 0;
    for await (const content of pages) {
      number += 1;
      yield counted({ name: `${service}/${String(number).padStart(8, '0')}`, content });
    }
  }
  const content = Buffer.from(sums.join(''));
  yield { name: SUMS, content };
  yield { name: SEALED_SUMS, content: barrier.encrypt(SUMS_PATH, content) };
}

const parseMeta = ({ name, content }: ArchiveEntry): SnapshotMeta => {
  const foreign = (cause?: unknown): KeelsonError =>
    new KeelsonError(
      'sys.snapshot_foreign',
      { reason: `it does not begin with a ${META} of Keelson` },
      { cause },
    );
  if (name !== META) throw foreign();
  let meta: Partial<SnapshotMeta>;
  try {
    meta = JSON.parse(Buffer.from(content).toString()) as Partial<SnapshotMeta>;
  } catch (cause) {
    throw foreign(cause);
  }
  const { format, version = '', positions } = meta;
  if (typeof format !== 'number' || typeof positions !== 'object') throw foreign();
  if (format !== SNAPSHOT_FORMAT)
    throw new KeelsonError('sys.snapshot_unknown_format', {
      found: format,
      known: SNAPSHOT_FORMAT,
      version: String(version),
    });
  return meta as SnapshotMeta;
};

const damaged = (reason: string): KeelsonError =>
  new KeelsonError('sys.snapshot_damaged', { reason });

interface Staged {
  readonly meta: SnapshotMeta;
  /** Number of records by service. */
  readonly records: ReadonlyMap<string, number>;
  /** A sentence for the operator if some of the records cannot be read. */
  readonly warning: string | undefined;
}

/** Stages the pages of a snapshot next to the records of each service, and compares all digests. */
const stageSnapshot = async (
  context: SnapshotContext,
  members: ReadonlyMap<string, MemberRpc>,
  restoration: string,
  { chunks, isForced }: RestoreRequest,
): Promise<Staged> => {
  let meta: SnapshotMeta | undefined;
  let sums = '';
  let listed: Uint8Array | undefined;
  let isSealed = false;
  let isOwn = false;
  const unreadable: UnreadableRecord[] = [];
  const records = new Map<string, number>();
  const names = new Set<string>();
  for await (const entry of readArchive(chunks)) {
    if (isSealed) throw damaged(`${entry.name.slice(0, 100)} follows ${SEALED_SUMS}`);
    if (names.has(entry.name)) throw damaged(`it has ${entry.name.slice(0, 100)} twice`);
    names.add(entry.name);
    if (meta === undefined) {
      meta = parseMeta(entry);
      const unknown = Object.keys(meta.positions).filter((service) => !members.has(service));
      const absent = [...members.keys()].filter((service) => !(service in (meta?.positions ?? {})));
      if (unknown.length > 0 || absent.some((service) => !LATER_SERVICES.has(service)))
        throw damaged(`it is of the services ${Object.keys(meta.positions).join(', ')}`);
      // Their stores are emptied, because their records are of another time or of another cluster.
      const page = Buffer.from(EMPTY_PAGE);
      for (const service of absent) await members.get(service)?.stagePage({ restoration, page });
    } else if (entry.name === SUMS) {
      if (Buffer.from(entry.content).toString() !== sums)
        throw damaged(`its entries are not those that ${SUMS} names`);
      listed = entry.content;
      continue;
    } else if (entry.name === SEALED_SUMS) {
      if (listed === undefined) throw damaged(`${SUMS} is missing`);
      isOwn = hasOwnKeys(context, listed, entry.content, isForced);
      isSealed = true;
      continue;
    } else {
      const [service = '', number = ''] = entry.name.split('/');
      const member = members.get(service);
      if (member === undefined || !/^\d{8}$/.test(number))
        throw damaged(`it has an entry ${entry.name.slice(0, 100)}`);
      if (listed !== undefined) throw damaged(`${entry.name} follows ${SUMS}`);
      records.set(service, (records.get(service) ?? 0) + pageRecords(entry));
      const staged = await member.stagePage({ restoration, page: Buffer.from(entry.content) });
      unreadable.push(...(staged.unreadable ?? []));
    }
    sums += sumLine(entry);
  }
  if (meta === undefined || !isSealed) throw damaged(`${SEALED_SUMS} is missing: it ends early`);
  const warning = judgeUnreadable({ unreadable, isOwn, isForced, version: meta.version });
  return { meta, records, warning };
};

const pageRecords = ({ name, content }: ArchiveEntry): number => {
  try {
    return countPage(content);
  } catch {
    throw damaged(`${name} cannot be read`);
  }
};

/**
 * Whether this cluster encrypted the snapshot.
 * @throws KeelsonError `sys.snapshot_other_keys` if another did and that is not accepted
 */
const hasOwnKeys = (
  { barrier }: SnapshotContext,
  listed: Uint8Array,
  sealed: Uint8Array,
  isForced: boolean,
): boolean => {
  let opened: Uint8Array;
  try {
    opened = barrier.decrypt(SUMS_PATH, sealed);
  } catch (cause) {
    if (isForced) return false;
    throw new KeelsonError('sys.snapshot_other_keys', {}, { cause });
  }
  if (!isForced && Buffer.compare(opened, listed) !== 0)
    throw damaged(`${SEALED_SUMS} is not the one of this archive`);
  return true;
};

/** The pages of a refused file would only take space. */
const discardPages = async (members: ReadonlyMap<string, MemberRpc>): Promise<void> => {
  const page = Buffer.from(EMPTY_PAGE);
  await Promise.allSettled(
    [...members.values()].map((member) => member.stagePage({ restoration: randomUUID(), page })),
  );
};

/** While the seal is closed, nobody can say where the audit devices of the snapshot write. */
const warnOfDevices = async ({ seal, store }: SnapshotContext): Promise<readonly string[]> => {
  const names = seal.isSealed ? await listAuditDeviceNames(store) : [];
  return names.length === 0
    ? []
    : [
        `The snapshot brings the audit device ${names.map((name) => `${name}/`).join(', ')}. If none can be written to here, every request will be refused: once the seal is open, /readyz and \`keelson status\` name those that cannot.`,
      ];
};

export interface RestoreRequest {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Accepts a snapshot that was encrypted with other keys. */
  readonly isForced: boolean;
}

export interface Snapshots {
  /** @returns the bytes of a snapshot of this moment; the caller reads them or aborts `signal` */
  take(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Replaces all records by a snapshot. Afterwards the cluster is sealed with the keys of the snapshot.
   * @returns sentences for the operator
   */
  restore(request: RestoreRequest): Promise<readonly string[]>;
  /** Whether a restoration was interrupted after verifying its file and before replacing all records. */
  isInterrupted(): Promise<boolean>;
  /** Finishes an interrupted restoration from the staged pages of each service. */
  finish(): Promise<void>;
}

export const createSnapshots = (context: SnapshotContext): Snapshots => {
  let underWay = 0;
  let isRestoring = false;

  const findPending = (): Promise<PendingRestoration | undefined> =>
    pendingRestorations.find(context.store);

  const members = (): ReadonlyMap<string, MemberRpc> =>
    new Map([['sys', context.own], ...context.others]);

  const replaceAll = async (pending: PendingRestoration): Promise<readonly string[]> => {
    const { restoration, services, isForeign } = pending;
    const done: string[] = [];
    // Sys is last, so that the caller's token remains valid and the restoration can be repeated until then.
    for (const [service, member] of [...members()].reverse()) {
      const { records = 0, sequence = 0 } = services[service] ?? {};
      try {
        await member.replaceRecords(
          { restoration, records: BigInt(records), sequence: BigInt(sequence) },
          { timeoutMs: REPLACE_WITHIN_MS },
        );
      } catch (cause) {
        if (done.length === 0) throw cause;
        const reason = KeelsonError.from(cause).message;
        throw new KeelsonError(
          'sys.snapshot_half_restored',
          { done: done.join(', '), service, reason },
          { cause },
        );
      }
      done.push(service);
    }
    const warning = isForeign ? context.installation?.forgetCluster() : undefined;
    return warning === undefined ? [] : [warning];
  };

  return {
    take: async (signal) => {
      if ((await findPending()) !== undefined)
        throw new KeelsonError('sys.snapshot_busy', { what: 'a restoration' });
      if (underWay >= MAX_SNAPSHOTS)
        throw new KeelsonError('sys.snapshot_busy', {
          what: `the making of ${underWay} snapshots`,
        });
      underWay += 1;
      let copies: readonly ServiceCopy[];
      try {
        copies = await beginCopies(context, signal);
      } catch (error) {
        underWay -= 1;
        throw error;
      }
      let isOver = false;
      const end = async (): Promise<void> => {
        if (isOver) return;
        isOver = true;
        underWay -= 1;
        await closeAll(copies);
      };
      // If nobody begins to read the body, nothing else ends it.
      signal.addEventListener('abort', () => void end(), { once: true });
      if (signal.aborted) await end();
      const meta = await toMeta(context, copies);
      return (async function* () {
        try {
          yield* writeArchive(entriesOf(context, meta, copies), new Date(meta.taken_at));
        } finally {
          await end();
        }
      })();
    },
    restore: async (request) => {
      const kind = await context.secondaryKind();
      if (kind !== undefined) throw new KeelsonError('sys.snapshot_on_secondary', { kind });
      if (isRestoring) throw new KeelsonError('sys.snapshot_busy', { what: 'another restoration' });
      isRestoring = true;
      try {
        const { store } = context;
        // The first page of this restoration removes the staged pages of an earlier, interrupted one.
        await store.transact((tx) => pendingRestorations.delete(tx));
        const restoration = randomUUID();
        const stage = async (): Promise<Staged> => {
          const staged = await stageSnapshot(context, members(), restoration, request);
          await context.installation?.requireSpace();
          return staged;
        };
        const { meta, records, warning } = await stage().catch(async (error: unknown) => {
          await discardPages(members());
          throw error;
        });
        const services = Object.fromEntries(
          Object.entries(meta.positions).map(([service, sequence]) => [
            service,
            { records: records.get(service) ?? 0, sequence },
          ]),
        );
        const cluster = await clusterRecords.find(store);
        const pending = { restoration, services, isForeign: meta.cluster_id !== cluster?.id };
        // This record disappears when the records of sys are replaced, which happens last.
        await store.transact((tx) => pendingRestorations.write(tx, pending));
        const warnings = await replaceAll(pending);
        await context.seal.followRestoration();
        return [
          ...(warning === undefined ? [] : [warning]),
          ...warnings,
          ...(await warnOfDevices(context)),
        ];
      } finally {
        isRestoring = false;
      }
    },
    isInterrupted: async () => !isRestoring && (await findPending()) !== undefined,
    finish: async () => {
      const pending = await findPending();
      if (pending !== undefined && !isRestoring) await replaceAll(pending);
    },
  };
};
