/** The reference agent: executes runs of workspaces with the `terraform` binary. See README.md. */
import { startAgent } from './agent.ts';
import { readConfig } from './config.ts';
import { ControlPlane } from './control-plane.ts';
import { trustAuthority } from './trust.ts';

const config = readConfig(process.env);
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
