/**
 * A cluster whose services run in their own processes, as in docker-compose.yml: sys, pki, workspace and auth with
 * any number of replicas on PostgreSQL and Redis, behind gateways.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundledProcess } from './bundled-processes/bundled-process.ts';
import type { Entry } from './bundled-processes/entries.ts';
import { findBinary } from './find-binary.ts';
import { findFreePort } from './free-port.ts';
import type { PostgresServer } from './postgres.ts';
import { type AddressedCluster, callsOf } from './replication-cluster.ts';
import { ServerProcess } from './server-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const run = promisify(execFile);

/** Services with a store of their own. */
export const DISTRIBUTED_SERVICES = ['sys', 'pki', 'workspace', 'auth'] as const;
export type DistributedService = (typeof DISTRIBUTED_SERVICES)[number];

/** The same value for each of them, such as a number of replicas or settings. */
export const ofEachService = <T>(value: T): Readonly<Record<DistributedService, T>> => ({
  sys: value,
  pki: value,
  workspace: value,
  auth: value,
});

export interface DistributedOptions {
  readonly postgres: Pick<PostgresServer, 'createDatabase'>;
  /** redis://host:port[/database]; every cluster has its own database. */
  readonly redisUrl: string;
  /** Name of the cluster and prefix of its databases; unique for each cluster. */
  readonly name: string;
  readonly replicas?: Readonly<Partial<Record<DistributedService | 'gateway', number>>>;
  /** Additional KEELSON_* variables, without the prefix. */
  readonly settings?: Readonly<
    Partial<Record<DistributedService | 'gateway', Readonly<Record<string, string>>>>
  >;
  /** "shamir" needs one share at every start of sys; the default is a key file shared by its replicas. */
  readonly seal?: 'shamir' | 'static';
  /** Connection string by which a service reaches its database, if not directly. */
  readonly databaseUrl?: (connectionString: string, service: DistributedService) => string;
  /** False leaves it as it is at the first start, without keys and tokens of `v1`. */
  readonly isInitialized?: boolean;
  /** Initializes the cluster with one share, and unseals it; by default with requests. */
  readonly initialize?: (
    url: string,
    seal: 'shamir' | 'static',
  ) => Promise<Pick<AddressedCluster, 'token' | 'shares'>>;
}

export interface DistributedCluster extends AddressedCluster {
  /** "http://127.0.0.1:PORT" of each gateway; the first is the one that `v1` and `api` call. */
  readonly urls: readonly string[];
  readonly processes: Readonly<Record<DistributedService | 'gateway', readonly ServerProcess[]>>;
}

const processOf = async (
  main: Entry,
  settings: Readonly<Record<string, string>>,
  ready: RegExp,
): Promise<ServerProcess> =>
  new ServerProcess({
    file: await findBinary('env', 'coreutils'),
    args: [
      ...Object.entries(settings).map(([name, value]) => `KEELSON_${name}=${value}`),
      process.execPath,
      '--disable-sigusr1',
      await bundledProcess(main),
    ],
    ready,
  });

const freeAddresses = async (count: number): Promise<readonly string[]> => {
  const addresses: string[] = [];
  for (let made = 0; made < count; made += 1) addresses.push(`127.0.0.1:${await findFreePort()}`);
  return addresses;
};

/**
 * Unseals a cluster with its share.
 * @throws Error when it stays sealed
 */
const unseal = async (url: string, key: string): Promise<void> => {
  const body = JSON.stringify({ key });
  const answer = await fetch(`${url}/v1/sys/unseal`, { method: 'PUT', body });
  const status = (await answer.json()) as { readonly sealed?: boolean };
  if (status.sealed !== false)
    throw new Error(`unseal: ${answer.status} ${JSON.stringify(status)}`);
};

/** Initializes a cluster, and unseals it if its shares do that. @returns its first token and shares */
const initializeByRequest = async (
  url: string,
  seal: 'shamir' | 'static',
): Promise<Pick<AddressedCluster, 'token' | 'shares'>> => {
  const answer = await fetch(`${url}/v1/sys/init`, {
    method: 'PUT',
    body: JSON.stringify(
      seal === 'static'
        ? { recovery_shares: 1, recovery_threshold: 1 }
        : { secret_shares: 1, secret_threshold: 1 },
    ),
  });
  if (!answer.ok) throw new Error(`init: ${answer.status} ${await answer.text()}`);
  const facts = (await answer.json()) as {
    readonly root_token: string;
    readonly recovery_keys_base64?: readonly string[];
    readonly keys_base64: readonly string[];
  };
  const shares = facts.recovery_keys_base64 ?? facts.keys_base64;
  if (seal === 'shamir') await unseal(url, shares[0] ?? '');
  return { token: facts.root_token, shares };
};

