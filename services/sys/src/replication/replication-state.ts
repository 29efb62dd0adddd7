/**
 * The replication roles of this cluster and their effect on this service. Everything here uses the store
 * without the gate that the roles close for the rest of sys.
 */
import { randomUUID } from 'node:crypto';
import type { ReplicationMember } from '@keelson/cluster-member';
import { KeelsonError } from '@keelson/errors';
import type { ReplicationRole } from '@keelson/proto/sys/v1/replication';
import { REPLICATION_KINDS, type ReplicationKind } from '@keelson/replication';
import type { Store } from '@keelson/storage';
import { deriveServiceKey } from '../seal/root-key-wrap.ts';
import type { Seal } from '../seal/seal.ts';
import type { Memberships } from './memberships.ts';
import {
  effectiveRoles,
  findRoles,
  isSuperseded,
  type PrimaryRoleRecord,
  type RoleRecord,
  type Roles,
  writeRole,
} from './replication-records.ts';

export interface ReplicationStateOptions {
  /** Not guarded by the replication gate. */
  readonly store: Store;
  readonly seal: Seal;
  readonly member: ReplicationMember;
  readonly memberships: Memberships;
  readonly onError: (error: unknown) => void;
  /** Resumes an activation that was interrupted. */
  readonly resume: () => Promise<void>;
}

/** Waits until no service of the cluster acts on former roles, or until a timeout. */
export type WaitForServices = (
  generations: Readonly<Record<ReplicationKind, string>>,
) => Promise<void>;

export interface ReplicationState {
  /** The effective roles: a DR secondary has no other role. */
  roles(): Promise<Roles>;
  /** The recorded roles. */
  recorded(): Promise<Roles>;
  /** The roles for a service, with its own keys. Waits for a change in progress. */
  rolesFor(service: string): Promise<ReplicationRole[]>;
  /** From now on, a change of the roles also waits for the services. */
  waitFor(services: WaitForServices): void;
  /** Writes and applies a role. Waits for all services, except inside `switching`. */
  change(kind: ReplicationKind, role: RoleRecord | undefined): Promise<void>;
  /**
   * Records that another cluster was promoted to primary of the set, and stops acting as a primary of either
   * kind: the successor adopted both roles.
   */
  supersede(kind: ReplicationKind, promotion: number): Promise<void>;
  /** Applies the recorded roles. */
  apply(): Promise<void>;
  /** Refuses requests while `work` changes the cluster's role, and until its services have followed. */
  switching<T>(work: () => Promise<T>): Promise<T>;
  /** True inside `switching`, while the cluster is between two roles. */
  readonly isSwitching: boolean;
  /** Waits for a role change that is being applied. */
  isDrSecondary(): Promise<boolean>;
  /** Whether another cluster was promoted in place of this one, which refuses writes. */
  isSuperseded(): Promise<boolean>;
  settled(): Promise<void>;
}

export const newGeneration = (): string => randomUUID();

const toRole = (
  kind: ReplicationKind,
  role: RoleRecord,
  { service, isStopped }: { readonly service: string | undefined; readonly isStopped: boolean },
): ReplicationRole => {
  const link = role.role === 'secondary' && !isStopped ? role.link : undefined;
  const previous =
    role.role === 'secondary' ? Buffer.from(role.previousRootKey, 'base64') : Buffer.alloc(0);
  return {
    kind,
    role: isStopped ? 'superseded' : role.role,
    clusterId: role.clusterId,
    generation: role.generation,
    link: link && {
      secondaryId: link.secondaryId,
      publicKey: link.keys.publicKey,
      privateKey: link.keys.privateKey,
      primaryPublicKey: link.primaryPublicKey,
      addresses: [...link.addresses],
      trustedRoots: [...(link.trustedRoots ?? [])],
    },
    activation: role.role === 'secondary' ? role.activation : '',
    previousServiceKey:
      previous.length === 0 || service === undefined
        ? previous
        : Buffer.from(deriveServiceKey(previous, service)),
  };
};

export const toReplicationRoles = (roles: Roles, service?: string): ReplicationRole[] =>
  REPLICATION_KINDS.flatMap((kind) => {
    const role = roles[kind];
    return role === undefined
      ? []
      : [toRole(kind, role, { service, isStopped: isSuperseded(roles) })];
  });

