/** Agents as records, what their phases leave, and what the token of a run opens. */
import { createHash } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { startRunHarness } from './run-harness.ts';

const O = '/organizations/acme';
const MINUTE_MS = 60_000;
const {
  harness,
  poolId,
  act,
  asPool,
  asRun,
  claim,
  claimAs,
  finish,
  makeWorkspace,
  queue,
  registerAgent,
  report,
  statusOf,
  tokenOf,
  wait,
  workspaceOf,
} = await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

const shown = async (agentId: string) => (await harness.call('GET', `/agents/${agentId}`)).data;
const ping = (agentId: string, attributes: object = {}) =>
  asPool('PATCH', `/agents/${agentId}`, { data: { type: 'agents', attributes } });
const logOf = async (phaseId: string) => {
  const phases = phaseId.startsWith('plan-') ? 'plans' : 'applies';
  const { data } = await harness.call('GET', `/${phases}/${phaseId}`);
  return (await harness.transfer('GET', String(data.attributes['log-read-url']))).text;
};

describe('an agent', () => {
  test('is listed with its pool, and busy while it has a phase', async () => {
    const agentId = await registerAgent('listed');
    expect((await shown(agentId)).attributes).toMatchObject({
      name: 'listed',
      status: 'idle',
      'ip-address': '127.0.0.1',
      'last-ping-at': new Date(harness.clock.nowMs()).toISOString(),
    });
    const runId = await queue(await makeWorkspace(), { 'plan-only': true });
    const claimed = await claimAs(agentId);
    expect(claimed.data.id).toBe(runId);
    const busy = await shown(agentId);
    expect(busy.attributes['status']).toBe('busy');
    expect(busy.relationships['run']?.data).toMatchObject({ id: runId });
    expect((await claimAs(agentId)).status).toBe(409);
    await act(runId, 'cancel');
    await ping(agentId, { status: 'idle' });
    expect(await statusOf(runId)).toBe('errored');
    const { list } = await harness.call('GET', `/agent-pools/${poolId}/agents?page[size]=100`);
    expect(list.map(({ id }) => id)).toContain(agentId);
    const pool = await harness.call('GET', `/agent-pools/${poolId}`);
    expect(pool.data.attributes['agent-count']).toBe(list.length);
    const since = new Date(harness.clock.nowMs() + 1).toISOString();
    const later = await harness.call(
      'GET',
      `/agent-pools/${poolId}/agents?filter[last-ping-since]=${since}`,
    );
    expect(later.list).toEqual([]);
  });

  test('that is silent for a minute loses its phase: the run ends and the lock is free', async () => {
    const agentId = await registerAgent('silent');
    const workspaceId = await makeWorkspace();
    const runId = await queue(workspaceId);
    const { data } = await claimAs(agentId);
    const token = String(data.attributes['token']);
    harness.clock.advance(MINUTE_MS - 1);
    await harness.runUpkeep();
    expect(await statusOf(runId)).toBe('planning');
    harness.clock.advance(1);
    await harness.runUpkeep();
    expect(await statusOf(runId)).toBe('errored');
    expect((await workspaceOf(workspaceId)).attributes).toMatchObject({
      locked: false,
      'run-failures': 1,
    });
    expect((await shown(agentId)).attributes['status']).toBe('errored');
    expect(await logOf(runId.replace('run-', 'plan-'))).toContain('is silent');
    const late = await harness.call('GET', `/agent-runs/${runId}`, undefined, token);
    expect(late.status).toBe(401);
    // It comes back, with nothing to do.
    expect((await ping(agentId)).data.attributes['status']).toBe('idle');
  });

  test('that pings keeps its phase for as long as it takes', async () => {
    const agentId = await registerAgent('patient');
    const runId = await queue(await makeWorkspace(), { 'plan-only': true });
    await claimAs(agentId);
    for (let minutes = 0; minutes < 5; minutes += 1) {
      harness.clock.advance(MINUTE_MS - 1);
      await ping(agentId);
      await harness.runUpkeep();
    }
    expect(await statusOf(runId)).toBe('planning');
    await ping(agentId, { status: 'exited' });
    expect(await statusOf(runId)).toBe('errored');
  });

  test('makes remote operations available to its organization', async () => {
    await harness.create('/organizations', 'organizations', {
      name: 'empty',
      email: 'a@b.example',
    });
    const operations = async (organization: string) =>
      (await harness.call('GET', `/organizations/${organization}/entitlement-set`)).data.attributes[
        'operations'
      ];
    expect(await operations('empty')).toBe(false);
    await registerAgent('another');
    expect(await operations('acme')).toBe(true);
  });

  test('goes with its pool, and so does its phase', async () => {
    const spare = await harness.create(`${O}/agent-pools`, 'agent-pools', { name: 'spare' });
    const tokens = `/agent-pools/${spare.id}/authentication-tokens`;
    const made = await harness.create(tokens, 'authentication-tokens', {});
    const token = String(made.attributes['token']);
    const agent = { data: { type: 'agents', attributes: { name: 'spare' } } };
    const { data } = await harness.call('POST', '/agents', agent, token);
    const body = { data: { type: 'agents', id: data.id } };
    const claimOne = () => harness.call('POST', '/agent-runs/actions/claim', body, token);
    const named = await queue(await makeWorkspace());
    expect((await claimOne()).status).toBe(204);
    // It is an agent of its own pool alone.
    expect((await claimAs(data.id)).status).toBe(404);
    expect((await ping(data.id)).status).toBe(404);
    await act(named, 'discard');
    // Of mode remote: every pool of the organization may take it.
    const runId = await queue(
      await makeWorkspace({ 'execution-mode': 'remote', 'agent-pool-id': '' }),
    );
    expect((await claimOne()).data.id).toBe(runId);
    expect((await harness.call('DELETE', `/agent-pools/${spare.id}`)).status).toBe(204);
    expect(await statusOf(runId)).toBe('errored');
    expect((await harness.call('GET', `/agents/${data.id}`)).status).toBe(404);
    expect(await harness.store.scan(`shared/owned-tokens/${spare.id}/`)).toEqual([]);
  });
});

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const stateText = (serial: number) =>
  JSON.stringify({ version: 4, serial, lineage: 'l-1', outputs: {}, resources: [] });
