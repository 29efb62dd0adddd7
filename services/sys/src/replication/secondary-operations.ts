/** What a secondary does: taking over, following another primary, leaving the set. */

import { pause } from '@keelson/clock';
import type { ReplicationTransport } from '@keelson/cluster-member';
import { hasCode, KeelsonError } from '@keelson/errors';
import {
  KnownPromotion,
  PrimaryLink,
  REPLICATION_KINDS,
  type ReplicationKind,
} from '@keelson/replication';
import {
  type ActivationParts,
  type ActivationRequest,
  fetchKeyring,
  takeBundle,
  toSecondaryRole,
} from './activation-operations.ts';
import { loadRoots, type TrustedRoots } from './activation-token.ts';
import { decidePromotion, type PromotionPlan, type ServicePosition } from './domain/promotion.ts';
import type { FilterOperations } from './filters/filter-operations.ts';
import {
  findRoles,
  type LinkRecord,
  type PrimaryRoleRecord,
  type RoleRecord,
  type SecondaryRoleRecord,
  writeRole,
} from './replication-records.ts';
import { newGeneration, type ReplicationState } from './replication-state.ts';
import type { ServiceMembers, ServiceReport } from './service-members.ts';

export interface SecondaryParts extends ActivationParts {
  readonly state: ReplicationState;
  readonly members: ServiceMembers;
  readonly transport: ReplicationTransport;
  readonly filters: FilterOperations;
}

export interface PromotionRequest {
  readonly primaryClusterAddress: string;
  /** Also with entries missing, and when it is not known whether any are. */
  readonly force: boolean;
}

export interface SecondaryOperations {
  /** Without a NATS server of its own a promoted cluster can be followed by nobody. */
  readonly hasNats: boolean;
  /** What a promotion would lose. */
  plan(kind: ReplicationKind): Promise<PromotionPlan>;
  /**
   * By force, too, what the stream of the primary holds is taken first, as long as it can be had.
   * @returns what was known just before, and is lost by force
   * @throws KeelsonError `replication.no_nats`, `replication.catching_up`, `replication.unheard`,
   *   `replication.filtered`: without `force`
   */
  promote(kind: ReplicationKind, request: PromotionRequest): Promise<PromotionPlan>;
  disable(kind: ReplicationKind): Promise<void>;
  /** No wipe. A blank token forgets the primary. */
  followToken(kind: ReplicationKind, request: ActivationRequest): Promise<void>;
  /**
   * Notes where the primary may be found, and looks there when it was not heard of for a while: a DR
   * secondary that took its place leads the same set with the same keys.
   */
  searchPrimary(): Promise<void>;
  /**
   * Tells the primary whose place this cluster took that it was superseded, in case it came back without
   * knowing. Once it has heard of it there is nothing to tell.
   */
  tellFormerPrimaries(): Promise<void>;
  /** The first that answers is the primary from now on. */
  followAddresses(
    kind: ReplicationKind,
    addresses: readonly string[],
    roots: TrustedRoots,
  ): Promise<void>;
}

const NAMES: Readonly<Record<ReplicationKind, string>> = { performance: 'performance', dr: 'DR' };
const PING_WITHIN_MS = 2000;
const DRAIN_POLL_MS = 100;
/** Nothing has arrived for so long: more does not come, as it seems. */
const DRAIN_STALLED_MS = 5000;
/** Well below the time limit of a request. */
const DRAIN_WITHIN_MS = 30_000;
const NEVER = new AbortController().signal;
/** Each takes a ping while the primary is looked for. */
const MAX_OTHER_ADDRESSES = 8;
/** Two heartbeats failed to come. */
const UNHEARD_MS = 11_000;

/** The primary has what would be missing here, and this secondary cannot know how much that is. */
const isKept = ({ kept }: PromotionPlan): boolean =>
  kept !== undefined &&
  kept.dynamic_filtered_mounts.length + kept.dynamic_filtered_namespaces.length > 0;

