/** All services of this cluster that keep stores, behind one interface. */
import { KeelsonError } from '@keelson/errors';
import type {
  ReplicationMemberDefinition,
  ReplicationReport,
} from '@keelson/proto/sys/v1/replication';
import type { ReplicationKind } from '@keelson/replication';
import type { RpcService } from '@keelson/rpc';

type MemberRpc = RpcService<typeof ReplicationMemberDefinition>;

export interface ServiceReport {
  readonly service: string;
  /** undefined: the service did not answer. */
  readonly report: ReplicationReport | undefined;
}

export interface ReindexFlags {
  readonly diff: boolean;
  readonly force: boolean;
  readonly skipFlush: boolean;
}

export interface ServiceMembers {
  reports(kind: ReplicationKind, measure?: boolean): Promise<readonly ServiceReport[]>;
  finishPublishing(kind: ReplicationKind): Promise<boolean>;
  /** Re-evaluates what filtered secondaries receive. An unreachable service does so at its next entry. */
  refreshFilters(): Promise<void>;
  /**
   * Waits until no service acts on former roles.
   * @param generations generations of the roles of this cluster; "": it has no role of this kind
   * @returns the services that did not apply them in time
   */
  applyRoles(generations: Readonly<Record<ReplicationKind, string>>): Promise<readonly string[]>;
  recover(kind: ReplicationKind): Promise<void>;
  /** Reindexes one service after the other and calls `onDone` after each. */
  reindex(flags: ReindexFlags, onDone: (service: string) => void): Promise<void>;
  /** JSON of `MerkleCorruptionReport`, by service. */
  checkMerkle(options?: { readonly treesOnly: boolean }): Promise<ReadonlyMap<string, string>>;
}

/** @param members by name; sys comes first, which determines the order of all combined results */
export const serviceMembers = (members: ReadonlyMap<string, MemberRpc>): ServiceMembers => ({
  reports: (kind, measure = false) =>
    Promise.all(
      [...members].map(async ([service, member]) => {
        const ask = () => member.report({ kind, measure }).catch(() => undefined);
        const report = await ask();
        // A replica that has not applied its role yet knows nothing, so the next replica is asked.
        return { service, report: report?.side === undefined ? await ask() : report };
      }),
    ),
  finishPublishing: async (kind) => {
    const answers = await Promise.all(
      [...members.values()].map((member) =>
        member.finishPublishing({ kind }).catch(() => ({ published: false })),
      ),
    );
    return answers.every(({ published }) => published);
  },
  applyRoles: async (generations) => {
    const late = await Promise.all(
      [...members].map(async ([service, member]) => {
        const { applied } = await member
          .applyRoles({
            performanceGeneration: generations.performance,
            drGeneration: generations.dr,
          })
          .catch(() => ({ applied: false }));
        return applied ? [] : [service];
      }),
    );
    return late.flat();
  },
  refreshFilters: async () => {
    await Promise.all(
      [...members.values()].map((member) => member.refreshFilters({}).catch(() => undefined)),
    );
  },
  recover: async (kind) => {
    for (const member of members.values()) await member.recover({ kind });
  },
  reindex: async ({ diff, force, skipFlush }, onDone) => {
    for (const [service, member] of members) {
      await member.reindex({ diff, force, skipFlush });
      onDone(service);
    }
  },
  checkMerkle: async (options = { treesOnly: false }) => {
    const reports = new Map<string, string>();
    // sys last, whose record of the check says that all were checked.
    for (const [service, member] of [...members].reverse()) {
      const { reportJson } = await member.checkMerkle(options).catch((cause: unknown) => {
        throw new KeelsonError('edge.backend_unavailable', { service }, { cause });
      });
      reports.set(service, reportJson);
    }
    return new Map([...reports].reverse());
  },
});
