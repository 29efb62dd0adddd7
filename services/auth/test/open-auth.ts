/** The whole service on a store in a temporary folder, driven through the interface that the gateway uses. */
import { join } from 'node:path';
import { ManualClock } from '@keelson/clock';
import {
  type Answer,
  aMount,
  announcedCluster,
  type CallOptions,
  callMount,
} from '@keelson/engine/testing';
import { KeelsonError } from '@keelson/errors';
import { InProcessLeaseStore } from '@keelson/locks';
import { createLogger } from '@keelson/logging';
import { createRegistry } from '@keelson/metrics';
import type { RenewLoginRequest } from '@keelson/proto/auth/v1/methods';
import type { ClusterState } from '@keelson/proto/sys/v1/cluster';
import type { LoginRequest } from '@keelson/proto/sys/v1/logins';
import { createBarrier, openBarrierFor, openSqliteStore } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import { type AuthParts, type AuthService, composeAuth } from '../src/compose.ts';
import type { OwnRuns } from '../src/jwt/config-operations.ts';

const ROOT_KEY = Buffer.alloc(32, 7);

/** A mount of a method, at its usual path. */
export const mountOf = (type: string, uuid = '8f0b1c1e-0000-4000-8000-000000000001') =>
  aMount({ uuid, type, path: `auth/${type}/`, accessor: `${type}_1` });

/** An installation without runs. */
const NO_RUNS: OwnRuns = {
  readToken: () => Promise.reject(new KeelsonError('request.invalid', { text: 'no run' })),
  findPhase: () => Promise.resolve({ isAtWork: false }),
};

/** An installation without mounts of the certificate authority. */
const NO_PKI: AuthParts['pki'] = {
  findMounts: () => Promise.resolve({ mounts: [] }),
  readAuthorities: () => Promise.resolve({ mounts: [] }),
};

/** @param outboundRanges networks that are not public, where providers of identities may be */
export const openAuth = async ({
  outboundRanges = [],
  clock = new ManualClock(),
  podFolder = '/nonexistent',
  runs = NO_RUNS,
  pki = NO_PKI,
  rememberedNames,
}: {
  readonly outboundRanges?: readonly string[];
  readonly clock?: ManualClock;
  /** Where the files of the pod are in which the service runs. */
  readonly podFolder?: string;
  readonly runs?: OwnRuns;
  readonly pki?: AuthParts['pki'];
  readonly rememberedNames?: number;
} = {}) => {
  const folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: join(folder.path, 'auth.sqlite'), barrier, clock });
  const cluster = announcedCluster();
  const logins: LoginRequest[] = [];
  const logged: string[] = [];
  const destination = { write: (line: string) => void logged.push(line) };
  let answer = (): Promise<object> => Promise.resolve({ client_token: 'hvs.test' });
  const compose = (registry = createRegistry('test')): AuthService =>
    composeAuth({
      config: { outboundRanges: [...outboundRanges] },
      registry,
      store,
      barrier,
      leases: new InProcessLeaseStore({ clock }),
      clock,
      podFolder,
      runs,
      pki,
      ...(rememberedNames !== undefined && { rememberedNames }),
      logger: createLogger({ name: 'auth', level: 'trace', destination }),
      cluster: cluster.rpc,
      logins: {
        login: async (request) => {
          logins.push(request);
          return { authJson: JSON.stringify(await answer()), warnings: [] };
        },
      },
    });
  const registry = createRegistry('test');
  const service = compose(registry);
  let isStarted = false;
  /** @param path below a mount of the method */
  const callOf =
    ({ edge }: AuthService) =>
    (
      type: string,
      method: string,
      path: string,
      body?: unknown,
      options: CallOptions = {},
    ): Promise<Answer> =>
      callMount(edge, `/${type}`, [method, path, body], { mount: mountOf(type), ...options });
  await openBarrierFor(store, barrier, ROOT_KEY);
  return {
    barrier,
    clock,
    store,
    service,
    /** The logins that sys was asked to make tokens of. */
    logins,
    /** Replaces the answer of sys to logins. */
    answerLogins: (changed: () => Promise<object>): void => {
      answer = changed;
    },
    /** Metrics of the service. */
    registry,
    /** The lines of the log. */
    logged,
    call: callOf(service),
    /** The limits of a renewal, for which sys asks. @param client who renews; without a certificate if not given */
    renew: async (
      mount: ReturnType<typeof mountOf>,
      loginData: Buffer,
      client: Partial<RenewLoginRequest> = {},
    ) => {
      const alone = { clientCertificates: [], isVerified: false };
      const asked = { mount, loginData, ...alone, ...client };
      return (await service.methods.renewLogin(asked)).limits;
    },
    /** Calls of another replica, which shares the store alone. */
    replica: () => callOf(compose()),
    /** Starts the service as a member of a cluster in this state, or announces a later one to it. */
    join: async (state: ClusterState): Promise<void> => {
      if (!isStarted) await service.start();
      isStarted = true;
      await cluster.join(state);
    },
    close: async () => {
      await service.stop();
      await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
};

export type OpenAuth = Awaited<ReturnType<typeof openAuth>>;

/** A request below the mount of a test, from 127.0.0.1 unless it names another address. */
export type CallMount = (
  method: string,
  path: string,
  body?: unknown,
  remoteAddress?: string,
) => ReturnType<OpenAuth['call']>;
