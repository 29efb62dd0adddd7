/** Standalone clusters that replicate over one nats-server and are known only by their public addresses. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AddressedCluster, callsOf } from './addressed-cluster.ts';
import { type KeelsonProcess, startKeelson } from './keelson-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export * from './addressed-cluster.ts';

/** A standalone one. */
export interface Cluster extends AddressedCluster {
  readonly process: () => KeelsonProcess;
  /** Ends the process and starts it again with the same data, with additional variables for this run only. */
  restart(signal?: NodeJS.Signals, more?: Readonly<Record<string, string>>): Promise<void>;
}

export const startCluster = async (
  natsUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Cluster> => {
  const folder = await temporaryDirectory();
  const dataFolder = join(folder.path, 'data');
  const options = {
    dataFolder,
    env: { KEELSON_NATS_URL: natsUrl, KEELSON_RATE_LIMIT: 'off', ...env },
  };
  let running = await startKeelson(options);
  const facts = JSON.parse(readFileSync(join(dataFolder, 'first-run.json'), 'utf8')) as {
    readonly unseal_keys: readonly string[];
  };
  const { apiToken } = running;
  /** A stop waits for the restart, so that no process outlives the stop. */
  let restarted: Promise<void> = Promise.resolve();
  const cluster: Cluster = {
    token: running.rootToken,
    shares: facts.unseal_keys,
    apiToken,
    process: () => running,
    ...callsOf(
      () => running.http,
      () => cluster.token,
      apiToken,
    ),
    restart: (signal = 'SIGINT', more = {}) => {
      const restarting = (async () => {
        await running.stop(signal);
        running = await startKeelson({ ...options, env: { ...options.env, ...more } });
      })();
      restarted = restarting.catch(() => undefined);
      return restarting;
    },
    stop: async () => {
      await restarted;
      await running.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
  return cluster;
};
