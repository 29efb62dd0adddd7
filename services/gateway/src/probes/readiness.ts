/**
 * Whether requests should be sent here: all services can serve them, the seal is open, and this process is
 * not about to stop. A sealed or uninitialized installation is not ready, because load balancers ask to learn
 * where requests are served; it is opened through an address of its own.
 */
import type { EdgeService } from '@keelson/edge';
import { type AccessDefinition, ResolveRequest, Surface } from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';

/** "unknown": sys could not be asked. */
export type SealState = 'open' | 'sealed' | 'not initialized' | 'unknown';

export interface ReadinessState {
  readonly isReady: boolean;
  readonly isDraining: boolean;
  readonly seal: SealState;
  /** By name, whether the service can serve requests: it is reached, and so is its store. */
  readonly services: ReadonlyMap<string, boolean>;
  /** By name, what does not work although the service serves requests; none that all works in. */
  readonly impaired: ReadonlyMap<string, readonly string[]>;
}

export interface Readiness {
  state(): Promise<ReadinessState>;
  /** From now on not ready, so that load balancers send nothing more. */
  drain(): void;
}

export interface ReadinessParts {
  readonly services: Readonly<Record<string, EdgeService>>;
  readonly access: RpcService<typeof AccessDefinition>;
}

const SEAL_STATES: Readonly<Record<string, SealState>> = {
  'sys.sealed': 'sealed',
  'sys.not_initialized': 'not initialized',
};

/** Asked as for a request that needs nothing but an open seal. */
const PROBE = ResolveRequest.fromPartial({
  surface: Surface.API_V2,
  path: 'api/v2/ping',
  method: 'GET',
});

export const createReadiness = ({ services, access }: ReadinessParts): Readiness => {
  let isDraining = false;

  const sealState = async (): Promise<SealState> => {
    try {
      const { outcome } = await access.resolve(PROBE);
      return outcome?.$case === 'refused' ? (SEAL_STATES[outcome.value.code] ?? 'unknown') : 'open';
    } catch {
      return 'unknown'; // Which service cannot serve is told beside it.
    }
  };
  /** undefined: it cannot serve requests. */
  const checks = (): Promise<(readonly [string, readonly string[] | undefined])[]> =>
    Promise.all(
      Object.entries(services).map(async ([name, service]) => {
        const impaired = await service.check().catch(() => undefined);
        return [name, impaired] as const;
      }),
    );

  return {
    drain: () => {
      isDraining = true;
    },
    state: async () => {
      const [seal, checked] = await Promise.all([sealState(), checks()]);
      const able = checked.map(([name, impaired]) => [name, impaired !== undefined] as const);
      const isReady = !isDraining && seal === 'open' && able.every(([, isAble]) => isAble);
      const impaired = checked.flatMap(([name, found = []]) =>
        found.length === 0 ? [] : [[name, found] as const],
      );
      return { isReady, isDraining, seal, services: new Map(able), impaired: new Map(impaired) };
    },
  };
};