/** Starts a cluster; initializes and unseals it by default. */
export const startDistributed = async ({
  postgres,
  redisUrl,
  name,
  replicas = {},
  settings = {},
  seal = 'static',
  databaseUrl = (connectionString) => connectionString,
  isInitialized = true,
  initialize = initializeByRequest,
}: DistributedOptions): Promise<DistributedCluster> => {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const trust = join(directory.path, 'trust');
  await run(process.execPath, [
    await bundledProcess('libs/rpc/src/internal-issuer/main.ts'),
    trust,
  ]);
  const addresses = {
    sys: await freeAddresses(replicas.sys ?? 1),
    pki: await freeAddresses(replicas.pki ?? 1),
    workspace: await freeAddresses(replicas.workspace ?? 1),
    auth: await freeAddresses(replicas.auth ?? 1),
    gateway: await freeAddresses(replicas.gateway ?? 1),
  };
  const apiToken = randomBytes(32).toString('hex');
  const enrolled = (service: string) => ({
    SYS_ADDRESSES: addresses.sys.join(),
    INTERNAL_CA_FILE: join(trust, service, 'internal-ca-certificate.pem'),
    JOIN_TOKEN_FILE: join(trust, service, 'join-token'),
  });
  const others = {
    PKI_ADDRESSES: addresses.pki.join(),
    WORKSPACE_ADDRESSES: addresses.workspace.join(),
    AUTH_ADDRESSES: addresses.auth.join(),
  };
  const own: Readonly<Record<DistributedService, Readonly<Record<string, string>>>> = {
    sys: {
      ...others,
      INTERNAL_CA_FILE: join(trust, 'sys', 'internal-ca.pem'),
      ...(seal === 'static' && { UNSEAL_KEY_FILE: join(directory.path, 'unseal.key') }),
      CLUSTER_NAME: name,
    },
    pki: { ...enrolled('pki'), AUTH_ADDRESSES: others.AUTH_ADDRESSES },
    workspace: { ...enrolled('workspace'), WORKSPACE_BOOTSTRAP_TOKEN: apiToken },
    auth: {
      ...enrolled('auth'),
      PKI_ADDRESSES: others.PKI_ADDRESSES,
      WORKSPACE_ADDRESSES: others.WORKSPACE_ADDRESSES,
    },
  };
  const start = async (made: ServerProcess): Promise<ServerProcess> => {
    stack.defer(() => made.kill());
    await made.start();
    return made;
  };
  const startService = async (service: DistributedService): Promise<readonly ServerProcess[]> => {
    const database = await postgres.createDatabase(`${name}_${service}`);
    const common = { DATABASE_URL: databaseUrl(database, service), REDIS_URL: redisUrl };
    return Promise.all(
      addresses[service].map(async (address) =>
        start(
          await processOf(
            `services/${service}/src/main.ts`,
            { ...common, ...own[service], ...settings[service], RPC_ADDRESS: address },
            /"msg":"serving"/,
          ),
        ),
      ),
    );
  };
  const sys = await startService('sys');
  const [pki, workspace, auth, gateway] = await Promise.all([
    startService('pki'),
    startService('workspace'),
    startService('auth'),
    Promise.all(
      addresses.gateway.map(async (address) =>
        start(
          await processOf(
            'services/gateway/src/main.ts',
            {
              ...enrolled('gateway'),
              ...others,
              RATE_LIMIT: 'off',
              ...settings.gateway,
              HTTP_PORT: new URL(`http://${address}`).port,
            },
            /"msg":"listening"/,
          ),
        ),
      ),
    ),
  ]);
  const urls = addresses.gateway.map((address) => `http://${address}`);
  const url = urls[0] ?? '';
  const { token, shares } = isInitialized ? await initialize(url, seal) : { token: '', shares: [] };
  const owned = stack.move();
  const cluster: DistributedCluster = {
    token,
    shares,
    apiToken,
    urls,
    processes: { sys, pki, workspace, auth, gateway },
    ...callsOf(
      () => url,
      () => cluster.token,
      apiToken,
    ),
    stop: () => owned.disposeAsync(),
  };
  return cluster;
};