/** @throws KeelsonError `replication.catching_up`, `replication.unheard` */
const requireNothingLost = ({ obstacle, unheardMs }: PromotionPlan): void => {
  if (obstacle === 'catching_up') throw new KeelsonError('replication.catching_up');
  if (obstacle === 'unheard') {
    const since =
      unheardMs === undefined
        ? 'was not heard of'
        : `was last heard of ${Math.round(unheardMs / 1000)} seconds ago`;
    throw new KeelsonError('replication.unheard', { since });
  }
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const toPosition = ({ service, report }: ServiceReport): ServicePosition => {
  if (report?.side?.$case !== 'secondary') return { service, following: undefined };
  const { state, mode, lastRemoteWal, lastKnownWal, inStream, whole, primary } = report.side.value;
  return {
    service,
    following: {
      state,
      mode,
      lastRemoteWal: Number(lastRemoteWal),
      lastKnownWal: Number(lastKnownWal),
      inStream: Number(inStream),
      isWhole: whole,
      heardAtMs: primary && Number(primary.lastHeartbeatAtMs),
    },
  };
};

export const createSecondaryOperations = (parts: SecondaryParts): SecondaryOperations => {
  const { store, seal, state, members, transport, filters } = parts;

  const requireSecondary = async (kind: ReplicationKind): Promise<SecondaryRoleRecord> => {
    const role = (await state.roles())[kind];
    return role?.role === 'secondary'
      ? role
      : refuse(`this cluster is not a ${NAMES[kind]} replication secondary`);
  };

  const measure = async (kind: ReplicationKind): Promise<PromotionPlan> => {
    const role = await requireSecondary(kind);
    return decidePromotion((await members.reports(kind, true)).map(toPosition), {
      follows: role.link !== undefined ? 'primary' : role.wasPrimary === true ? 'itself' : 'nobody',
      nowMs: parts.clock.nowMs(),
    });
  };

  /** What the stream holds is taken from it before the rest is given up, as long as it arrives. */
  const drain = async (kind: ReplicationKind): Promise<void> => {
    const { clock } = parts;
    let { arrivingEntries: left } = await measure(kind);
    if (left === 0) return;
    await members.recover(kind).catch(() => undefined);
    const beganAtMs = clock.nowMs();
    for (let movedAtMs = beganAtMs; left > 0; ) {
      await pause(clock, DRAIN_POLL_MS, NEVER);
      const { arrivingEntries } = await measure(kind);
      const nowMs = clock.nowMs();
      if (arrivingEntries < left) movedAtMs = nowMs;
      left = arrivingEntries;
      if (nowMs - movedAtMs > DRAIN_STALLED_MS || nowMs - beganAtMs > DRAIN_WITHIN_MS) return;
    }
  };

  const plan = async (kind: ReplicationKind): Promise<PromotionPlan> => {
    const found = await measure(kind);
    // While the primary cannot be asked, what it told last holds.
    if (kind === 'performance') await filters.learn().catch(() => undefined);
    const kept = kind === 'performance' ? await filters.known() : undefined;
    return { ...found, kept };
  };

  /** Beyond every promotion of the set that was heard of here. */
  const nextPromotion = async (kind: ReplicationKind, clusterId: string): Promise<number> => {
    const reports = await members.reports(kind);
    const heard = reports.map(({ report }) =>
      report?.side?.$case === 'secondary' ? Number(report.side.value.promotion) : 0,
    );
    const known = await new KnownPromotion(store, kind, clusterId).load();
    return 1 + Math.max(known, await state.membershipOf(kind).promotion(), ...heard);
  };

  /** The performance role that came along from the DR primary begins here. */
  const inherited = (role: RoleRecord): RoleRecord => {
    if (role.role === 'secondary')
      return { ...role, generation: newGeneration(), activation: '', previousRootKey: '' };
    const { supersededBy: _, former: __, ...kept } = role;
    return { ...kept, generation: newGeneration() };
  };

  /** Asks the primary of a set something; fails as the link does. */
  const askAt = async (
    clusterId: string,
    { secondaryId, keys, primaryPublicKey, trustedRoots }: LinkRecord,
    addresses: readonly string[],
    promotion: Pick<KnownPromotion, 'load' | 'hear'>,
  ): Promise<void> => {
    const bus = await transport.connect(addresses, trustedRoots);
    try {
      const asked = new PrimaryLink({
        bus,
        identity: { clusterId, secondaryId, keys, primaryPublicKey },
        service: 'sys',
        promotion,
        onOutcome: () => undefined,
        timeoutMs: PING_WITHIN_MS,
      });
      await asked.loadPosition();
    } finally {
      await bus.close();
    }
  };

  const ping = (kind: ReplicationKind, role: SecondaryRoleRecord, address: string) => {
    const { link, clusterId } = role;
    if (link === undefined) return Promise.resolve(false);
    const known = new KnownPromotion(store, kind, clusterId);
    // No answer is what a ping finds out, and that of a superseded primary is none.
    return askAt(clusterId, link, [address], known).then(
      () => true,
      () => false,
    );
  };

  /** @returns whether the former primary knows it now, or a still later promotion was heard of from it */
  const tellFormer = async (
    kind: ReplicationKind,
    clusterId: string,
    former: LinkRecord,
  ): Promise<boolean> => {
    const own = await state.membershipOf(kind).promotion();
    let isTold = false;
    const promotion = {
      load: async () => own,
      hear: async (heard: number) => {
        if (heard <= own) return;
        isTold = true;
        await state.supersede(kind, heard);
      },
    };
    const addresses = [...former.addresses, ...(former.otherAddresses ?? [])];
    await askAt(clusterId, former, addresses, promotion).catch((error: unknown) => {
      // Unreachable, as a rule: it was lost.
      if (hasCode(error, 'replication.superseded')) isTold = true;
    });
    return isTold;
  };

  const forgetFormer = (kind: ReplicationKind, role: PrimaryRoleRecord): Promise<void> =>
    store.transact(async (tx) => {
      const { former: _, ...kept } = role;
      // Another generation: the role has changed meanwhile.
      const found = (await findRoles(tx, seal.requireRootKey()))[kind];
      if (found?.generation === role.generation) writeRole(tx, seal.requireRootKey(), kind, kept);
    });

  const replace = async (kind: ReplicationKind, role: SecondaryRoleRecord): Promise<void> =>
    state.change(kind, { ...role, generation: newGeneration() });

  return {
    hasNats: transport.bus !== undefined,
    plan,

    promote: async (kind, { primaryClusterAddress, force }) => {
      if (!force && transport.bus === undefined) throw new KeelsonError('replication.no_nats');
      if (force) await drain(kind);
      const found = await plan(kind);
      if (!force) requireNothingLost(found);
      if (isKept(found) && !force) throw new KeelsonError('replication.filtered');
      const { clusterId, link } = await requireSecondary(kind);
      const { performance } = await state.recorded();
      const promotion = await nextPromotion(kind, clusterId);
      const leadsPerformance = kind === 'dr' && performance?.role === 'primary';
      const ofPerformance = leadsPerformance
        ? await nextPromotion('performance', performance.clusterId)
        : 0;
      await state.switching(async () => {
        await parts.member.stop();
        await state.membershipOf(kind).found(clusterId, promotion);
        if (leadsPerformance) await state.membershipOf('performance').succeed(ofPerformance);
        await store.transact((tx) => {
          const rootKey = seal.requireRootKey();
          if (kind === 'dr' && performance !== undefined)
            writeRole(tx, rootKey, 'performance', inherited(performance));
          writeRole(tx, rootKey, kind, {
            role: 'primary',
            clusterId,
            generation: newGeneration(),
            primaryClusterAddress,
            ...(link !== undefined && !found.isWhole && { former: link }),
          });
        });
        if (kind === 'performance') await filters.forget();
        await state.apply();
      });
      return found;
    },

    disable: async (kind) => {
      await requireSecondary(kind);
      await state.switching(async () => {
        await parts.member.stop();
        await store.transact((tx) => {
          const rootKey = seal.requireRootKey();
          writeRole(tx, rootKey, kind, undefined);
          // What came along from the primary is no role of this cluster.
          if (kind === 'dr') writeRole(tx, rootKey, 'performance', undefined);
        });
        for (const one of kind === 'dr' ? REPLICATION_KINDS : [kind])
          await state.membershipOf(one).dissolve();
        await state.apply();
      });
    },

    followToken: async (kind, request) => {
      const role = await requireSecondary(kind);
      if (request.token.trim() === '') {
        const { link: _, ...orphan } = role;
        return replace(kind, orphan);
      }
      const taken = await takeBundle(parts, kind, request);
      const next = {
        ...toSecondaryRole(taken, role.activation, new Uint8Array(0)),
        previousRootKey: role.previousRootKey,
      };
      const { rootKey } = await fetchKeyring(parts, kind, next);
      if (Buffer.compare(rootKey, seal.requireRootKey()) !== 0)
        refuse(
          'the primary has other keys than the one this cluster followed: disable replication here and enable it with a new token',
        );
      return state.change(kind, next);
    },

    searchPrimary: async () => {
      const role = (await state.roles()).performance;
      const run = parts.member.runOf('performance');
      if (role?.role !== 'secondary' || role.link === undefined || run?.role !== 'secondary')
        return;
      const { link } = role;
      const { heartbeat, lastStartMs } = await run.secondary.sharedStatus();
      const known = link.otherAddresses ?? [];
      // A primary that has just taken over knows of no other: the one before it may come back.
      const others = [...new Set([...(heartbeat?.primaryClusterAddresses ?? []), ...known])]
        .filter((address) => !link.addresses.includes(address))
        .slice(0, MAX_OTHER_ADDRESSES);
      if (others.join() !== known.join())
        await store.transact((tx) =>
          writeRole(tx, seal.requireRootKey(), 'performance', {
            ...role,
            link: { ...link, otherAddresses: others },
          }),
        );
      const heardAtMs = heartbeat?.atMs ?? lastStartMs;
      if (parts.clock.nowMs() - heardAtMs < UNHEARD_MS) return;
      for (const address of link.addresses) if (await ping('performance', role, address)) return;
      for (const address of link.otherAddresses ?? [])
        if (await ping('performance', role, address))
          return replace('performance', {
            ...role,
            link: {
              ...link,
              addresses: [address],
              otherAddresses: [...link.addresses, ...(link.otherAddresses ?? [])],
            },
          });
    },

    tellFormerPrimaries: async () => {
      const roles = await state.roles();
      for (const kind of REPLICATION_KINDS) {
        const role = roles[kind];
        if (role?.role !== 'primary' || role.former === undefined) continue;
        if (await tellFormer(kind, role.clusterId, role.former)) await forgetFormer(kind, role);
      }
    },

    followAddresses: async (kind, addresses, roots) => {
      const found = await requireSecondary(kind);
      const trustedRoots = await loadRoots(roots);
      const role: SecondaryRoleRecord =
        trustedRoots === undefined || found.link === undefined
          ? found
          : { ...found, link: { ...found.link, trustedRoots } };
      if (role.link === undefined)
        refuse('this cluster has no credentials of a primary: update-primary needs a token');
      for (const address of addresses)
        if (await ping(kind, role, address))
          return replace(kind, {
            ...role,
            primaryClusterAddress: address,
            ...(role.link && { link: { ...role.link, addresses: [address] } }),
          });
      return refuse('none of update_primary_addrs answers as the primary');
    },
  };
};
