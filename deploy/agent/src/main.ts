/** The reference agent: executes runs of workspaces with the `terraform` binary. See README.md. */
import { ControlPlane, trustAuthority } from '@keelson/agent';
import { startAgent } from './agent.ts';
import { type AgentConfig, readConfig } from './config.ts';

const readSettings = (): AgentConfig => {
  try {
    return readConfig(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
};

const config = readSettings();
const caBundleFile =
  config.caFile === undefined ? undefined : trustAuthority(config.caFile, config.folder);

const agent = startAgent(
  {
    config,
    controlPlane: new ControlPlane(config.address, config.token),
    environment: process.env,
    caBundleFile,
  },
  (text) => process.stdout.write(`${new Date().toISOString()} ${text}\n`),
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => agent.stop());
await agent.ended;
