/** Canceled runs, killed agents and assessments with the real tool. */
import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AgentProcess,
  createPool,
  type PoolAccess,
  startAgent,
  UNSAFE,
} from './agent-process.ts';
import { fileConfiguration } from './provider-mirror.ts';
import { type Answer, cloudBlock, type Installation, install } from './terraform-cli.ts';

const SLOW_MS = 240_000;

/** Creates one resource quickly and the next slowly. */
const SLOW = `
resource "terraform_data" "made" { input = "made" }
resource "terraform_data" "slow" {
  depends_on = [terraform_data.made]
  provisioner "local-exec" { command = "echo now it takes long; sleep 600" }
}
`;

/** Whether a process runs; one that has ended may stay in the list until its parent takes notice. */
const isLiving = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) &&
  !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

interface Forced {
  readonly place: string;
  readonly run: Answer['data'];
  readonly act: (action: string) => Promise<number>;
  readonly workspace: () => Promise<Answer['data']>;
  readonly id: string;
  readonly holder: AgentProcess;
  readonly outcome: Promise<unknown>;
}

describe('terraform with an agent', { timeout: SLOW_MS }, () => {
  let installation: Installation;
  let pool: PoolAccess;
  let folder: string;
  let agent: AgentProcess;
  /** Begun by the first test; a run can be canceled by force only after a minute. */
  let forced: Forced | undefined;
  const open = async (name: string, text: string) => {
    const project = await installation.project({
      'main.tf': cloudBlock(installation.host, `name = "${name}"`) + text,
    });
    await project.run('init');
    const workspace = async () =>
      (await installation.call('GET', `/organizations/acme/workspaces/${name}`)).data;
    return { ...project, workspace, id: (await workspace()).id };
  };
  const newestRun = async (workspaceId: string) => {
    const { list } = await installation.call('GET', `/workspaces/${workspaceId}/runs`);
    const [run] = list;
    if (run === undefined) throw new Error(`${workspaceId} has no run`);
    return run;
  };

  beforeAll(async () => {
    installation = await install({ KEELSON_WORKSPACE_ASSESSMENT_INTERVAL_SECONDS: '1' });
    pool = await createPool(installation, 'agents');
    folder = await installation.folder('agent');
    agent = await startAgent(installation, pool, folder);
    await agent.said('registered as');
  }, SLOW_MS);
  afterAll(async () => {
    await agent.stop();
    await installation[Symbol.asyncDispose]();
  }, SLOW_MS);

  test('does not stop a tool that ignores the interruption, at first', async () => {
    const place = await installation.folder('stubborn');
    const tool = join(place, 'terraform');
    // terraform shows an apply from the fourth line of its log on.
    const stubborn = `trap '' INT; echo $$ > ${place}/pids; sleep 600 & echo $! >> ${place}/pids; echo; echo I do not stop; wait`;
    const script = `#!/bin/sh\nif [ "$1" = apply ]; then ${stubborn}; else exec terraform "$@"; fi\n`;
    await writeFile(tool, script, { mode: 0o755 });
    const own = await createPool(installation, 'stubborn');
    const { start, workspace, id } = await open('stubborn', SLOW);
    const change = { 'execution-mode': 'agent', 'agent-pool-id': own.poolId };
    const data = { type: 'workspaces', attributes: change };
    await installation.call('PATCH', `/workspaces/${id}`, { data });
    const holder = await startAgent(installation, own, place, {
      ...UNSAFE,
      KEELSON_AGENT_TERRAFORM: tool,
    });
    const applying = start('apply', '-auto-approve');
    await applying.printed('I do not stop');
    const run = await newestRun(id);
    const act = async (action: string) =>
      (await installation.call('POST', `/runs/${run.id}/actions/${action}`)).status;
    expect(await act('cancel')).toBe(202);
    // The tool has a minute to write its state.
    expect(await act('force-cancel')).toBe(409);
    forced = { place, run, act, workspace, id, holder, outcome: applying.outcome };
  });

  test('stops a canceled apply and keeps the resources that were created', async () => {
    const { start, run, workspace, id } = await open('canceled', SLOW);
    const applying = start('apply', '-auto-approve');
    await applying.printed('now it takes long');
    // Resources created so far are stored during the apply.
    const states =
      '/state-versions?filter[organization][name]=acme&filter[workspace][name]=canceled';
    const stored = await installation.until(states, ({ list }) => list.length > 0);
    expect(stored.list.map(({ attributes }) => attributes['intermediate'])).toEqual([true]);
    const { id: runId } = await newestRun(id);
    const canceled = await installation.call('POST', `/runs/${runId}/actions/cancel`);
    expect(canceled.status).toBe(202);
    const { output } = await applying.outcome;
    expect(output).toContain('Interrupt received');
    expect((await newestRun(id)).attributes['status']).toBe('canceled');
    expect((await workspace()).attributes).toMatchObject({ locked: false });
    expect(await run('state', 'list')).toContain('terraform_data.made');
  });

  test('recovers when the agent is killed: the run ends, the lock is released, the state is kept', async () => {
    const { start, run: tool, workspace, id } = await open('orphaned', SLOW);
    const applying = start('apply', '-auto-approve');
    await applying.printed('now it takes long');
    expect((await workspace()).attributes).toMatchObject({ locked: true });
    await agent.kill();
    agent = await startAgent(installation, pool, folder);
    await agent.said('the process was ended during a phase');
    // The client, which follows the run, ends with it.
    const { code } = await applying.outcome;
    expect(code).toBe(1);
    const run = await newestRun(id);
    expect(run.attributes['status']).toBe('errored');
    expect((await workspace()).attributes).toMatchObject({ locked: false });
    expect(await tool('state', 'list')).toContain('terraform_data.made');
    const { list } = await installation.call('GET', `/agent-pools/${pool.poolId}/agents`);
    expect(list.map(({ attributes }) => attributes['status'])).toEqual(['idle']);
  });

  test('ends a tool that did not stop, with all its processes, when the run is canceled by force', async () => {
    if (forced === undefined) throw new Error('no tool was started');
    const { place, run, act, workspace, id, holder, outcome } = forced;
    const pids = (await readFile(join(place, 'pids'), 'utf8')).trim().split('\n').map(Number);
    const living = () => pids.filter(isLiving);
    expect(pids).toHaveLength(2);
    expect(living()).toEqual(pids);
    const force = () => act('force-cancel');
    await expect.poll(force, { timeout: 90_000, interval: 500 }).toBe(202);
    // The client, which follows the run, ends with it.
    await outcome;
    expect((await newestRun(id)).attributes['status']).toBe('force_canceled');
    expect((await workspace()).attributes).toMatchObject({ locked: false });
    await expect.poll(living, { timeout: 30_000, interval: 200 }).toEqual([]);
    // The tool has written no state, and none was stored.
    const state = await installation.call('GET', `/workspaces/${id}/current-state-version`);
    expect(state.status).toBe(404);
    // The agent takes the next run.
    const next = await installation.call('POST', '/runs', {
      data: {
        type: 'runs',
        attributes: { 'plan-only': true },
        relationships: { workspace: { data: { type: 'workspaces', id } } },
      },
    });
    await installation.until(
      `/runs/${next.data.id}`,
      ({ data }) => data.attributes['status'] === 'planned_and_finished',
    );
    expect(next.data.id).not.toBe(run.id);
    await holder.stop();
  });

  // Two assessments, each by an agent.
  const TWICE = { timeout: 2 * SLOW_MS };
  test('assesses a workspace and finds drift', TWICE, async () => {
    await agent.stop();
    agent = await startAgent(installation, pool, folder, UNSAFE);
    const file = join(await installation.folder('outside'), 'one.txt');
    const { run, id } = await open('assessed', fileConfiguration(file, 'as it was made'));
    await run('apply', '-auto-approve');
    const enable = (enabled: boolean) =>
      installation.call('PATCH', `/workspaces/${id}`, {
        data: { type: 'workspaces', attributes: { 'assessments-enabled': enabled } },
      });
    await enable(true);
    const resultOf = `/workspaces/${id}/current-assessment-result`;
    const untilDrifted = (drifted: boolean) =>
      installation.until(resultOf, ({ data }) => data?.attributes['drifted'] === drifted);
    expect((await untilDrifted(false)).data.attributes).toMatchObject({
      succeeded: true,
      'error-msg': null,
    });
    // A change made outside the tool.
    await writeFile(file, 'as it was changed');
    expect((await untilDrifted(true)).data.attributes).toMatchObject({
      succeeded: true,
      'error-msg': null,
    });
    await enable(false);
    const { id: assessed } = (await installation.call('GET', resultOf)).data;
    const read = (kind: string) =>
      installation.call('GET', `/assessment-results/${assessed}/${kind}`);
    expect((await read('json-output')).document).toMatchObject({
      format_version: expect.any(String) as string,
      terraform_version: expect.any(String) as string,
      resource_drift: [
        {
          address: 'files_file.one',
          change: {
            actions: ['update'],
            before: { content: 'as it was made' },
            after: { content: 'as it was changed' },
          },
        },
      ],
    });
    expect((await read('json-schema')).document).toMatchObject({
      provider_schemas: { 'keelson.example/test/files': expect.any(Object) as object },
    });
    // The file was only read.
    expect(await readFile(file, 'utf8')).toBe('as it was changed');
    const plan = await installation.call('GET', `/plans/${assessed.replace('asmtres-', 'plan-')}`);
    const log = await (await fetch(String(plan.data.attributes['log-read-url']))).text();
    const lines = log.slice(1, -1).trim().split('\n');
    const messages = lines.map((line) => JSON.parse(line) as { type: string });
    expect(messages.map(({ type }) => type)).toContain('version');
  });
});
