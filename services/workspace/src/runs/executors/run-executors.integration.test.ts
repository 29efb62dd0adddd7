/** Runs that no agent would ever execute are refused instead of waiting for ever. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
});
afterAll(() => harness[Symbol.asyncDispose]());

let serial = 0;
const upload = async (workspaceId: string, values: object = {}): Promise<void> => {
  const announced = await harness.create(
    `/workspaces/${workspaceId}/configuration-versions`,
    'configuration-versions',
    { 'auto-queue-runs': false, ...values },
  );
  const url = String(announced.attributes['upload-url']);
  await harness.transfer('PUT', url, Uint8Array.of(0x1f, 0x8b));
};
const makeWorkspace = async (values: object = {}): Promise<string> => {
  const name = `app-${(serial += 1)}`;
  const { id } = await harness.create(`${O}/workspaces`, 'workspaces', { name, ...values });
  await upload(id);
  return id;
};

const makePool = async (values: object = {}, relationships: object = {}) => {
  const name = `pool-${(serial += 1)}`;
  const attributes = { name, ...values };
  const pool = await harness.create(`${O}/agent-pools`, 'agent-pools', attributes, {
    relationships,
  });
  const path = `/agent-pools/${pool.id}/authentication-tokens`;
  const made = await harness.create(path, 'authentication-tokens', {});
  const token = String(made.attributes['token']);
  const register = () =>
    harness.call('POST', '/agents', { data: { type: 'agents', attributes: { name } } }, token);
  return { id: pool.id, register };
};

const queue = (workspaceId: string) =>
  harness.call('POST', '/runs', {
    data: {
      type: 'runs',
      attributes: {},
      relationships: { workspace: { data: { type: 'workspaces', id: workspaceId } } },
    },
  });

const REFUSAL = { status: 422, pointer: '/data/relationships/workspace/data/id' };
const outcome = async (workspaceId: string) => {
  const { status, errors } = await queue(workspaceId);
  return { status, pointer: errors[0]?.source?.pointer };
};

describe('a run of a workspace', () => {
  test('queued by an upload is errored without such an agent, and its log states the reason', async () => {
    const workspaceId = await makeWorkspace({ 'execution-mode': 'remote' });
    await upload(workspaceId, { 'auto-queue-runs': true });
    const { list } = await harness.call('GET', `/workspaces/${workspaceId}/runs`);
    expect(list.map(({ attributes }) => attributes['status'])).toEqual(['errored']);
    const planId = String(list[0]?.id).replace('run-', 'plan-');
    const plan = await harness.call('GET', `/plans/${planId}`);
    expect(plan.data.attributes['status']).toBe('errored');
    const log = await harness.transfer('GET', String(plan.data.attributes['log-read-url']));
    expect(log.text).toContain('no agent executes runs of execution mode remote');
    expect(log.text.endsWith('\u0003')).toBe(true);
    const { data } = await harness.call('GET', `/workspaces/${workspaceId}`);
    expect(data.relationships['current-run']?.data).toMatchObject({ id: list[0]?.id });
  });

  test('of mode remote needs an agent in a pool of the organization', async () => {
    const workspaceId = await makeWorkspace({ 'execution-mode': 'remote' });
    expect(await outcome(workspaceId)).toEqual(REFUSAL);
    // Permission to use a pool does not mean that the workspace names it.
    const allowed = { data: [{ type: 'workspaces', id: workspaceId }] };
    const narrow = await makePool(
      { 'organization-scoped': false },
      { 'allowed-workspaces': allowed },
    );
    await narrow.register();
    const entitled = await harness.call('GET', `${O}/entitlement-set`);
    expect(entitled.data.attributes['operations']).toBe(true);
    expect(await outcome(workspaceId)).toEqual(REFUSAL);
    const wide = await makePool();
    expect(await outcome(workspaceId)).toEqual(REFUSAL);
    await wide.register();
    expect((await queue(workspaceId)).status).toBe(201);
  });

  test('of mode remote is refused where the pools exclude the workspace', async () => {
    const workspaceId = await makeWorkspace({ 'execution-mode': 'remote' });
    const { list } = await harness.call('GET', `${O}/agent-pools`);
    const except = { data: [{ type: 'workspaces', id: workspaceId }] };
    for (const { id } of list) {
      const relationships = { 'excluded-workspaces': except };
      const body = { data: { type: 'agent-pools', attributes: {}, relationships } };
      expect((await harness.call('PATCH', `/agent-pools/${id}`, body)).status).toBe(200);
    }
    expect(await outcome(workspaceId)).toEqual(REFUSAL);
  });

  test('of mode agent waits for the agents of its pool, even if it has none yet', async () => {
    const pool = await makePool();
    const workspaceId = await makeWorkspace({
      'execution-mode': 'agent',
      'agent-pool-id': pool.id,
    });
    const { status, data } = await queue(workspaceId);
    expect(status).toBe(201);
    expect(data.attributes['status']).toBe('pending');
  });

  test('of mode agent is refused where the inherited pool excludes the workspace', async () => {
    const pool = await makePool();
    const defaults = { 'default-execution-mode': 'agent', 'default-agent-pool-id': pool.id };
    const organization = { data: { type: 'organizations', attributes: defaults } };
    await harness.call('PATCH', O, organization);
    const workspaceId = await makeWorkspace();
    const relationships = {
      'excluded-workspaces': { data: [{ type: 'workspaces', id: workspaceId }] },
    };
    const body = { data: { type: 'agent-pools', attributes: {}, relationships } };
    expect((await harness.call('PATCH', `/agent-pools/${pool.id}`, body)).status).toBe(200);
    expect(await outcome(workspaceId)).toEqual(REFUSAL);
  });

  test('of mode local is refused', async () => {
    const workspaceId = await makeWorkspace({ 'execution-mode': 'local' });
    expect(await outcome(workspaceId)).toEqual(REFUSAL);
  });
});
