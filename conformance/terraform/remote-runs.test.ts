/** The unmodified terraform binary with a workspace whose runs an agent executes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentProcess, createPool, type PoolAccess, startAgent } from './agent-process.ts';
import {
  cloudBlock,
  configuration,
  hasTerraform,
  type Installation,
  install,
} from './terraform-cli.ts';

const SLOW_MS = 240_000;

describe.runIf(hasTerraform)('terraform with an agent', () => {
  let installation: Installation;
  let pool: PoolAccess;
  let agent: AgentProcess;
  beforeAll(async () => {
    installation = await install();
    pool = await createPool(installation, 'acme', 'agents');
    agent = await startAgent(installation, pool, await installation.folder('agent'));
    await agent.said('registered as');
  }, SLOW_MS);
  afterAll(async () => {
    await agent.stop();
    await installation[Symbol.asyncDispose]();
  }, SLOW_MS);

  const open = async (name: string, text = configuration('first')) => {
    const project = await installation.project({
      'backend.tf': cloudBlock(installation.host, `name = "${name}"`),
      'main.tf': text,
    });
    await project.run('init');
    const workspace = () => installation.call('GET', `/organizations/acme/workspaces/${name}`);
    return { ...project, workspace, id: (await workspace()).data.id };
  };

  test(
    'plans and applies where the agent is',
    async () => {
      const { run, workspace } = await open('remote');
      const planned = await run('plan');
      expect(planned).toContain('Running plan in HCP Terraform');
      expect(planned).toContain('Plan: 1 to add, 0 to change, 0 to destroy.');
      const applied = await run('apply', '-auto-approve');
      expect(applied).toContain('1 added');
      expect((await run('output', '-raw', 'one')).trim()).toBe('first');
      const { attributes } = (await workspace()).data;
      expect(attributes).toMatchObject({ 'resource-count': 1, locked: false });
    },
    SLOW_MS,
  );
});
