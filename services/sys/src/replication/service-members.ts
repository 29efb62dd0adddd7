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
  /** Undefined if the service did not answer. */
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
   * @param generations generations of the roles of this cluster; "" if it has no role of this kind
   * @returns the services that did not apply them in time
   */
  applyRoles(generations: Readonly<Record<ReplicationKind, string>>): Promise<readonly string[]>;
  recover(kind: ReplicationKind): Promise<void>;
  /** Reindexes one service after the other and calls `onDone` after each. */
  reindex(flags: ReindexFlags, onDone: (service: string) => void): Promise<void>;
  /** JSON of `MerkleCorruptionReport`, by service. */
  checkMerkle(options?: { readonly treesOnly: boolean }): Promise<ReadonlyMap<string, string>>;
  /** Kinds of records that wait for `upgradeRecords`, by service. */
  pendingUpgrades(): Promise<ReadonlyMap<string, readonly string[]>>;
  /**
   * Rewrites the older ones among the next records; those of one service after those of another.
   * @param after '' at first, then as the call before returned it
   * @throws KeelsonError `request.invalid` for another `after`
   */
  upgradeRecords(after: string): Promise<UpgradedRecords>;
}

export interface UpgradedRecords {
  /** Where to continue; '' when the records of all services have been examined. */
  readonly after: string;
  readonly service: string;
  readonly examined: number;
  readonly rewritten: number;
}

/** @param members by name; sys comes first, which determines the order of all combined results */
export const serviceMembers = (members: ReadonlyMap<string, MemberRpc>): ServiceMembers => ({
  reports: (kind, measure = false) =>
    Promise.all(
      [...members].map(async ([service, member]) => {
        const ask = () => member.report({ kind, measure }).catch(() => undefined);
        const report = await ask();
        // A replica that does not know of its role yet knows nothing, so the next replica is asked.
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
  pendingUpgrades: async () => {
    const pending = new Map<string, readonly string[]>();
    for (const [service, member] of members)
      pending.set(service, (await member.pendingUpgrades({})).kinds);
    return pending;
  },
  upgradeRecords: async (after) => {
    const services = [...members.keys()];
    const colon = after.indexOf(':');
    const service = after === '' ? (services[0] ?? '') : after.slice(0, Math.max(0, colon));
    const member = members.get(service);
    if (member === undefined) {
      const text = 'after must be empty, or as the answer before said';
      throw new KeelsonError('request.invalid', { text });
    }
    const { examined, rewritten, ...answer } = await member.upgradeRecords({
      after: after.slice(colon + 1),
    });
    const next = services[services.indexOf(service) + 1];
    const isDone = answer.after === '' && next === undefined;
    const place = answer.after === '' ? `${next}:` : `${service}:${answer.after}`;
    return { after: isDone ? '' : place, service, examined, rewritten };
  },
});
