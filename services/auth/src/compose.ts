/** The composition root of the auth methods. */
import { randomUUID } from 'node:crypto';
import { type Clock, pause } from '@keelson/clock';
import {
  composeServiceReplication,
  forwardingRoutes,
  type ReplicationMember,
  type ReplicationParts,
} from '@keelson/cluster-member';
import { createEdgeService, type EdgeService } from '@keelson/edge';
import {
  edgeWhileOpen,
  followMounts,
  MountCleaning,
  requireMount,
  type ThisCluster,
  whileOpen,
} from '@keelson/engine';
import { hasCode, KeelsonError } from '@keelson/errors';
import type { LeaseStore } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { MetricsRegistry } from '@keelson/metrics';
import { toOutboundPolicy } from '@keelson/outbound/settings';
import type { ClientCertificatesDefinition } from '@keelson/proto/auth/v1/client_certificates';
import type { AuthMethodsDefinition } from '@keelson/proto/auth/v1/methods';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { ClientAuthoritiesDefinition } from '@keelson/proto/pki/v1/client_authorities';
import type { ClusterDefinition, EngineDescription } from '@keelson/proto/sys/v1/cluster';
import type { ReplicationMemberDefinition } from '@keelson/proto/sys/v1/replication';
import type { RpcService } from '@keelson/rpc';
import { startWorker, VERSION, type Worker } from '@keelson/runtime';
import {
  createSecretsErrorRenderer,
  envelopeWarnings,
  secretsComponents,
} from '@keelson/secrets-api';
import type { Barrier, Store } from '@keelson/storage';
import { approleMethod } from './approle/approle-method.ts';
import { countingForSecondaries, countingOnPrimary } from './approle/counting-on-primary.ts';
import { certMethod } from './cert/cert-method.ts';
import { createStatusCheck } from './cert/certificate-status-operations.ts';
import { createClientCertificates } from './cert/client-certificates-rpc.ts';
import type { AuthConfig } from './config.ts';
import type { OwnRuns } from './jwt/config-operations.ts';
import { jwtMethod } from './jwt/jwt-method.ts';
import { kubernetesMethod } from './kubernetes/kubernetes-method.ts';
import { ldapMethod } from './ldap/ldap-method.ts';
import { type LockoutContext, lockoutsAt } from './logins/lockout-operations.ts';
import {
  createLoginMetrics,
  type LoginMetrics,
  registerLockedUsers,
} from './logins/login-metrics.ts';
import { type Logins, toLimits } from './logins/login-operations.ts';
import { type AuthMethod, methodOfType, typesOf } from './method.ts';
import { userpassMethod } from './userpass/userpass-method.ts';

export interface AuthParts {
  readonly config: AuthConfig;
  readonly store: Store;
  readonly barrier: Barrier;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly cluster: RpcService<typeof ClusterDefinition>;
  readonly logins: Logins;
  /** Tells about mounts of this installation whose certificates sign in. */
  readonly pki: RpcService<typeof ClientAuthoritiesDefinition>;
  /** Tells about tokens of runs of this installation. */
  readonly runs: OwnRuns;
  readonly replication?: ReplicationParts | undefined;
  /** Where a pod has the token of its account; that of Kubernetes if absent. */
  readonly podFolder?: string;
  /** See `LockoutContext`. */
  readonly rememberedNames?: number;
  /** Metrics of the process. */
  readonly registry: MetricsRegistry;
}

