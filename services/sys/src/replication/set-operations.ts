/** What a primary does: founding a set, letting secondaries in and out, stepping back. */
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
import type { WrappingOperations } from '../wrapping/wrapping-operations.ts';
import { parseShownKey, sealBundle } from './activation-token.ts';
import type { ActivationBundle } from './domain/activation-bundle.ts';
import { activationTokens, type PrimaryRoleRecord } from './replication-records.ts';
import { newGeneration, type ReplicationState } from './replication-state.ts';
import type { ServiceMembers } from './service-members.ts';

export interface SetParts {
  /** Not guarded. */
  readonly store: Store;
  readonly seal: Seal;
  readonly state: ReplicationState;
  readonly transport: ReplicationTransport;
  readonly members: ServiceMembers;
  readonly wrapping: WrappingOperations;
  readonly tokens: TokenContext;
  readonly clock: Clock;
  readonly version: string;
}

export interface SecondaryTokenRequest {
  readonly id: string;
  readonly ttlSeconds: number;
  /** As generate-public-key showed it; "": the token is to be unwrapped here. */
  readonly secondaryPublicKey: string;
  /** Where the token can be unwrapped. */
  readonly apiAddress: string;
}

export type SecondaryToken = { readonly wrapInfo: WrapInfo } | { readonly token: string };

export interface SetOperations {
  enable(kind: ReplicationKind, primaryClusterAddress: string): Promise<void>;
  /** @returns whether everything that was committed has reached the stream */
  demote(kind: ReplicationKind): Promise<boolean>;
  disable(kind: ReplicationKind): Promise<void>;
  issueToken(kind: ReplicationKind, request: SecondaryTokenRequest): Promise<SecondaryToken>;
  revoke(kind: ReplicationKind, id: string): Promise<void>;
}

const NAMES: Readonly<Record<ReplicationKind, string>> = { performance: 'performance', dr: 'DR' };

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

export const createSetOperations = (parts: SetParts): SetOperations => {
  const { seal, state, transport, members, wrapping, clock } = parts;

  const requirePrimary = async (kind: ReplicationKind): Promise<PrimaryRoleRecord> => {
    const role = (await state.roles())[kind];
    return role?.role === 'primary'
      ? role
      : refuse(`this cluster is not a ${NAMES[kind]} replication primary`);
  };

  const sealOfPrimary = async (): Promise<ShareSeal> => {
    const record = await seal.record();
    if (record === undefined) throw new KeelsonError('sys.sealed');
    const { shares, threshold, wrappedForShares } = record;
    return { shares, threshold, wrappedForShares };
  };

  return {
    enable: async (kind, primaryClusterAddress) => {
      const roles = await state.recorded();
      if (roles[kind] !== undefined)
        refuse(`${NAMES[kind]} replication is already enabled as ${roles[kind].role}`);
      if (transport.bus === undefined) throw new KeelsonError('replication.no_nats');
      const clusterId = randomUUID();
      await state.membershipOf(kind).found(clusterId);
      await state.change(kind, {
        role: 'primary',
        clusterId,
        generation: newGeneration(),
        primaryClusterAddress,
      });
    },

    demote: async (kind) => {
      const { clusterId, primaryClusterAddress, supersededBy } = await requirePrimary(kind);
      return state.switching(async () => {
        const isPublished = await members.finishPublishing(kind);
        await state.change(kind, {
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
    },

    disable: async (kind) => {
      await requirePrimary(kind);
      await state.change(kind, undefined);
      await state.membershipOf(kind).dissolve();
    },

    issueToken: async (kind, { id, ttlSeconds, secondaryPublicKey, apiAddress }) => {
      const role = await requirePrimary(kind);
      if (role.supersededBy !== undefined) throw new KeelsonError('replication.superseded');
      const membership = state.membershipOf(kind);
      const made = secondaryPublicKey === '' ? generateLinkKeyPair() : undefined;
      const publicKey = made?.publicKey ?? parseShownKey(secondaryPublicKey);
      await membership.admit(id, publicKey);
      const { keys } = await membership.identity();
      const bundle: ActivationBundle = {
        kind,
        version: parts.version,
        clusterId: role.clusterId,
        secondaryId: id,
        primaryClusterAddress: role.primaryClusterAddress || transport.clusterAddress,
        primaryPublicKey: keys.publicKey,
        ...(made !== undefined && { secondaryKeys: made }),
        seal: await sealOfPrimary(),
        expiresAtMs: clock.nowMs() + ttlSeconds * 1000,
      };
      if (made === undefined) return { token: sealBundle(bundle, publicKey) };
      const wrapInfo = await wrapping.wrap({
        ttlSeconds,
        response: Buffer.from(JSON.stringify({ data: bundle })),
        creationPath: `sys/replication/${kind}/primary/secondary-token`,
        namespace: { id: 'root', path: '' },
        wrappedAccessor: '',
        wrapFormat: 'jwt',
        apiAddress,
      });
      const { accessor } = wrapInfo;
      await parts.store.transact((tx) => activationTokens[kind].write(tx, id, { accessor }));
      return { wrapInfo };
    },

    revoke: async (kind, id) => {
      await requirePrimary(kind);
      await state.membershipOf(kind).revoke(id);
      const issued = await activationTokens[kind].find(parts.store, id);
      if (issued === undefined) return;
      const token = await findByAccessor(parts.store, issued.accessor);
      if (token !== undefined) await revokeTree(parts.tokens, refOf(token));
      await parts.store.transact((tx) => activationTokens[kind].delete(tx, id));
    },
  };
};
