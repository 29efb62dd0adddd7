/** Operations of a secondary: promotion, following another primary, leaving the set. */

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
import {
  type FilterContext,
  fetchFilter,
  findReceivedFilter,
  forgetFilter,
} from './filters/filter-operations.ts';
import {
  findRoles,
  type LinkRecord,
  type PrimaryRoleRecord,
  type RoleRecord,
  type SecondaryRoleRecord,
  writeRole,
} from './replication-records.ts';
import { newGeneration } from './replication-state.ts';
import type { ServiceReport } from './service-members.ts';

export interface SecondaryContext extends ActivationParts, FilterContext {
  readonly transport: ReplicationTransport;
  /** Called after a promotion, with the state just before it. */
  readonly onPromoted: (kind: ReplicationKind, plan: PromotionPlan) => void;
}

export interface PromotionRequest {
  readonly primaryClusterAddress: string;
  /** Promotes even when entries are missing, or when it is unknown whether any are. */
  readonly force: boolean;
}

const NAMES: Readonly<Record<ReplicationKind, string>> = { performance: 'performance', dr: 'DR' };
const PING_WITHIN_MS = 2000;
const DRAIN_POLL_MS = 100;
/** When nothing has arrived for this long, no more entries are expected. */
const DRAIN_STALLED_MS = 5000;
/** Well below the timeout of a request. */
const DRAIN_WITHIN_MS = 30_000;
const NEVER = new AbortController().signal;
/** The search for the primary sends a ping to each of these. */
const MAX_OTHER_ADDRESSES = 8;
/** Two missed heartbeats. */
const UNHEARD_MS = 11_000;

/** The primary has data that would be missing here, and this secondary cannot know how much. */
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
      lastReportAtMs: primary && Number(primary.lastHeartbeatAtMs),
    },
  };
};

const requireSecondary = async (
  { state }: SecondaryContext,
  kind: ReplicationKind,
): Promise<SecondaryRoleRecord> => {
  const role = (await state.roles())[kind];
  return role?.role === 'secondary'
    ? role
    : refuse(`this cluster is not a ${NAMES[kind]} replication secondary`);
};

const measure = async (
  context: SecondaryContext,
  kind: ReplicationKind,
): Promise<PromotionPlan> => {
  const role = await requireSecondary(context, kind);
  return decidePromotion((await context.members.reports(kind, true)).map(toPosition), {
    follows: role.link !== undefined ? 'primary' : role.wasPrimary === true ? 'itself' : 'nobody',
    nowMs: context.clock.nowMs(),
  });
};

/** Receives the entries left in the stream, as long as they arrive, before the rest is given up. */
const drain = async (context: SecondaryContext, kind: ReplicationKind): Promise<void> => {
  const { clock } = context;
  let { arrivingEntries: left } = await measure(context, kind);
  if (left === 0) return;
  await context.members.recover(kind).catch(() => undefined);
  const beganAtMs = clock.nowMs();
  for (let movedAtMs = beganAtMs; left > 0; ) {
    await pause(clock, DRAIN_POLL_MS, NEVER);
    const { arrivingEntries } = await measure(context, kind);
    const nowMs = clock.nowMs();
    if (arrivingEntries < left) movedAtMs = nowMs;
    left = arrivingEntries;
    if (nowMs - movedAtMs > DRAIN_STALLED_MS || nowMs - beganAtMs > DRAIN_WITHIN_MS) return;
  }
};

/** The data that a promotion would lose. */
export const planPromotion = async (
  context: SecondaryContext,
  kind: ReplicationKind,
): Promise<PromotionPlan> => {
  const found = await measure(context, kind);
  // While the primary cannot be reached, its last answer applies.
  if (kind === 'performance') await fetchFilter(context).catch(() => undefined);
  const kept = kind === 'performance' ? await findReceivedFilter(context) : undefined;
  return { ...found, kept };
};

/** One more than every promotion of the set that is known here. */
const nextPromotion = async (
  { members, store, memberships }: SecondaryContext,
  kind: ReplicationKind,
  clusterId: string,
): Promise<number> => {
  const reports = await members.reports(kind);
  const reported = reports.map(({ report }) =>
    report?.side?.$case === 'secondary' ? Number(report.side.value.promotion) : 0,
  );
  const known = await new KnownPromotion(store, kind, clusterId).load();
  return 1 + Math.max(known, await memberships.of(kind).promotion(), ...reported);
};

/**
 * The performance role copied from the DR primary, restarted for this cluster. Secondaries that get a token from now on
 * are led here: the address in the copy is that of the lost cluster.
 */
const inherited = (role: RoleRecord, primaryClusterAddress: string): RoleRecord => {
  if (role.role === 'secondary')
    return { ...role, generation: newGeneration(), activation: '', previousRootKey: '' };
  const { supersededBy: _, former: __, ...kept } = role;
  return { ...kept, generation: newGeneration(), primaryClusterAddress };
};