export interface AuthService {
  readonly edge: EdgeService;
  /** For sys, which renews tokens. */
  readonly methods: RpcService<typeof AuthMethodsDefinition>;
  /** Certificates that sign in, for the certificate authority. */
  readonly clientCertificates: RpcService<typeof ClientCertificatesDefinition>;
  /** This service's part in replication, for sys. */
  readonly replica: RpcService<typeof ReplicationMemberDefinition>;
  /** Resolves once the service has followed the cluster's state for the first time, or has failed to. */
  readonly joined: Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The methods, as metrics name them. */
const METHODS = ['approle', 'cert', 'jwt', 'kubernetes', 'ldap', 'userpass'] as const;

const POD_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Interval in which what has expired is removed. */
const TIDY_EVERY_MS = 60 * 60_000;

const toEngines = (method: AuthMethod): readonly EngineDescription[] =>
  typesOf(method).map((type) => ({
    type,
    unauthenticatedPaths: [...method.unauthenticatedPaths],
    rootPaths: [],
  }));

/** Whether a route needs no token. @param path with `+` in place of each parameter */
const isPublic =
  (methods: readonly AuthMethod[]) =>
  (path: string): boolean =>
    methods.some(({ type, unauthenticatedPaths }) =>
      unauthenticatedPaths.some((pattern) =>
        pattern.endsWith('*')
          ? path.startsWith(`/${type}/${pattern.slice(0, -1)}`)
          : path === `/${type}/${pattern}`,
      ),
    );

/** Answers requests by the routes of the method that is mounted. */
const byMethod = (
  edge: EdgeService,
  methods: readonly AuthMethod[],
  metrics: LoginMetrics,
): EdgeService => ({
  ...edge,
  handle: async (request) => {
    const { head } = request;
    const mount = requireMount(head);
    const { type } = methodOfType(methods, mount.type) ?? mount;
    const at = { ...head, path: `/${type}${head.path}` };
    const response = await edge.handle({ ...request, head: at });
    metrics.answered(type, head.path, response.head.status);
    return response;
  },
});

const authEdge = (
  store: Store,
  member: ReplicationMember,
  logger: Logger,
  methods: readonly AuthMethod[],
): EdgeService =>
  createEdgeService({
    service: 'auth',
    version: VERSION,
    pathPrefix: '/v1/auth',
    title: 'Keelson auth methods',
    text: 'How machines and people sign in: roles, secret ids and users of each method, and the logins that make tokens. The first segment is the path where the method is mounted, which is its type unless `sys/auth` says another. PUT is the same as POST.',
    components: secretsComponents,
    loadExamples: async () =>
      (await import('./answer-examples.json', { with: { type: 'json' } })).default,
    isPublic: isPublic(methods),
    check: async () => {
      await store.requireUsable();
      return member.impaired();
    },
    position: () => store.position(),
    routes: forwardingRoutes(
      member,
      envelopeWarnings,
      methods.flatMap(({ routes }) => routes),
    ),
    renderError: createSecretsErrorRenderer((err, requestId) =>
      logger.error({ err, request_id: requestId }, 'request failed'),
    ),
  });

const methodsRpc = (
  methods: readonly AuthMethod[],
  lockouts: LockoutContext,
): RpcService<typeof AuthMethodsDefinition> => ({
  findLoginRole: async ({ mount, path, parametersJson, clientCertificates: certificates }) => {
    const parameters = JSON.parse(parametersJson.toString()) as Readonly<Record<string, unknown>>;
    const login = { path, parameters, certificates };
    try {
      const method = mount && methodOfType(methods, mount.type);
      return { role: (mount && (await method?.findLoginRole?.(mount, login))) ?? '' };
    } catch (error) {
      // The login itself will be refused, with the reason.
      if (KeelsonError.from(error).code === 'request.invalid') return { role: '' };
      throw error;
    }
  },
  listLockedUsers: async ({ mount }) => ({
    aliasNames: mount === undefined ? [] : await lockoutsAt(lockouts, mount).listLocked(),
  }),
  unlockUser: async ({ mount, aliasName }) => {
    if (mount === undefined) return {};
    const counted = methodOfType(methods, mount.type)?.toCountedName?.(aliasName) ?? aliasName;
    await lockoutsAt(lockouts, mount).unlock(counted);
    return {};
  },
  renewLogin: async ({ mount, loginData, clientCertificates: certificates, isVerified }) => {
    const renewed =
      mount &&
      (await methodOfType(methods, mount.type)?.renew(
        mount,
        JSON.parse(loginData.toString()) as object as never,
        { certificates, isVerified },
      ));
    if (renewed === undefined)
      throw new KeelsonError('request.invalid', {
        text: 'the token cannot be renewed: its login would be refused now',
      });
    const { settings, groups } = renewed;
    return { limits: toLimits(settings), groups: groups && { names: [...groups] } };
  },
});

/**
 * Removes what has expired, once an hour. Every replica may do it: a record is removed once. A secondary removes what is
 * its own; the primary removes what all clusters have.
 */
const runTidy = async (
  {
    methods,
    mounts,
    logger,
    ...lockouts
  }: LockoutContext & {
    readonly methods: readonly AuthMethod[];
    readonly mounts: () => readonly Mount[];
    readonly logger: Logger;
  },
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    await pause(lockouts.clock, TIDY_EVERY_MS, signal);
    for (const mount of mounts()) {
      const method = methodOfType(methods, mount.type);
      for (const tidy of [() => method?.tidy?.(mount), () => lockoutsAt(lockouts, mount).tidy()])
        try {
          await tidy();
        } catch (err) {
          if (!hasCode(err, 'replication.read_only'))
            logger.error({ err, mount: mount.uuid }, 'what has expired was not removed');
        }
    }
  }
};

