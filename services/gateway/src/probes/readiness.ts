/**
 * Readiness: all services can serve requests, the seal is open, no other cluster leads in place of this one, and
 * this process is not about to stop. A sealed or uninitialized installation is not ready, so load balancers avoid it; it is
 * unsealed at the process's own address.
 */
import type { Clock } from '@keelson/clock';
import type { EdgeService } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import { ANSWER_WITHIN_MS, answeredInTime } from '../access/answered-in-time.ts';
import { CLUSTER_QUESTION } from '../access/cluster-question.ts';
import { requireNotRefused } from '../access/resolution.ts';

/** "unknown": sys could not be asked. */
export type SealState = 'open' | 'sealed' | 'not initialized' | 'unknown';

export interface ReadinessState {
  readonly isReady: boolean;
  readonly isDraining: boolean;
  readonly seal: SealState;
  /** Whether another cluster was promoted in place of this one, which refuses writes. */
  readonly isSuperseded: boolean;
  /** Whether each service can serve requests, by name: both it and its store can be reached. */
  readonly services: ReadonlyMap<string, boolean>;
  /** Why a service cannot serve requests, in a sentence, by name. */
  readonly reasons: ReadonlyMap<string, string>;
  /** Faults of services that still serve requests, by name; services without faults are omitted. */
  readonly impaired: ReadonlyMap<string, readonly string[]>;
}

export interface Readiness {
  state(): Promise<ReadinessState>;
  /** Reports not ready from now on, so that load balancers send no more requests. */
  drain(): void;
}

export interface ReadinessParts {
  readonly clock: Clock;
  readonly services: Readonly<Record<string, EdgeService>>;
  readonly access: RpcService<typeof AccessDefinition>;
  /** Faults of the gateway itself, for a generation of the audit devices; it serves requests all the same. */
  readonly ownFaults: (auditGeneration: number) => Promise<readonly string[]>;
}

const SEAL_STATES: Readonly<Record<string, SealState>> = {
  'sys.sealed': 'sealed',
  'sys.not_initialized': 'not initialized',
};

type ClusterState = Pick<ReadinessState, 'seal' | 'isSuperseded'> & {
  /** The generation of the audit devices; 0 while they are not known. */
  readonly auditGeneration: number;
  /** Why the state of the seal is unknown. */
  readonly reason?: string;
};

const NO_ANSWER = `no answer within ${ANSWER_WITHIN_MS} ms`;

const unknown = (reason: string): ClusterState => ({
  seal: 'unknown',
  isSuperseded: false,
  auditGeneration: 0,
  reason,
});

/** The result of a check: the faults of a service that serves requests, or why it serves none. */
type Checked = { readonly impaired: readonly string[] } | { readonly refusal: string };

/** The faults in place of those of devices that hang. */
const LATE: readonly string[] = ['the audit devices do not answer in time'];

export const createReadiness = ({
  clock,
  services,
  access,
  ownFaults,
}: ReadinessParts): Readiness => {
  let isDraining = false;

  const askCluster = async (): Promise<ClusterState> => {
    try {
      const resolution = await access.resolve(CLUSTER_QUESTION);
      requireNotRefused(resolution);
      const { outcome, auditGeneration } = resolution;
      return {
        seal: 'open',
        isSuperseded: outcome?.$case === 'allowed' && outcome.value.isSuperseded,
        auditGeneration,
      };
    } catch (error) {
      const { code, message } = KeelsonError.from(error);
      const seal = SEAL_STATES[code];
      return seal === undefined
        ? unknown(message)
        : { seal, isSuperseded: false, auditGeneration: 0 };
    }
  };
  const clusterState = async () => {
    const cluster = await answeredInTime(clock, askCluster(), unknown(NO_ANSWER));
    const faults = await answeredInTime(clock, ownFaults(cluster.auditGeneration), LATE);
    return { ...cluster, faults };
  };
  const checkOf = async (service: EdgeService): Promise<Checked> => {
    const checked = service.check().then(
      (impaired): Checked => ({ impaired }),
      (error: unknown): Checked => ({ refusal: KeelsonError.from(error).message }),
    );
    return answeredInTime(clock, checked, { refusal: NO_ANSWER });
  };
  const checks = (): Promise<(readonly [string, Checked])[]> =>
    Promise.all(
      Object.entries(services).map(
        async ([name, service]) => [name, await checkOf(service)] as const,
      ),
    );

  return {
    drain: () => {
      isDraining = true;
    },
    state: async () => {
      const [{ seal, isSuperseded, faults, reason }, checked] = await Promise.all([
        clusterState(),
        checks(),
      ]);
      const reasons = new Map(
        checked.flatMap(([name, found]) => ('refusal' in found ? [[name, found.refusal]] : [])),
      );
      // Sys answers about its store, but not about the cluster.
      if (reason !== undefined && !reasons.has('sys')) reasons.set('sys', reason);
      const able = checked.map(([name, found]) => [name, 'impaired' in found] as const);
      const isReady =
        !isDraining && seal === 'open' && !isSuperseded && able.every(([, isAble]) => isAble);
      const impaired = [...checked, ['gateway', { impaired: faults }] as const].flatMap(
        ([name, found]) =>
          'impaired' in found && found.impaired.length > 0 ? [[name, found.impaired] as const] : [],
      );
      return {
        isReady,
        isDraining,
        seal,
        isSuperseded,
        services: new Map(able),
        reasons,
        impaired: new Map(impaired),
      };
    },
  };
};