const storeAs = async (runId: string, workspaceId: string, serial: number) => {
  const attributes = { serial, md5: md5(stateText(serial)), lineage: 'l-1' };
  // A run writes its own states, whatever it names.
  const relationships = { run: { data: { type: 'runs', id: 'run-other' } } };
  const body = { data: { type: 'state-versions', attributes, relationships } };
  const { status, data } = await asRun(
    runId,
    'POST',
    `/workspaces/${workspaceId}/state-versions`,
    body,
  );
  if (status !== 201) return status;
  const url = String(data.attributes['hosted-state-upload-url']);
  return (await harness.transfer('PUT', url, Buffer.from(stateText(serial)))).status;
};
/** A run in its apply. */
const startApply = async (workspaceId: string) => {
  const runId = await queue(workspaceId);
  await claim();
  await finish(runId);
  await act(runId, 'apply');
  await claim();
  return runId;
};

describe('the token of a run', () => {
  test('stores the state of its workspace in the apply, and not before', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await queue(workspaceId);
    await claim();
    expect(await storeAs(runId, workspaceId, 1)).toBe(404);
    await finish(runId);
    await act(runId, 'apply');
    const ofPlan = tokenOf(runId);
    await claim();
    const stale = await harness.call('GET', `/workspaces/${workspaceId}`, undefined, ofPlan);
    expect(stale.status).toBe(401);
    expect(await storeAs(runId, workspaceId, 1)).toBe(204);
    await finish(runId);
    const { data } = await harness.call('GET', `/workspaces/${workspaceId}/current-state-version`);
    expect(data.relationships['run']?.data).toEqual({ id: runId, type: 'runs' });
    expect(data.relationships['created-by']?.data).toEqual({ id: runId, type: 'runs' });
    const apply = await harness.call('GET', `/applies/${runId.replace('run-', 'apply-')}`);
    expect(apply.data.relationships['state-versions']?.data).toEqual([
      { id: data.id, type: 'state-versions' },
    ]);
    const made = `/state-versions/${data.id}?include=run,run.configuration_version`;
    const { included } = await harness.call('GET', made);
    expect(included.map(({ type }) => type)).toEqual(['runs', 'configuration-versions']);
    expect(included[0]?.id).toBe(runId);
    expect(await storeAs(runId, workspaceId, 2)).toBe(401);
    const next = await queue(workspaceId, { 'plan-only': true, 'target-addrs': ['a.b'] });
    const attributes = (await claim())?.attributes;
    expect(attributes?.['target-addrs']).toEqual(['a.b']);
    const stored = await harness.transfer('GET', String(attributes?.['state-download-url']));
    expect(stored.text).toBe(stateText(1));
    await finish(next);
  });

  test('tells what to run, with which values', async () => {
    const workspaceId = await makeWorkspace({ 'working-directory': '/deep/down' });
    const path = `/workspaces/${workspaceId}/vars`;
    const own = { key: 'region', value: 'x', category: 'env', hcl: false, sensitive: true };
    await harness.create(path, 'vars', own);
    const given = { key: 'size', value: '3' };
    const runId = await queue(workspaceId, { 'plan-only': true, variables: [given] });
    expect((await claim())?.attributes).toMatchObject({
      'working-directory': 'deep/down',
      variables: [own, { ...given, category: 'terraform', hcl: true, sensitive: false }],
    });
    await finish(runId);
  });

  test('speaks for no other run', async () => {
    const one = await queue(await makeWorkspace(), { 'plan-only': true });
    const other = await queue(await makeWorkspace(), { 'plan-only': true });
    for (const id of [one, other]) expect((await claim())?.id).toBe(id);
    const path = `/agent-runs/${other}`;
    const end = { data: { type: 'agent-runs', attributes: { status: 'errored' } } };
    const log = { data: { type: 'logs', attributes: { text: 'x' } } };
    expect((await asRun(one, 'GET', path)).status).toBe(404);
    expect((await asRun(one, 'PATCH', path, end)).status).toBe(404);
    expect((await asRun(one, 'POST', `${path}/logs`, log)).status).toBe(404);
    for (const id of [one, other]) await finish(id);
  });

  test('does not leave a state that is still to come in the way', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await startApply(workspaceId);
    const attributes = { serial: 1, md5: md5(stateText(1)), lineage: 'l-1' };
    const announced = await asRun(runId, 'POST', `/workspaces/${workspaceId}/state-versions`, {
      data: { type: 'state-versions', attributes },
    });
    await report(runId, { status: 'errored' });
    const version = await harness.call('GET', `/state-versions/${announced.data.id}`);
    expect(version.data.attributes['status']).toBe('discarded');
    expect((await harness.call('POST', `/workspaces/${workspaceId}/actions/lock`)).status).toBe(
      200,
    );
    expect((await harness.call('POST', `/workspaces/${workspaceId}/actions/unlock`)).status).toBe(
      200,
    );
  });

  test.for([
    ['nobody', {}, 404],
    ['all of the organization', { 'global-remote-state': true }, 200],
    ['its project', { 'project-remote-state': true }, 200],
  ] as const)(
    'reads the state of a workspace that is shared with %s',
    async ([, shared, status]) => {
      const producer = await makeWorkspace();
      const written = await startApply(producer);
      await storeAs(written, producer, 1);
      await finish(written);
      await harness.call('PATCH', `/workspaces/${producer}`, {
        data: { type: 'workspaces', attributes: shared },
      });
      const consumer = await makeWorkspace();
      const runId = await queue(consumer, { 'plan-only': true });
      await claim();
      const { attributes } = await workspaceOf(producer);
      for (const target of [
        `/workspaces/${producer}`,
        `${O}/workspaces/${String(attributes['name'])}`,
        `/workspaces/${producer}/current-state-version`,
        `/workspaces/${producer}/current-state-version-outputs`,
      ]) {
        expect([target, (await asRun(runId, 'GET', target)).status]).toEqual([target, status]);
      }
      // Nothing but the state.
      expect((await asRun(runId, 'GET', `/workspaces/${producer}/vars`)).status).toBe(404);
      expect(await storeAs(runId, producer, 2)).toBe(404);
      await finish(runId);
    },
  );

  test('reads the state of a workspace that names its own as a consumer, until it does not', async () => {
    const producer = await makeWorkspace();
    const consumer = await makeWorkspace();
    const runId = await queue(consumer, { 'plan-only': true });
    await claim();
    const read = async () => (await asRun(runId, 'GET', `/workspaces/${producer}`)).status;
    const consumers = `/workspaces/${producer}/relationships/remote-state-consumers`;
    const body = { data: [{ type: 'workspaces', id: consumer }] };
    expect(await read()).toBe(404);
    await harness.call('POST', consumers, body);
    expect(await read()).toBe(200);
    await harness.call('DELETE', consumers, body);
    expect(await read()).toBe(404);
    await finish(runId);
  });
});

