/** Composes the replication of this cluster. */
import { type ReplicationTransport, replicationMemberRpc } from '@keelson/cluster-member';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { ReplicationMemberDefinition } from '@keelson/proto/sys/v1/replication';
import type { ReplicationKind } from '@keelson/replication';
import type { RpcService } from '@keelson/rpc';
import type { JsonObject } from '@keelson/secrets-api';
import type { PolicyIndex } from '../policies/policy-index.ts';
import type { ReplicationModes } from '../seal/health-routes.ts';
import type { TokenCeremonyContext } from '../seal/token-ceremony-operations.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import { type ActivationParts, type ActivationRequest, activate } from './activation-operations.ts';
import type { Catalog } from './filters/filter-catalog.ts';
import type { Memberships } from './memberships.ts';
import {
  deleteOperationToken,
  issueOperationToken,
  type OperationClaim,
  requireOperationToken,
} from './operation-token-operations.ts';
import { logPromotion } from './promotion-log.ts';
import { isSuperseded, operationTokenAttempt } from './replication-records.ts';
import type { ReplicationState } from './replication-state.ts';
import type { SecondaryContext } from './secondary-operations.ts';
import { serviceMembers } from './service-members.ts';
import type { SetContext } from './set-operations.ts';
import { toMerkleReport, toPrimaryStatus, toSecondaryStatus } from './status-document.ts';
import { createUpkeepOperations, type UpkeepOperations } from './upkeep-operations.ts';

export interface ReplicationParts extends ActivationParts {
  readonly memberships: Memberships;
  readonly state: ReplicationState;
  readonly transport: ReplicationTransport;
  readonly tokens: TokenContext;
  readonly policies: () => Promise<PolicyIndex>;
  /** Mounts and namespaces, for paths filters. */
  readonly catalog: Catalog;
  readonly localClusterId: () => Promise<string>;
  /** Other services that keep stores, by name. */
  readonly services: ReadonlyMap<string, RpcService<typeof ReplicationMemberDefinition>>;
  readonly logger: Logger;
}

export interface Replication {
  readonly context: SecondaryContext & SetContext;
  /** The member for the store of sys itself. */
  readonly own: RpcService<typeof ReplicationMemberDefinition>;
  readonly upkeep: UpkeepOperations;
  /** Generation of a DR operation token from key shares. */
  readonly operationTokenCeremony: TokenCeremonyContext;
  readonly activate: (kind: ReplicationKind, request: ActivationRequest) => Promise<void>;
  readonly status: (kind: ReplicationKind) => Promise<JsonObject>;
  /** `data` of merkle-check. */
  readonly merkleReport: () => Promise<JsonObject>;
  /** The replication modes that `sys/health` reports. */
  readonly modes: () => Promise<ReplicationModes>;
  /** Whether another cluster was promoted in place of this one. */
  readonly isSuperseded: () => Promise<boolean>;
  /** @throws KeelsonError `request.invalid` */
  readonly requireDrSecondary: () => Promise<void>;
  /** @throws KeelsonError `replication.operation_token_missing`, `sys.permission_denied` */
  readonly requireOperationToken: (claim: OperationClaim) => Promise<void>;
  readonly deleteOperationToken: () => Promise<void>;
}

export const composeReplication = (parts: ReplicationParts): Replication => {
  const { store, seal, clock, logger, member, memberships, state } = parts;
  const onError = (err: unknown): void => logger.error({ err }, 'replication');
  const sys = replicationMemberRpc(member);
  const members = serviceMembers(new Map([['sys', sys], ...parts.services]));
  state.waitFor(async (generations) => {
    const late = await members.applyRoles(generations);
    if (late.length > 0) onError(new Error(`${late.join(', ')} did not take up the roles in time`));
  });
  const upkeep = createUpkeepOperations({ members, onFailure: onError });

  const context = { ...parts, members, onPromoted: logPromotion(logger) };

  const statusOf = async (kind: ReplicationKind): Promise<JsonObject> => {
    const roles = await state.roles();
    const role = roles[kind];
    if (role === undefined) return { mode: 'disabled' };
    const reports = await members.reports(kind);
    if (role.role === 'secondary') return toSecondaryStatus(role, reports, clock.nowMs());
    const membership = memberships.of(kind);
    const facts = {
      knownSecondaries: await membership.knownSecondaries(),
      promotion: await membership.promotion(),
      isSuperseded: isSuperseded(roles),
    };
    return toPrimaryStatus(kind, role, facts, reports, clock.nowMs());
  };

  return {
    context,
    own: sys,
    upkeep,
    operationTokenCeremony: {
      store,
      seal,
      clock,
      attempts: {
        find: (reads) => operationTokenAttempt.find(reads, seal.requireRootKey()),
        write: (tx, attempt) => operationTokenAttempt.write(tx, seal.requireRootKey(), attempt),
        delete: (tx) => operationTokenAttempt.delete(tx),
      },
      texts: { name: 'DR operation token generation', short: 'generation' },
      issue: async (tx) => issueOperationToken(tx, seal),
    },
    activate: (kind, request) => activate(parts, state, kind, request),
    status: async (kind) => {
      const status = await statusOf(kind);
      const { isRunning, done } = upkeep.progress();
      return status['mode'] === 'disabled' || !isRunning
        ? status
        : { ...status, reindex_in_progress: true, reindex_done: done };
    },
    merkleReport: async () => toMerkleReport(await upkeep.checkMerkle(), clock.nowMs()),
    isSuperseded: () => state.isSuperseded(),
    modes: async () => {
      const roles = await state.roles();
      const modeOf = async (kind: ReplicationKind): Promise<string> => {
        const run = member.runOf(kind);
        return run?.role === 'secondary'
          ? (await run.secondary.sharedStatus()).mode
          : (roles[kind]?.role ?? 'disabled');
      };
      const run = [member.runOf('dr'), member.runOf('performance')].find(
        (one) => one?.role === 'secondary',
      );
      const secondary = run?.role === 'secondary' ? run.secondary : undefined;
      return {
        performance: await modeOf('performance'),
        dr: await modeOf('dr'),
        canaryAgeMs: Math.round((await secondary?.canaryAgeMs()) ?? 0),
        clockSkewMs: (await secondary?.sharedStatus())?.heartbeat?.clockSkewMs ?? 0,
      };
    },
    requireDrSecondary: async () => {
      if (!(await state.isDrSecondary()))
        throw new KeelsonError('request.invalid', {
          text: 'this cluster is not a DR replication secondary',
        });
    },
    requireOperationToken: (claim) => requireOperationToken(parts, claim),
    deleteOperationToken: () => deleteOperationToken(parts),
  };
};
