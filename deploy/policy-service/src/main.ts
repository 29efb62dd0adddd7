/** A policy service that decides by a file of rules. */
import { readFile } from 'node:fs/promises';
import type { Config } from '@keelson/config';
import type { Logger } from '@keelson/logging';
import { runConfiguredProcess } from '@keelson/runtime';
import { policyServiceConfig } from './config.ts';
import { parseRules, startPolicyServer } from './server.ts';

const start = async (config: Config<typeof policyServiceConfig>, logger: Logger) => {
  const { callerAuthorityFile } = config;
  const server = await startPolicyServer({
    rules: parseRules(await readFile(config.policyRulesFile, 'utf8')),
    certificate: await readFile(config.tlsCertificateFile, 'utf8'),
    key: await readFile(config.tlsKeyFile, 'utf8'),
    callerAuthorities:
      callerAuthorityFile === undefined ? undefined : await readFile(callerAuthorityFile, 'utf8'),
    address: config.listenAddress,
    port: config.policyPort,
    nowMs: () => Date.now(),
  });
  logger.info({ port: server.port }, 'serving');
  return { stop: () => server.close() };
};

await runConfiguredProcess({
  name: 'keelson-policy-service',
  schema: policyServiceConfig,
  environment: process.env,
  start,
});
