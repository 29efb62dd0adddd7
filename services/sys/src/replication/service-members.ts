/** The services of this cluster that keep stores, as one. */
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
  /** What filtered secondaries get is looked at again. A service that cannot be asked sees it with its next entry. */
  refreshFilters(): Promise<void>;
  /**
   * Waits until no service acts on former roles.
   * @param generations of the roles of this cluster; "": none of this kind
   * @returns services that do not act on them in time
   */
  takeUp(generations: Readonly<Record<ReplicationKind, string>>): Promise<readonly string[]>;
  recover(kind: ReplicationKind): Promise<void>;
  /** One service after the other; `onDone` after each. */
  reindex(flags: ReindexFlags, onDone: (service: string) => void): Promise<void>;
  /** JSON of `MerkleCorruptionReport`, by service. */
  checkMerkle(): Promise<ReadonlyMap<string, string>>;
}

/** @param members by name; sys first, which is the order of everything that is put together */
export const serviceMembers = (members: () => ReadonlyMap<string, MemberRpc>): ServiceMembers => ({
  reports: (kind, measure = false) =>
    Promise.all(
      [...members()].map(async ([service, member]) => {
        const ask = () => member.report({ kind, measure }).catch(() => undefined);
        const report = await ask();
        // A replica that has not taken its role up yet knows nothing: the next one is asked.
        return { service, report: report?.side === undefined ? await ask() : report };
      }),
    ),
  finishPublishing: async (kind) => {
    const answers = await Promise.all(
      [...members().values()].map((member) =>
        member.finishPublishing({ kind }).catch(() => ({ published: false })),
      ),
    );
    return answers.every(({ published }) => published);
  },
  takeUp: async (generations) => {
    const late = await Promise.all(
      [...members()].map(async ([service, member]) => {
        const { takenUp } = await member
          .takeUpRoles({
            performanceGeneration: generations.performance,
            drGeneration: generations.dr,
          })
          .catch(() => ({ takenUp: false }));
        return takenUp ? [] : [service];
      }),
    );
    return late.flat();
  },
  refreshFilters: async () => {
    await Promise.all(
      [...members().values()].map((member) => member.refreshFilters({}).catch(() => undefined)),
    );
  },
  recover: async (kind) => {
    for (const member of members().values()) await member.recover({ kind });
  },
  reindex: async ({ diff, force, skipFlush }, onDone) => {
    for (const [service, member] of members()) {
      await member.reindex({ diff, force, skipFlush });
      onDone(service);
    }
  },
  checkMerkle: async () => {
    const reports = new Map<string, string>();
    for (const [service, member] of members()) {
      const { reportJson } = await member.checkMerkle({}).catch((cause: unknown) => {
        throw new KeelsonError('edge.backend_unavailable', { service }, { cause });
      });
      reports.set(service, reportJson);
    }
    return reports;
  },
});