describe('the files of a run', () => {
  const pathOf = (address: string) => new URL(address).pathname;
  const redirected = async (target: string) => {
    const { status, location } = await harness.call('GET', target);
    return { status, location };
  };

  test('are read where the API points to, once the agent has put them', async () => {
    const runId = await queue(await makeWorkspace());
    const claimed = await claim();
    const planId = runId.replace('run-', 'plan-');
    const output = `/plans/${planId}/json-output`;
    expect(await redirected(output)).toEqual({ status: 204, location: undefined });
    const put = async (name: string, text: string) =>
      (await harness.transfer('PUT', String(claimed?.attributes[name]), Buffer.from(text))).status;
    expect(await put('json-output-upload-url', '{"all":1}')).toBe(204);
    expect(await put('json-output-redacted-upload-url', '{"some":1}')).toBe(204);
    expect(await put('plan-file-upload-url', 'first')).toBe(204);
    expect(await put('plan-file-upload-url', 'again')).toBe(204);
    for (const [target, text] of [
      [output, '{"all":1}'],
      [`/runs/${runId}/plan/json-output`, '{"all":1}'],
      [`/plans/${planId}/json-output-redacted`, '{"some":1}'],
      [`/runs/${runId}/plan/json-output-redacted`, '{"some":1}'],
    ] as const) {
      const { status, location = '' } = await redirected(target);
      expect(status).toBe(307);
      expect(pathOf(location)).toContain('/downloads/run-files/');
      expect(await harness.transfer('GET', location)).toEqual({ status: 200, text });
      await wait(MINUTE_MS);
      expect((await harness.transfer('GET', location)).status).toBe(403);
    }
    await finish(runId);
    expect(await put('plan-file-upload-url', 'late')).toBe(409);
    await act(runId, 'apply');
    const applying = await claim();
    const plan = String(applying?.attributes['plan-file-download-url']);
    expect((await harness.transfer('GET', plan)).text).toBe('again');
    const erroredState = String(applying?.attributes['errored-state-upload-url']);
    await report(runId, { status: 'errored' });
    // The state that could not be stored comes when everything is over.
    expect((await harness.transfer('PUT', erroredState, Buffer.from('{}'))).status).toBe(204);
    const applyId = runId.replace('run-', 'apply-');
    const { location = '' } = await redirected(`/applies/${applyId}/errored-state`);
    expect((await harness.transfer('GET', location)).text).toBe('{}');
  });

  test('are the configuration too', async () => {
    const runId = await queue(await makeWorkspace());
    const { data } = await harness.call('GET', `/runs/${runId}`);
    const version = data.relationships['configuration-version']?.data as { id: string };
    for (const target of [
      `/configuration-versions/${version.id}/download`,
      `/runs/${runId}/configuration-version/download`,
    ]) {
      const { status, location = '' } = await redirected(target);
      expect(status).toBe(302);
      expect((await harness.transfer('GET', location)).status).toBe(200);
    }
    await act(runId, 'discard');
  });
});