const isActingPrimary = (role: RoleRecord | undefined): role is PrimaryRoleRecord =>
  role?.role === 'primary' && role.supersededBy === undefined;

/** Marks both roles, because the successor adopted both. */
const markSuperseded = (store: Store, rootKey: Uint8Array, promotion: number): Promise<void> =>
  store.transact(async (tx) => {
    const roles = await findRoles(tx, rootKey);
    for (const kind of REPLICATION_KINDS) {
      const role = roles[kind];
      if (!isActingPrimary(role)) continue;
      const generation = newGeneration();
      writeRole(tx, rootKey, kind, { ...role, supersededBy: promotion, generation });
    }
  });

/** A failure occurs again with each request that depends on the roles, and is reported once. */
const reportOnce = (onError: (error: unknown) => void) => {
  let reported: string | undefined;
  return {
    note: (error: unknown): void => {
      if (String(error) !== reported) onError(error);
      reported = String(error);
    },
    end: (): void => {
      reported = undefined;
    },
  };
};

export const createReplicationState = (options: ReplicationStateOptions): ReplicationState => {
  const { store, seal, member } = options;
  const recorded = (): Promise<Roles> => options.memberships.recordedRoles();
  let waitForServices: WaitForServices = () => Promise.resolve();
  const reported = reportOnce(options.onError);
  let turn: Promise<void> = Promise.resolve();
  let switched: Promise<unknown> | undefined;
  /** Number of changes that are being recorded, or that some services have not applied yet. */
  let changing = 0;
  /** The roles in effect. When the recorded ones are another object, another replica changed a role. */
  let followed: Roles | undefined;
  const settled = async (): Promise<void> => {
    await switched?.catch(() => undefined);
    await turn;
  };

  const act = async (): Promise<void> => {
    if (seal.isSealed) return member.stop();
    await options.resume();
    const found = await recorded();
    const roles = effectiveRoles(found);
    await member.follow(toReplicationRoles(roles), seal.requireRootKey());
    followed = found;
  };
  const apply = (): Promise<void> => {
    const acting = turn.then(act);
    turn = acting.then(reported.end, reported.note);
    return acting;
  };
  const whileSwitching = async <T>(work: () => Promise<T>): Promise<T> => {
    changing += 1;
    try {
      return await work();
    } finally {
      changing -= 1;
    }
  };
  const applyRoles = (): Promise<void> =>
    whileSwitching(async () => {
      const { performance, dr } = effectiveRoles(await recorded());
      await waitForServices({
        performance: performance?.generation ?? '',
        dr: dr?.generation ?? '',
      });
    });
  const actOn = async (): Promise<void> => {
    await apply();
    if (switched === undefined) await applyRoles();
  };
  seal.onChange(() => {
    if (switched === undefined) apply().catch(() => undefined);
  });

  return {
    roles: async () => {
      await turn;
      return effectiveRoles(await recorded());
    },
    recorded,
    rolesFor: async (service) => {
      await settled();
      return toReplicationRoles(effectiveRoles(await recorded()), service);
    },
    waitFor: (services) => {
      waitForServices = services;
    },
    change: (kind, role) =>
      whileSwitching(async () => {
        await store.transact((tx) => writeRole(tx, seal.requireRootKey(), kind, role));
        await actOn();
      }),
    supersede: async (kind, promotion) => {
      if (!isActingPrimary((await recorded())[kind])) return;
      await whileSwitching(async () => {
        await markSuperseded(store, seal.requireRootKey(), promotion);
        options.onError(new KeelsonError('replication.superseded'));
        await actOn();
      });
    },
    apply,
    switching: async (work) => {
      if (switched !== undefined) throw new KeelsonError('replication.switching');
      const working = work();
      switched = working;
      // Services wait for the end of `work`, and requests wait for the services.
      const changed = await working.finally(() => {
        switched = undefined;
      });
      await applyRoles();
      return changed;
    },
    get isSwitching() {
      return switched !== undefined || changing > 0;
    },
    isSuperseded: async () => {
      await turn;
      return isSuperseded(await recorded());
    },
    isDrSecondary: async () => {
      await turn;
      const found = await recorded();
      if (found !== followed && switched === undefined)
        await apply().catch((cause: unknown) => {
          throw new KeelsonError('replication.switching', {}, { cause });
        });
      return found.dr?.role === 'secondary';
    },
    settled,
  };
};
