/**
 * The control plane that the pages are tested with: one standalone process, or with TESTED_FORM=distributed
 * services in processes of their own, on PostgreSQL and Redis.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startKeelson, startPostgres, startRedis } from '@keelson/testkit';
import { startDistributed } from '@keelson/testkit/distributed-cluster';
import { vi } from 'vitest';

const ADOPTED_WITHIN_MS = 30_000;

/** The facts of a control plane that its pages are tested with. */
export interface ControlPlane {
  /** "http://127.0.0.1:PORT" */
  readonly http: string;
  readonly rootToken: string;
  readonly apiToken: string;
}

/** A control plane whose seal opens with three of five key shares. */
export interface OwnControlPlane extends ControlPlane {
  /** Base64. */
  readonly unsealKeys: readonly string[];
  /** Opens the seal that a restored snapshot has brought, unless the control plane does so by itself. */
  readonly reopen: () => Promise<void>;
  readonly stop: () => Promise<unknown>;
}

export interface ControlPlaneOptions {
  /** A folder that outlives the control plane. */
  readonly folder: string;
  readonly natsUrl: string | undefined;
  /** Further settings, such as KEELSON_OUTBOUND_RANGES. */
  readonly env: Readonly<Record<string, string>>;
}

const startStandalone = async (options: ControlPlaneOptions): Promise<OwnControlPlane> => {
  const keelson = await startKeelson({
    dataFolder: join(options.folder, 'data'),
    env: {
      // The tests and the page share a token, and together exceed its 30 requests per second.
      KEELSON_RATE_LIMIT: 'off',
      ...(options.natsUrl !== undefined && { KEELSON_NATS_URL: options.natsUrl }),
      ...options.env,
    },
  });
  const file = readFileSync(join(keelson.dataFolder, 'first-run.json'), 'utf8');
  const { unseal_keys: unsealKeys } = JSON.parse(file) as { unseal_keys: readonly string[] };
  return {
    ...keelson,
    unsealKeys,
    reopen: () => Promise.resolve(),
    stop: () => keelson.stop(),
  };
};

const SHARES = { secret_shares: 5, secret_threshold: 3 };

const send = async (url: string, path: string, body: object): Promise<unknown> => {
  const answer = await fetch(`${url}/v1/sys/${path}`, {
    method: 'PUT',
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

const unseal = async (url: string, shares: readonly string[]): Promise<void> => {
  for (const key of shares.slice(0, SHARES.secret_threshold)) await send(url, 'unseal', { key });
};

/** Initializes a cluster as a first start of the standalone form does, and unseals it. */
const initialize = async (url: string) => {
  const { root_token: token, keys_base64: shares } = (await send(url, 'init', SHARES)) as {
    readonly root_token: string;
    readonly keys_base64: readonly string[];
  };
  await unseal(url, shares);
  return { token, shares };
};

const startDistributedForm = async (options: ControlPlaneOptions): Promise<OwnControlPlane> => {
  await using stack = new AsyncDisposableStack();
  const [postgres, redis] = [stack.use(await startPostgres()), stack.use(await startRedis())];
  const ofServices = options.natsUrl === undefined ? {} : { NATS_URL: options.natsUrl };
  const ofWorkspace = Object.fromEntries(
    Object.entries(options.env).map(([name, value]) => [name.replace('KEELSON_', ''), value]),
  );
  const cluster = await startDistributed({
    postgres,
    redisUrl: redis.url,
    name: 'pages',
    seal: 'shamir',
    settings: { sys: ofServices, pki: ofServices, workspace: { ...ofServices, ...ofWorkspace } },
    initialize,
  });
  stack.defer(() => cluster.stop());
  const owned = stack.move();
  const http = cluster.urls[0] ?? '';
  // The workspace service takes up its first token once the cluster is unsealed.
  const headers = { authorization: `Bearer ${cluster.apiToken}` };
  await vi.waitUntil(
    async () => (await fetch(`${http}/api/v2/account/details`, { headers })).status === 200,
    { timeout: ADOPTED_WITHIN_MS },
  );
  return {
    http,
    rootToken: cluster.token,
    apiToken: cluster.apiToken,
    unsealKeys: cluster.shares,
    reopen: () => unseal(http, cluster.shares),
    stop: () => owned.disposeAsync(),
  };
};

/** Starts a control plane in the form that TESTED_FORM names: "standalone" by default, or "distributed". */
export const startControlPlane = (options: ControlPlaneOptions): Promise<OwnControlPlane> =>
  process.env['TESTED_FORM'] === 'distributed'
    ? startDistributedForm(options)
    : startStandalone(options);
