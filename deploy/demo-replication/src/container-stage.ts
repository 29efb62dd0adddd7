/**
 * Clusters that already run in containers of docker-compose.yml. They reach each other through proxies in
 * this process. The primary is the distributed cluster, which is initialized here if it has not been yet.
 */
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { callsOf, until } from '@keelson/testkit/addressed-cluster';
import { type ProxyAddress, startFaultProxy } from '@keelson/testkit/fault-proxy';
import type { ContainerConfig } from './config.ts';
import { type Building, type DemoCluster, Started } from './stage.ts';

/** Credentials from a cluster's initialization. Standalone clusters write this file themselves. */
interface FirstRun {
  readonly root_token: string;
  readonly api_token: string;
  readonly unseal_keys: readonly string[];
}

const SHARES = { recovery_shares: 5, recovery_threshold: 3 };

const addressOf = (url: string): ProxyAddress => {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port) };
};

const isUp = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(`${url}/readyz`)).status === 200;
  } catch {
    return false; // Nobody listens there before it is up.
  }
};

const untilUp = (url: string): Promise<boolean> =>
  until(
    () => isUp(url),
    (is) => is,
  );

const untilWritten = (file: string): Promise<boolean> =>
  until(
    async () => existsSync(file),
    (is) => is,
  );

const readApiToken = async (given: ContainerConfig['apiToken']): Promise<string> => {
  if ('text' in given) return given.text;
  await untilWritten(given.file);
  return readFileSync(given.file, 'utf8').trim();
};

const readFirstRun = (file: string): FirstRun => JSON.parse(readFileSync(file, 'utf8')) as FirstRun;

const clusterAt = (name: string, url: string, facts: FirstRun): DemoCluster => {
  const cluster: DemoCluster = {
    name,
    address: () => url,
    token: facts.root_token,
    shares: facts.unseal_keys,
    apiToken: facts.api_token,
    ...callsOf(
      () => url,
      () => cluster.token,
      facts.api_token,
    ),
    stop: async () => undefined,
  };
  return cluster;
};

const writeSecret = (file: string, content: object): Promise<void> =>
  writeFile(file, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });

/** @throws Error when it was initialized elsewhere, because its tokens and shares are then unknown */
const initialize = async (url: string, file: string, apiToken: string): Promise<FirstRun> => {
  const health = (): Promise<number> =>
    fetch(`${url}/v1/sys/health`).then(
      ({ status }) => status,
      () => 0, // Nobody listens there before it is up.
    );
  const status = await until(health, (one) => one === 200 || one === 501);
  // The token of /api/v2 may have been replaced.
  if (existsSync(file)) return { ...readFirstRun(file), api_token: apiToken };
  if (status === 200)
    throw new Error(
      `the primary was initialized by somebody else: its root_token and unseal_keys belong into ${file}, or start again with \`docker compose --profile replication down --volumes\``,
    );
  const init = async () => {
    const answer = await fetch(`${url}/v1/sys/init`, {
      method: 'PUT',
      body: JSON.stringify(SHARES),
    });
    return { status: answer.status, text: await answer.text() };
  };
  // 503 while its database starts.
  const { status: initStatus, text } = await until(init, (answer) => answer.status !== 503);
  if (initStatus !== 200) throw new Error(`PUT sys/init: ${initStatus} ${text}`);
  const made = JSON.parse(text) as {
    readonly root_token: string;
    readonly recovery_keys_base64: readonly string[];
  };
  const facts: FirstRun = {
    root_token: made.root_token,
    api_token: apiToken,
    unseal_keys: made.recovery_keys_base64,
  };
  await writeSecret(file, facts);
  return facts;
};

export const openContainers = (config: ContainerConfig): Building => {
  const started = new Started();
  const { firstRunFiles, primaryApiAddress, primaryClusterAddress, spareClusterAddress } = config;
  /** @param known name of this process by which others know it */
  const line = (to: string, known: string) =>
    started.add(
      () => startFaultProxy(addressOf(to), { host: '0.0.0.0', port: addressOf(known).port }),
      async (it) => it[Symbol.asyncDispose](),
    );
  return {
    title: 'Replication between three clusters in containers',
    text: 'the clusters answer',

    async start() {
      const toPrimary = await line(config.primaryNats, primaryClusterAddress);
      const toSpare = await line(config.spareNats, spareClusterAddress);
      const toApi = await line(config.primary, primaryApiAddress);
      // Reached through a proxy, as the other clusters reach it.
      const primaryUrl = `http://127.0.0.1:${toApi.port}`;
      const primary = clusterAt(
        'primary',
        primaryUrl,
        await initialize(primaryUrl, firstRunFiles.primary, await readApiToken(config.apiToken)),
      );
      await untilUp(primaryUrl);
      await until(
        () => primary.api('GET', 'account/details'),
        ({ status }) => status === 200,
      );
      const standalone = async (name: string, url: string, file: string): Promise<DemoCluster> => {
        await untilUp(url);
        // The file is written after the cluster serves requests.
        await untilWritten(file);
        return clusterAt(name, url, readFirstRun(file));
      };
      const secondary = await standalone('secondary', config.secondary, firstRunFiles.secondary);
      const dr = await standalone('spare', config.spare, firstRunFiles.spare);
      const status = await secondary.status('performance');
      return {
        primary,
        secondary,
        dr,
        lines: [toPrimary, toSpare],
        primaryAddress: primaryClusterAddress,
        spareAddress: spareClusterAddress,
        primaryApiAddress,
        loss: {
          text: 'the site of the primary is lost: nobody reaches its API or its NATS',
          lose: async () => {
            for (const one of [toPrimary, toApi]) one.cut();
          },
          returnText: 'the former primary is reached again, and gives up its role',
          bringBack: async () => {
            for (const one of [toPrimary, toApi]) one.pass();
          },
        },
        wasPlayed: status?.mode !== 'disabled',
        keep: async () => {
          const tokens = { primary: primary.token, secondary: secondary.token, spare: dr.token };
          // Kept if it exists: an earlier run may have used these tokens.
          if (!existsSync(config.tokensFile)) await writeSecret(config.tokensFile, tokens);
          const { published } = config;
          return [
            `  primary      http://${published.primary}`,
            `  secondary    http://${published.secondary}`,
            `  spare        http://${published.spare}`,
            `  Root tokens  docker compose --profile replication exec demo cat ${config.tokensFile}`,
          ].join('\n');
        },
        newestLog: () => 'What the clusters said: docker compose --profile replication logs',
      };
    },

    stop: () => started.end(),
  };
};
