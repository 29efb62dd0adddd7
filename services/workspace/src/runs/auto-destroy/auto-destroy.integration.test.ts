import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
const DAY_MS = 86_400_000;
let harness: Harness;
let serial = 0;
/** A pool that a workspace names may have no agents. */
let mode: object;
beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const pool = await harness.create(`${O}/agent-pools`, 'agent-pools', { name: 'waiting' });
  mode = { 'execution-mode': 'agent', 'agent-pool-id': pool.id };
});
afterAll(() => harness[Symbol.asyncDispose]());

const STATE = JSON.stringify({
  version: 4,
  serial: 1,
  lineage: 'one',
  terraform_version: '1.11.4',
  outputs: {},
  resources: [
    {
      mode: 'managed',
      type: 'terraform_data',
      name: 'a',
      provider: 'provider["terraform.io/builtin/terraform"]',
      instances: [{ attributes: {} }],
    },
  ],
});

/** A workspace with managed resources that can be destroyed. */
const makeWorkspace = async (attributes: object = {}, project?: string) => {
  serial += 1;
  const { id } = await harness.create(
    `${O}/workspaces`,
    'workspaces',
    { name: `app-${serial}`, ...mode, ...attributes },
    project === undefined
      ? {}
      : { relationships: { project: { data: { type: 'projects', id: project } } } },
  );
  const files = await harness.create(
    `/workspaces/${id}/configuration-versions`,
    'configuration-versions',
    { 'auto-queue-runs': false },
  );
  await harness.transfer('PUT', String(files.attributes['upload-url']), gzipSync('files'));
  await harness.call('POST', `/workspaces/${id}/actions/lock`);
  await harness.create(`/workspaces/${id}/state-versions`, 'state-versions', {
    serial: 1,
    lineage: 'one',
    md5: createHash('md5').update(STATE).digest('hex'),
    state: Buffer.from(STATE).toString('base64'),
  });
  await harness.call('POST', `/workspaces/${id}/actions/unlock`);
  return id;
};
const runsOf = async (id: string) => (await harness.call('GET', `/workspaces/${id}/runs`)).list;
const attributesOf = async (id: string) =>
  (await harness.call('GET', `/workspaces/${id}`)).data.attributes;
const inDays = (days: number) => new Date(harness.clock.nowMs() + days * DAY_MS).toISOString();

