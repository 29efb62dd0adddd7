/** Composes the replication of a service other than sys. */
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { LeaseStore } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type {
  ReplicationMemberDefinition,
  ReplicationSetsDefinition,
} from '@keelson/proto/sys/v1/replication';
import { declaredAreas, guardWrites, recordGroups, WriteGate } from '@keelson/replication';
import type { RpcService } from '@keelson/rpc';
import type { Barrier, Store } from '@keelson/storage';
import { NO_TRANSPORT } from './nats-transport.ts';
import { remoteMembership } from './remote-membership.ts';
import { ReplicationMember } from './replication-member.ts';
import { replicationMemberRpc } from './replication-report.ts';
import type { ReplicationTransport } from './replication-runs.ts';

/** Replication dependencies that a composition root passes to a service. */
export interface ReplicationParts {
  readonly transport: ReplicationTransport;
  /** Membership service of sys. */
  readonly sets: RpcService<typeof ReplicationSetsDefinition>;
}

export interface ServiceReplication {
  /** The store for everything in the service except replication. */
  readonly store: Store;
  /** Answers forwarded requests once `serve` was called. */
  readonly member: ReplicationMember;
  /** RPC service that sys calls. */
  readonly rpc: RpcService<typeof ReplicationMemberDefinition>;
}

export const composeServiceReplication = (
  parts: {
    readonly store: Store;
    readonly barrier: Barrier;
    readonly leases: LeaseStore;
    readonly clock: Clock;
    /** Absent when the service takes no part in replication. */
    readonly replication?: ReplicationParts | undefined;
  },
  own: {
    readonly service: string;
    readonly logger: Logger;
    /** Finds an object that records refer to; absent without object storage. */
    readonly findObject?: ((key: string) => Promise<Uint8Array | undefined>) | undefined;
    /** Filter group of all records of a service whose data belongs to a single mount. */
    readonly wholeGroup?: string;
  },
): ServiceReplication => {
  const { store, barrier, leases, clock, replication } = parts;
  const { service, logger, wholeGroup } = own;
  const gate = new WriteGate();
  const member = new ReplicationMember({
    service,
    store,
    barrier,
    leases,
    clock,
    logger,
    gate,
    transport: replication?.transport ?? NO_TRANSPORT,
    membershipOf: (kind) => {
      if (replication === undefined) throw new KeelsonError('replication.not_ready');
      return remoteMembership(replication.sets, kind, service);
    },
    wholeGroup,
    groups: recordGroups(
      wholeGroup === undefined ? declaredAreas() : [{ below: 'shared/', group: wholeGroup }],
    ),
    ...(own.findObject && { findObject: own.findObject }),
  });
  member.onSuperseded(async (kind, promotion) => {
    await replication?.sets.supersede({ kind, promotion: BigInt(promotion) });
  });
  return { store: guardWrites(store, gate), member, rpc: replicationMemberRpc(member) };
};