/** Contacts the primary of a set; rejects with the error of the link. */
const contactPrimary = async (
  { transport }: SecondaryContext,
  clusterId: string,
  { secondaryId, keys, primaryPublicKey, trustedRoots }: LinkRecord,
  addresses: readonly string[],
  promotion: Pick<KnownPromotion, 'load' | 'accept'>,
): Promise<void> => {
  const bus = await transport.connect(addresses, trustedRoots);
  try {
    const link = new PrimaryLink({
      bus,
      identity: { clusterId, secondaryId, keys, primaryPublicKey },
      service: 'sys',
      promotion,
      onOutcome: () => undefined,
      timeoutMs: PING_WITHIN_MS,
    });
    await link.loadPosition();
  } finally {
    await bus.close();
  }
};

const ping = (
  context: SecondaryContext,
  kind: ReplicationKind,
  role: SecondaryRoleRecord,
  address: string,
) => {
  const { link, clusterId } = role;
  if (link === undefined) return Promise.resolve(false);
  const known = new KnownPromotion(context.store, kind, clusterId);
  // A failed ping is a valid result; a superseded primary counts as unreachable.
  return contactPrimary(context, clusterId, link, [address], known).then(
    () => true,
    () => false,
  );
};

/** @returns whether the former primary has learned of it, or reported a later promotion */
const notifyFormerPrimary = async (
  context: SecondaryContext,
  kind: ReplicationKind,
  clusterId: string,
  former: LinkRecord,
): Promise<boolean> => {
  const own = await context.memberships.of(kind).promotion();
  let isInformed = false;
  const promotion = {
    load: async () => own,
    accept: async (announced: number) => {
      if (announced <= own) return;
      isInformed = true;
      await context.state.supersede(kind, announced);
    },
  };
  const addresses = [...former.addresses, ...(former.otherAddresses ?? [])];
  await contactPrimary(context, clusterId, former, addresses, promotion).catch((error: unknown) => {
    // Usually unreachable, because the former primary was lost.
    if (hasCode(error, 'replication.superseded')) isInformed = true;
  });
  return isInformed;
};

const forgetFormer = (
  { store, seal }: SecondaryContext,
  kind: ReplicationKind,
  role: PrimaryRoleRecord,
): Promise<void> =>
  store.transact(async (tx) => {
    const { former: _, ...kept } = role;
    // A different generation means that the role has changed in the meantime.
    const found = (await findRoles(tx, seal.requireRootKey()))[kind];
    if (found?.generation === role.generation) writeRole(tx, seal.requireRootKey(), kind, kept);
  });

const replace = async (
  { state }: SecondaryContext,
  kind: ReplicationKind,
  role: SecondaryRoleRecord,
): Promise<void> => state.change(kind, { ...role, generation: newGeneration() });

/** A promoted cluster without its own NATS server could not be followed by any other. */
export const hasNats = ({ transport }: SecondaryContext): boolean => transport.bus !== undefined;

/**
 * Promotes this cluster. Even with `force`, the entries in the primary's stream are applied first, as long
 * as they can be received.
 * @returns the state just before the promotion: the data that is lost with `force`
 * @throws KeelsonError only without `force`: `replication.no_nats`, `replication.catching_up`,
 *   `replication.unheard`, `replication.filtered`
 */
export const promoteSecondary = async (
  context: SecondaryContext,
  kind: ReplicationKind,
  { primaryClusterAddress, force }: PromotionRequest,
): Promise<PromotionPlan> => {
  if (!force && context.transport.bus === undefined) throw new KeelsonError('replication.no_nats');
  if (force) await drain(context, kind);
  const found = await planPromotion(context, kind);
  if (!force) requireNothingLost(found);
  if (isKept(found) && !force) throw new KeelsonError('replication.filtered');
  const { clusterId, link } = await requireSecondary(context, kind);
  const { performance } = await context.state.recorded();
  const promotion = await nextPromotion(context, kind, clusterId);
  const leadsPerformance = kind === 'dr' && performance?.role === 'primary';
  const ofPerformance = leadsPerformance
    ? await nextPromotion(context, 'performance', performance.clusterId)
    : 0;
  await context.state.switching(async () => {
    await context.member.stop();
    await context.memberships.of(kind).found(clusterId, promotion);
    if (leadsPerformance) await context.memberships.of('performance').succeed(ofPerformance);
    await context.store.transact((tx) => {
      const rootKey = context.seal.requireRootKey();
      if (kind === 'dr' && performance !== undefined)
        writeRole(tx, rootKey, 'performance', inherited(performance, primaryClusterAddress));
      writeRole(tx, rootKey, kind, {
        role: 'primary',
        clusterId,
        generation: newGeneration(),
        primaryClusterAddress,
        ...(link !== undefined && !found.isWhole && { former: link }),
      });
    });
    if (kind === 'performance') await forgetFilter(context);
    await context.state.apply();
  });
  context.onPromoted(kind, found);
  return found;
};