describe('a workspace with auto-destroy', () => {
  test('at a given time gets one destroy run at that time', async () => {
    const at = inDays(1);
    const id = await makeWorkspace({ 'auto-destroy-at': at });
    await harness.runUpkeep();
    expect(await runsOf(id)).toEqual([]);
    harness.clock.advance(DAY_MS);
    await harness.runUpkeep();
    await harness.runUpkeep();
    const runs = await runsOf(id);
    expect(runs.map(({ attributes }) => attributes)).toMatchObject([
      { 'is-destroy': true, 'auto-apply': true, source: 'auto-destroy' },
    ]);
    expect(await attributesOf(id)).toMatchObject({
      'auto-destroy-at': at,
      'auto-destroy-status': 'queued',
      'inherits-project-auto-destroy': false,
    });
    // Nothing is done about another time yet.
    const later = { 'auto-destroy-at': inDays(1) };
    await harness.call('PATCH', `/workspaces/${id}`, {
      data: { type: 'workspaces', attributes: later },
    });
    expect(await attributesOf(id)).toMatchObject({ ...later, 'auto-destroy-status': null });
  });

  test('is not delayed by many workspaces that were already handled', async () => {
    const makeAt = async (at: string) =>
      (
        await harness.create(`${O}/workspaces`, 'workspaces', {
          name: `many-${(serial += 1)}`,
          'auto-destroy-at': at,
        })
      ).id;
    const soon = inDays(1);
    for (let made = 0; made < 100; made += 1) await makeAt(soon);
    harness.clock.advance(DAY_MS);
    await harness.runUpkeep();
    const last = await makeAt(inDays(0));
    await harness.runUpkeep();
    expect((await attributesOf(last))['auto-destroy-status']).toBe('nothing-to-destroy');
  });

  test('after a time of inactivity counts it from the last change', async () => {
    const id = await makeWorkspace({ 'auto-destroy-activity-duration': '2d' });
    expect((await attributesOf(id))['auto-destroy-at']).toBe(inDays(2));
    harness.clock.advance(2 * DAY_MS);
    await harness.runUpkeep();
    expect(await runsOf(id)).toHaveLength(1);
  });

  test('by inactivity that is set later forgets the fixed time, and vice versa', async () => {
    const id = await makeWorkspace({ 'auto-destroy-at': inDays(30) });
    const update = (attributes: object) =>
      harness.call('PATCH', `/workspaces/${id}`, { data: { type: 'workspaces', attributes } });
    await update({ 'auto-destroy-activity-duration': '2d' });
    expect((await attributesOf(id))['auto-destroy-at']).toBe(inDays(2));
    const at = inDays(9);
    await update({ 'auto-destroy-activity-duration': null, 'auto-destroy-at': at });
    expect(await attributesOf(id)).toMatchObject({
      'auto-destroy-at': at,
      'auto-destroy-activity-duration': null,
    });
    for (const none of [null, '']) {
      await update({ 'auto-destroy-at': at });
      await update({ 'auto-destroy-at': none });
      expect((await attributesOf(id))['auto-destroy-at']).toBeNull();
    }
    // A set time has precedence over the duration.
    const both = { 'auto-destroy-at': at, 'auto-destroy-activity-duration': '2d' };
    await update(both);
    expect(await attributesOf(id)).toMatchObject(both);
  });

  test('inherits the duration of its project unless it has its own', async () => {
    const project = await harness.create(`${O}/projects`, 'projects', {
      name: 'Short lived',
      'auto-destroy-activity-duration': '6h',
    });
    const heir = await makeWorkspace({}, project.id);
    const own = await makeWorkspace({ 'auto-destroy-activity-duration': '9d' }, project.id);
    expect(await attributesOf(heir)).toMatchObject({
      'inherits-project-auto-destroy': true,
      'auto-destroy-activity-duration': '6h',
      'auto-destroy-at': inDays(0.25),
    });
    harness.clock.advance(DAY_MS / 4);
    await harness.runUpkeep();
    await harness.runUpkeep();
    expect(await runsOf(heir)).toHaveLength(1);
    expect(await runsOf(own)).toEqual([]);
    const emptied = { 'auto-destroy-activity-duration': null };
    const body = { data: { type: 'projects', attributes: emptied } };
    const { data } = await harness.call('PATCH', `/projects/${project.id}`, body);
    expect(data.attributes['auto-destroy-activity-duration']).toBeNull();
  });

  test('does not use the duration of its project with inherits-project-auto-destroy false', async () => {
    const project = await harness.create(`${O}/projects`, 'projects', {
      name: 'Short lived too',
      'auto-destroy-activity-duration': '6h',
    });
    const id = await makeWorkspace({ 'inherits-project-auto-destroy': false }, project.id);
    const none = {
      'inherits-project-auto-destroy': false,
      'auto-destroy-activity-duration': null,
      'auto-destroy-at': null,
    };
    expect(await attributesOf(id)).toMatchObject(none);
    harness.clock.advance(DAY_MS);
    await harness.runUpkeep();
    expect(await runsOf(id)).toEqual([]);

    const update = (attributes: object) =>
      harness.call('PATCH', `/workspaces/${id}`, { data: { type: 'workspaces', attributes } });
    await update({ 'auto-destroy-activity-duration': '9d' });
    const inherits = { 'inherits-project-auto-destroy': true };
    const { status, errors } = await update({ ...inherits, 'auto-destroy-at': inDays(3) });
    expect([status, errors[0]?.source]).toEqual([
      422,
      { pointer: '/data/attributes/inherits-project-auto-destroy' },
    ]);
    const { data } = await update(inherits);
    expect(data.attributes).toMatchObject({ ...inherits, 'auto-destroy-activity-duration': '6h' });
    await harness.runUpkeep();
    expect(await runsOf(id)).toHaveLength(1);
  });

  test('reports why it cannot be destroyed', async () => {
    const id = await makeWorkspace({
      'auto-destroy-at': inDays(1),
      'allow-destroy-plan': false,
    });
    const local = await makeWorkspace({
      'auto-destroy-at': inDays(1),
      'execution-mode': 'local',
      'agent-pool-id': null,
    });
    const { id: empty } = await harness.create(`${O}/workspaces`, 'workspaces', {
      name: 'empty',
      'auto-destroy-at': inDays(1),
    });
    harness.clock.advance(DAY_MS);
    await harness.runUpkeep();
    for (const unable of [id, local]) {
      expect((await attributesOf(unable))['auto-destroy-status']).toBe('errored');
      expect(await runsOf(unable)).toEqual([]);
    }
    expect((await attributesOf(empty))['auto-destroy-status']).toBe('nothing-to-destroy');
  });

  test('gets an errored run that states the reason if no agent could execute it', async () => {
    const remote = { 'execution-mode': 'remote', 'agent-pool-id': null };
    const id = await makeWorkspace({ 'auto-destroy-at': inDays(1), ...remote });
    harness.clock.advance(DAY_MS);
    await harness.runUpkeep();
    await harness.runUpkeep();
    const runs = await runsOf(id);
    expect(runs.map(({ attributes }) => attributes['status'])).toEqual(['errored']);
    const planId = String(runs[0]?.id).replace('run-', 'plan-');
    const plan = await harness.call('GET', `/plans/${planId}`);
    const log = await harness.transfer('GET', String(plan.data.attributes['log-read-url']));
    expect(log.text).toContain('no agent executes runs of execution mode remote');
    expect((await attributesOf(id))['auto-destroy-status']).toBe('errored');
  });
});
