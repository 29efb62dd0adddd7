/** Operations of a primary: founding a set, admitting and removing secondaries, stepping back. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import type { ReplicationTransport } from '@keelson/cluster-member';
import { KeelsonError } from '@keelson/errors';
import type { WrapInfo } from '@keelson/proto/sys/v1/access';
import { generateLinkKeyPair, type ReplicationKind } from '@keelson/replication';
import type { Store } from '@keelson/storage';
import type { Seal } from '../seal/seal.ts';
import type { ShareSeal } from '../seal/seal-records.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import { findByAccessor, refOf } from '../tokens/token-records.ts';
import { revokeTree } from '../tokens/token-revocation-operations.ts';
import { wrapResponse } from '../wrapping/wrapping-operations.ts';
import { decodePublicKey, sealBundle } from './activation-token.ts';
import { type ActivationBundle, BUNDLE_FORMAT } from './domain/activation-bundle.ts';
import type { Memberships } from './memberships.ts';
import { activationTokens, isSuperseded, type PrimaryRoleRecord } from './replication-records.ts';
import { newGeneration, type ReplicationState } from './replication-state.ts';
import type { ServiceMembers } from './service-members.ts';

export interface SetContext {
  /** Not guarded by the replication gate. */
  readonly store: Store;
  readonly seal: Seal;
  readonly memberships: Memberships;
  readonly state: ReplicationState;
  readonly transport: ReplicationTransport;
  readonly members: ServiceMembers;
  readonly tokens: TokenContext;
  readonly clock: Clock;
  readonly version: string;
}

export interface SecondaryTokenRequest {
  readonly id: string;
  readonly ttlSeconds: number;
  /** As shown by generate-public-key; "" if the token can be unwrapped at this cluster. */
  readonly secondaryPublicKey: string;
  /** API address at which the token can be unwrapped. */
  readonly apiAddress: string;
}

export type SecondaryToken = { readonly wrapInfo: WrapInfo } | { readonly token: string };

const NAMES: Readonly<Record<ReplicationKind, string>> = { performance: 'performance', dr: 'DR' };

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requirePrimary = async (
  { state }: SetContext,
  kind: ReplicationKind,
): Promise<PrimaryRoleRecord> => {
  const role = (await state.roles())[kind];
  return role?.role === 'primary'
    ? role
    : refuse(`this cluster is not a ${NAMES[kind]} replication primary`);
};

const sealOfPrimary = async ({ seal }: SetContext): Promise<ShareSeal> => {
  const record = await seal.record();
  if (record === undefined) throw new KeelsonError('sys.sealed');
  const { shares, threshold, wrappedForShares } = record;
  return { shares, threshold, wrappedForShares };
};

export const enablePrimary = async (
  { memberships, state, transport }: SetContext,
  kind: ReplicationKind,
  primaryClusterAddress: string,
): Promise<void> => {
  const roles = await state.recorded();
  if (isSuperseded(roles)) throw new KeelsonError('replication.superseded');
  if (roles[kind] !== undefined)
    refuse(`${NAMES[kind]} replication is already enabled as ${roles[kind].role}`);
  if (transport.bus === undefined) throw new KeelsonError('replication.no_nats');
  const clusterId = randomUUID();
  await memberships.of(kind).found(clusterId);
  await state.change(kind, {
    role: 'primary',
    clusterId,
    generation: newGeneration(),
    primaryClusterAddress,
  });
};

/** @returns whether all committed entries have reached the stream */
export const demotePrimary = async (
  context: SetContext,
  kind: ReplicationKind,
): Promise<boolean> => {
  const { clusterId, primaryClusterAddress, supersededBy } = await requirePrimary(context, kind);
  return context.state.switching(async () => {
    const isPublished = await context.members.finishPublishing(kind);
    await context.state.change(kind, {
      role: 'secondary',
      clusterId,
      generation: newGeneration(),
      primaryClusterAddress,
      activation: '',
      previousRootKey: '',
      ...(supersededBy === undefined && { wasPrimary: true }),
    });
    return isPublished;
  });
};

export const disablePrimary = async (context: SetContext, kind: ReplicationKind): Promise<void> => {
  await requirePrimary(context, kind);
  await context.state.change(kind, undefined);
  await context.memberships.of(kind).dissolve();
};

export const issueSecondaryToken = async (
  context: SetContext,
  kind: ReplicationKind,
  { id, ttlSeconds, secondaryPublicKey, apiAddress }: SecondaryTokenRequest,
): Promise<SecondaryToken> => {
  const role = await requirePrimary(context, kind);
  if (role.supersededBy !== undefined) throw new KeelsonError('replication.superseded');
  const membership = context.memberships.of(kind);
  const made = secondaryPublicKey === '' ? generateLinkKeyPair() : undefined;
  const publicKey = made?.publicKey ?? decodePublicKey(secondaryPublicKey);
  await membership.admit(id, publicKey);
  const { keys } = await membership.identity();
  const bundle: ActivationBundle = {
    format: BUNDLE_FORMAT,
    kind,
    version: context.version,
    clusterId: role.clusterId,
    secondaryId: id,
    primaryClusterAddress: role.primaryClusterAddress || context.transport.clusterAddress,
    primaryPublicKey: keys.publicKey,
    ...(made !== undefined && { secondaryKeys: made }),
    seal: await sealOfPrimary(context),
    expiresAtMs: context.clock.nowMs() + ttlSeconds * 1000,
  };
  if (made === undefined) return { token: sealBundle(bundle, publicKey) };
  const wrapInfo = await wrapResponse(context.tokens, {
    ttlSeconds,
    response: Buffer.from(JSON.stringify({ data: bundle })),
    creationPath: `sys/replication/${kind}/primary/secondary-token`,
    namespace: { id: 'root', path: '' },
    wrappedAccessor: '',
    wrapFormat: 'jwt',
    apiAddress,
  });
  const { accessor } = wrapInfo;
  await context.store.transact((tx) => activationTokens[kind].write(tx, id, { accessor }));
  return { wrapInfo };
};

export const revokeSecondary = async (
  context: SetContext,
  kind: ReplicationKind,
  id: string,
): Promise<void> => {
  await requirePrimary(context, kind);
  await context.memberships.of(kind).revoke(id);
  const issued = await activationTokens[kind].find(context.store, id);
  if (issued === undefined) return;
  const token = await findByAccessor(context.store, issued.accessor);
  if (token !== undefined) await revokeTree(context.tokens, refOf(token));
  await context.store.transact((tx) => activationTokens[kind].delete(tx, id));
};