export const disableSecondary = async (
  context: SecondaryContext,
  kind: ReplicationKind,
): Promise<void> => {
  await requireSecondary(context, kind);
  await context.state.switching(async () => {
    await context.member.stop();
    await context.store.transact((tx) => {
      const rootKey = context.seal.requireRootKey();
      writeRole(tx, rootKey, kind, undefined);
      // A role that was copied from the primary is not a role of this cluster.
      if (kind === 'dr') writeRole(tx, rootKey, 'performance', undefined);
    });
    for (const one of kind === 'dr' ? REPLICATION_KINDS : [kind])
      await context.memberships.of(one).dissolve();
    await context.state.apply();
  });
};

/** Follows the primary of a token without clearing any data. A blank token removes the primary. */
export const followToken = async (
  context: SecondaryContext,
  kind: ReplicationKind,
  request: ActivationRequest,
): Promise<void> => {
  const role = await requireSecondary(context, kind);
  if (request.token.trim() === '') {
    const { link: _, ...orphan } = role;
    return replace(context, kind, orphan);
  }
  const taken = await takeBundle(context, kind, request);
  const next = {
    ...toSecondaryRole(taken, role.activation, new Uint8Array(0)),
    previousRootKey: role.previousRootKey,
  };
  const { rootKey } = await fetchKeyring(context, kind, next);
  if (Buffer.compare(rootKey, context.seal.requireRootKey()) !== 0)
    refuse(
      'the primary has other keys than the one this cluster followed: disable replication here and enable it with a new token',
    );
  return context.state.change(kind, next);
};

/**
 * Records the addresses of the primary, and tries them when it has been silent for a while: a DR secondary
 * that took its place leads the same set with the same keys.
 */
export const searchPrimary = async (context: SecondaryContext): Promise<void> => {
  const role = (await context.state.roles()).performance;
  const run = context.member.runOf('performance');
  if (role?.role !== 'secondary' || role.link === undefined || run?.role !== 'secondary') return;
  const { link } = role;
  const { heartbeat, lastStartMs } = await run.secondary.sharedStatus();
  const known = link.otherAddresses ?? [];
  // A new primary reports no other addresses; keep the known ones, as its predecessor may come back.
  const others = [...new Set([...(heartbeat?.primaryClusterAddresses ?? []), ...known])]
    .filter((address) => !link.addresses.includes(address))
    .slice(0, MAX_OTHER_ADDRESSES);
  if (others.join() !== known.join())
    await context.store.transact((tx) =>
      writeRole(tx, context.seal.requireRootKey(), 'performance', {
        ...role,
        link: { ...link, otherAddresses: others },
      }),
    );
  const lastReportAtMs = heartbeat?.atMs ?? lastStartMs;
  if (context.clock.nowMs() - lastReportAtMs < UNHEARD_MS) return;
  for (const address of link.addresses)
    if (await ping(context, 'performance', role, address)) return;
  for (const address of link.otherAddresses ?? [])
    if (await ping(context, 'performance', role, address))
      return replace(context, 'performance', {
        ...role,
        link: {
          ...link,
          addresses: [address],
          otherAddresses: [...link.addresses, ...(link.otherAddresses ?? [])],
        },
      });
};

/**
 * Informs the former primary that this cluster superseded it, in case it came back without knowing.
 * Nothing more is sent once it has learned of it.
 */
export const notifyFormerPrimaries = async (context: SecondaryContext): Promise<void> => {
  const roles = await context.state.roles();
  for (const kind of REPLICATION_KINDS) {
    const role = roles[kind];
    if (role?.role !== 'primary' || role.former === undefined) continue;
    if (await notifyFormerPrimary(context, kind, role.clusterId, role.former))
      await forgetFormer(context, kind, role);
  }
};

/** The first address that answers becomes the primary. */
export const followAddresses = async (
  context: SecondaryContext,
  kind: ReplicationKind,
  addresses: readonly string[],
  roots: TrustedRoots,
): Promise<void> => {
  const found = await requireSecondary(context, kind);
  const trustedRoots = await loadRoots(roots);
  const role: SecondaryRoleRecord =
    trustedRoots === undefined || found.link === undefined
      ? found
      : { ...found, link: { ...found.link, trustedRoots } };
  if (role.link === undefined)
    refuse('this cluster has no credentials of a primary: update-primary needs a token');
  for (const address of addresses)
    if (await ping(context, kind, role, address))
      return replace(context, kind, {
        ...role,
        primaryClusterAddress: address,
        ...(role.link && { link: { ...role.link, addresses: [address] } }),
      });
  return refuse('none of update_primary_addrs answers as the primary');
};
