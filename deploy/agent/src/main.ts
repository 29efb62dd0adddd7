/** The reference agent: executes runs of workspaces with the `terraform` binary. See README.md. */
import { readFileSync } from 'node:fs';
import { ControlPlane, type Say, trustAuthority } from '@keelson/agent';
import { startAgent } from './agent.ts';
import { type AgentConfig, readConfig } from './config.ts';
import { executeInJobs } from './kubernetes/job-executor.ts';
import { KubernetesApi } from './kubernetes/kubernetes-api.ts';
import { executePhase, receivePhase } from './kubernetes/pod-steps.ts';
import { executeInProcesses, type PhaseExecutor } from './phase-executor.ts';

const refuse = (error: unknown): never => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
};

const readSettings = (): AgentConfig => {
  try {
    return readConfig(process.env);
  } catch (error) {
    return refuse(error);
  }
};

const say: Say = (text) => process.stdout.write(`${new Date().toISOString()} ${text}\n`);

const executorOf = async (
  config: AgentConfig,
  controlPlane: ControlPlane,
): Promise<PhaseExecutor> => {
  const { caFile, folder, jobs } = config;
  if (caFile !== undefined) trustAuthority(caFile, folder);
  if (jobs === undefined) return executeInProcesses(config, controlPlane, process.env, say);
  if (jobs.authorityFile !== undefined) trustAuthority(jobs.authorityFile, folder);
  return executeInJobs({
    api: new KubernetesApi(jobs.place),
    template: jobs.template,
    controlPlane,
    settings: {
      KEELSON_AGENT_ADDRESS: config.address,
      KEELSON_AGENT_TERRAFORM: config.terraform,
      ...(config.versionsFolder !== undefined && {
        KEELSON_AGENT_TERRAFORM_VERSIONS_FOLDER: config.versionsFolder,
      }),
    },
    authority: caFile === undefined ? undefined : readFileSync(caFile, 'utf8'),
    say,
  });
};

const serve = async (): Promise<void> => {
  const config = readSettings();
  const controlPlane = new ControlPlane(config.address, config.token);
  const executor = await executorOf(config, controlPlane).catch(refuse);
  const agent = startAgent({ config, controlPlane, executor }, say);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => agent.stop());
  await agent.ended;
};

/** Without an argument, the agent; the others are the steps of a Job that it creates. */
const steps: Readonly<Record<string, () => Promise<void>>> = {
  receive: receivePhase,
  execute: () => executePhase(process.env),
};
const step = process.argv[2];
if (step === undefined) await serve();
else {
  const perform = steps[step];
  if (perform === undefined) throw new Error(`${step} is neither receive nor execute`);
  await perform();
  process.exit(0);
}