// The last ones: a day later no agent of the others is left.
describe('an agent that is gone', () => {
  test('is deleted, or forgotten after a day', async () => {
    const [left, forgotten] = [await registerAgent('left'), await registerAgent('forgotten')];
    const remove = async () => (await harness.call('DELETE', `/agents/${left}`)).status;
    expect(await remove()).toBe(412);
    await ping(left, { status: 'exited' });
    expect((await shown(left)).attributes['status']).toBe('exited');
    expect(await remove()).toBe(204);
    await ping(forgotten, { status: 'exited' });
    harness.clock.advance(24 * 60 * MINUTE_MS);
    await harness.runUpkeep();
    expect((await harness.call('GET', `/agents/${forgotten}`)).status).toBe(404);
  });
});

test('the token of a run ends after a day, if its phase has not', async () => {
  const runId = await queue(await makeWorkspace(), { 'plan-only': true });
  const { data } = await claimAs(await registerAgent('slow'));
  expect(data.id).toBe(runId);
  const token = String(data.attributes['token']);
  const isGood = async () =>
    (await harness.call('GET', `/agent-runs/${runId}`, undefined, token)).status === 200;
  harness.clock.advance(24 * 60 * MINUTE_MS - 1);
  expect(await isGood()).toBe(true);
  harness.clock.advance(1);
  expect(await isGood()).toBe(false);
});
