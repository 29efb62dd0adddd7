/** The built-in runner as a separate process. `--help` lists its settings. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trustAuthority } from '@keelson/agent';
import type { Config } from '@keelson/config';
import type { Logger } from '@keelson/logging';
import { runConfiguredProcess } from '@keelson/runtime';
import { prepareRunner } from './compose.ts';
import { runnerProcessConfig } from './config.ts';

const readToken = async (config: Config<typeof runnerProcessConfig>): Promise<string> => {
  const { runnerToken, runnerTokenFile } = config;
  if (runnerToken !== undefined) return runnerToken;
  if (runnerTokenFile === undefined)
    throw new Error('KEELSON_RUNNER_TOKEN or KEELSON_RUNNER_TOKEN_FILE must be set');
  return (await readFile(runnerTokenFile, 'utf8')).trim();
};

const start = async (config: Config<typeof runnerProcessConfig>, logger: Logger) => {
  const { runnerAddress: address, runnerCaFile: caFile } = config;
  const token = await readToken(config);
  if (caFile !== undefined) {
    trustAuthority(caFile, await mkdtemp(join(tmpdir(), 'keelson-runner-ca-')));
  }
  const prepared = await prepareRunner({
    config,
    environment: process.env,
    isUnsafe: config.runner === 'unsafe',
    logger,
  });
  const host = config.runnerHost ?? new URL(address).host;
  return prepared.start({ address, host, token, caFile });
};

await runConfiguredProcess({
  name: 'keelson-runner',
  schema: runnerProcessConfig,
  environment: process.env,
  start,
});
