/** The recorded roles of this cluster and the members of its replication sets. */
import { KeelsonError } from '@keelson/errors';
import {
  type FilterCatalog,
  type Membership,
  type ReplicationKind,
  StoredMembership,
} from '@keelson/replication';
import { deriveView, type Store } from '@keelson/storage';
import type { Seal } from '../seal/seal.ts';
import { whilePrimary } from './primary-membership.ts';
import { effectiveRoles, findRoles, ROLE_PATHS, type Roles } from './replication-records.ts';

export interface MembershipsParts {
  /** Not guarded by the replication gate. */
  readonly store: Store;
  readonly seal: Seal;
  /** Used by paths filters. */
  readonly catalog: FilterCatalog;
}

export interface Memberships {
  /** The same object until another role is recorded. */
  recordedRoles(): Promise<Roles>;
  of(kind: ReplicationKind, service?: string): StoredMembership;
  /** For a service that publishes: answers only while this cluster is the primary of the set. */
  ofPrimary(kind: ReplicationKind, service?: string): Membership;
}

export const createMemberships = ({ store, seal, catalog }: MembershipsParts): Memberships => {
  const recordedRoles = deriveView(store, ROLE_PATHS, (reads) =>
    findRoles(reads, seal.requireRootKey()),
  );
  const of = (kind: ReplicationKind, service?: string): StoredMembership =>
    new StoredMembership(store, kind, service, catalog);
  return {
    recordedRoles,
    of,
    ofPrimary: (kind, service) =>
      whilePrimary(of(kind, service), async (reads) => {
        const found = await (reads === undefined
          ? recordedRoles()
          : findRoles(reads, seal.requireRootKey()));
        if (effectiveRoles(found)[kind]?.role !== 'primary')
          throw new KeelsonError('replication.not_ready');
      }),
  };
};