export const composeAuth = (parts: AuthParts): AuthService => {
  const { barrier, clock, logins, cluster } = parts;
  const logger = parts.logger.child({ service: 'auth' });
  const {
    store,
    member,
    rpc: replica,
  } = composeServiceReplication(parts, { service: 'auth', logger });
  const metrics = createLoginMetrics(parts.registry, METHODS);
  const shared = { store, clock, rememberedNames: parts.rememberedNames };
  const sharedBy = (method: (typeof METHODS)[number]) => ({
    ...shared,
    logins: metrics.counting(method, logins),
  });
  const outboundPolicy = toOutboundPolicy(parts.config);
  const certificates = {
    ...sharedBy('cert'),
    pki: parts.pki,
    isCurrent: createStatusCheck({ outboundPolicy, logger, clock }),
  };
  let clusterId = '';
  const methods = [
    approleMethod({ ...sharedBy('approle'), countOnPrimary: countingOnPrimary(member) }),
    certMethod(certificates),
    jwtMethod({
      ...sharedBy('jwt'),
      runs: parts.runs,
      logger,
      outboundPolicy,
      clusterId: () => clusterId,
    }),
    kubernetesMethod({
      ...sharedBy('kubernetes'),
      logger,
      outboundPolicy,
      podFolder: parts.podFolder ?? POD_FOLDER,
    }),
    ldapMethod({ ...sharedBy('ldap'), logger, outboundPolicy }),
    userpassMethod(sharedBy('userpass')),
  ];
  const edge = authEdge(store, member, logger, methods);
  member.serve(countingForSecondaries(shared, edge));
  const joined = Promise.withResolvers<void>();
  let mounts: readonly Mount[] = [];
  registerLockedUsers(parts.registry, clock, async () => {
    const locked = await Promise.all(mounts.map((mount) => lockoutsAt(shared, mount).listLocked()));
    return locked.flat().length;
  });
  const follower = {
    store,
    barrier,
    cluster,
    logger,
    replication: member,
    service: 'auth',
    engines: methods.flatMap(toEngines),
    cleaning: new MountCleaning(store),
    instanceId: randomUUID(),
    version: VERSION,
    onSealed: () => undefined,
    onCluster: ({ id }: ThisCluster) => {
      clusterId = id;
    },
    onMounts: (current: readonly Mount[]) => {
      mounts = current;
    },
    onFollowed: joined.resolve,
  };
  const clientCertificates = createClientCertificates(certificates, () => mounts);
  let workers: readonly Worker[] = [];
  return {
    edge: edgeWhileOpen(byMethod(edge, methods, metrics), barrier),
    methods: methodsRpc(methods, shared),
    clientCertificates: {
      findRole: (request) => whileOpen(barrier, () => clientCertificates.findRole(request)),
      judge: (request) => whileOpen(barrier, () => clientCertificates.judge(request)),
    },
    replica,
    joined: joined.promise,
    start: () => {
      const work = {
        'cluster state': (signal: AbortSignal) => followMounts(follower, signal),
        tidy: (signal: AbortSignal) =>
          runTidy({ ...shared, methods, mounts: () => mounts, logger }, signal),
      };
      workers = Object.entries(work).map(([name, run]) =>
        startWorker(name, run, { logger, clock }),
      );
      return Promise.resolve();
    },
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await member.stop();
      workers = [];
    },
  };
};
