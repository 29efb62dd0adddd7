/** Records of agents, and the permissions of the token of a run. */
import { createHash } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

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

const memberTeam = async (): Promise<string> =>
  (await harness.create('/organizations/acme/teams', 'teams', { name: 'without-access' })).id;

/** Another pool, and a token for its agents. */
const makePool = async (organization: string, name: string) => {
  const path = `/organizations/${organization}/agent-pools`;
  const { id } = await harness.create(path, 'agent-pools', { name });
  const tokens = `/agent-pools/${id}/authentication-tokens`;
  const made = await harness.create(tokens, 'authentication-tokens', {});
  return { id, token: String(made.attributes['token']) };
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
    const member = await harness.addUser('reader-of-agents', await memberTeam());
    for (const path of [`/agents/${agentId}`, `/agent-pools/${poolId}/agents`]) {
      const seen = await harness.call('GET', path, undefined, member.token);
      const agents = seen.list.length > 0 ? seen.list : [seen.data];
      expect(agents.map(({ attributes }) => attributes['ip-address'])).toEqual(
        agents.map(() => null),
      );
    }
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
    // The agent restarts without a phase.
    expect((await ping(agentId)).data.attributes['status']).toBe('idle');
  });

  test('that pings keeps its phase without a time limit', async () => {
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

  test('that claims a phase counts as present, whatever it reported before', async () => {
    const agentId = await registerAgent('returning');
    await ping(agentId, { status: 'exited' });
    const runId = await queue(await makeWorkspace(), { 'plan-only': true });
    await wait(MINUTE_MS - 1);
    expect((await claimAs(agentId)).status).toBe(200);
    expect((await shown(agentId)).attributes['status']).toBe('busy');
    await wait(MINUTE_MS - 1);
    await harness.runUpkeep();
    expect(await statusOf(runId)).toBe('planning');
    await ping(agentId, { status: 'exited' });
  });

  test('gets one phase at a time, also when it asks twice concurrently', async () => {
    const agentId = await registerAgent('hasty');
    const runIds = [await queue(await makeWorkspace()), await queue(await makeWorkspace())];
    const replies = await Promise.all([claimAs(agentId), claimAs(agentId)]);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 409]));
    await ping(agentId, { status: 'exited' });
    expect(await statusOf(runIds[0] ?? '')).toBe('errored');
    await act(runIds[1] ?? '', 'discard');
  });

  test('is idle again when its run is abandoned', async () => {
    const agentId = await registerAgent('freed');
    const status = async () => (await shown(agentId)).attributes['status'];
    const runId = await queue(await makeWorkspace());
    await claimAs(agentId);
    await act(runId, 'cancel');
    for (let passed = 0; passed < MINUTE_MS; passed += MINUTE_MS / 2) {
      await wait(MINUTE_MS / 2);
      await ping(agentId);
    }
    expect(await status()).toBe('busy');
    expect(await act(runId, 'force-cancel')).toBe(202);
    expect(await status()).toBe('idle');
    await ping(agentId, { status: 'exited' });
  });

  test('does not discard states that another client uploads while it only plans', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await queue(workspaceId, { 'plan-only': true });
    await claim();
    const W = `/workspaces/${workspaceId}`;
    await harness.call('POST', `${W}/actions/lock`);
    const text = stateText(1);
    const attributes = { serial: 1, md5: md5(text) };
    const { data } = await harness.call('POST', `${W}/state-versions`, {
      data: { type: 'state-versions', attributes },
    });
    await finish(runId);
    const url = String(data.attributes['hosted-state-upload-url']);
    expect((await harness.transfer('PUT', url, Buffer.from(text))).status).toBe(204);
    expect((await harness.call('POST', `${W}/actions/unlock`)).status).toBe(200);
  });

  test('makes remote operations available to its organization until it is forgotten', async () => {
    const attributes = { name: 'empty', email: 'a@b.example' };
    await harness.create('/organizations', 'organizations', attributes);
    const operations = async () =>
      (await harness.call('GET', '/organizations/empty/entitlement-set')).data.attributes[
        'operations'
      ];
    expect(await operations()).toBe(false);
    const { token } = await makePool('empty', 'first');
    const agent = { data: { type: 'agents', attributes: { name: 'only' } } };
    const { data } = await harness.call('POST', '/agents', agent, token);
    expect(await operations()).toBe(true);
    const gone = { data: { type: 'agents', attributes: { status: 'exited' } } };
    await harness.call('PATCH', `/agents/${data.id}`, gone, token);
    await harness.call('DELETE', `/agents/${data.id}`);
    expect(await operations()).toBe(false);
  });

  test('is listed in the order of registration, in pages, from its last ping on', async () => {
    const { id, token } = await makePool('acme', 'listed');
    const made: string[] = [];
    for (const name of ['c', 'b', 'a']) {
      harness.clock.advance(1);
      const agent = { data: { type: 'agents', attributes: { name } } };
      made.push((await harness.call('POST', '/agents', agent, token)).data.id);
    }
    const list = async (query: string) =>
      (await harness.call('GET', `/agent-pools/${id}/agents?${query}`)).list.map((one) => one.id);
    expect(await list('')).toEqual(made);
    expect(await list('page[size]=2&page[number]=2')).toEqual(made.slice(2));
    const since = new Date(harness.clock.nowMs() - 1).toISOString();
    expect(await list(`filter[last-ping-since]=${since}`)).toEqual(made.slice(1));
  });

  test('is removed with its pool, and its phase ends', async () => {
    const { id: spareId, token } = await makePool('acme', 'spare');
    const agent = { data: { type: 'agents', attributes: { name: 'spare' } } };
    const { data } = await harness.call('POST', '/agents', agent, token);
    const body = { data: { type: 'agents', id: data.id } };
    const claimOne = () => harness.call('POST', '/agent-runs/actions/claim', body, token);
    const named = await queue(await makeWorkspace());
    expect((await claimOne()).status).toBe(204);
    // The agent belongs to its own pool only.
    expect((await claimAs(data.id)).status).toBe(404);
    expect((await ping(data.id)).status).toBe(404);
    await act(named, 'discard');
    // Every pool that the organization may use can claim a run in mode `remote`.
    const runId = await queue(
      await makeWorkspace({ 'execution-mode': 'remote', 'agent-pool-id': '' }),
    );
    expect((await claimOne()).data.id).toBe(runId);
    expect((await harness.call('DELETE', `/agent-pools/${spareId}`)).status).toBe(204);
    expect(await statusOf(runId)).toBe('errored');
    expect((await harness.call('GET', `/agents/${data.id}`)).status).toBe(404);
    expect(await harness.store.scan(`shared/owned-tokens/${spareId}/`)).toEqual([]);
  });
});

describe('the SSH key of a workspace', () => {
  const privateKey = '-----BEGIN OPENSSH PRIVATE KEY-----';
  const KEYS = `${O}/ssh-keys`;
  const makeKey = async () =>
    (await harness.create(KEYS, 'ssh-keys', { name: 'modules', value: privateKey })).id;
  const assign = (workspaceId: string, id: string | null) =>
    harness.call('PATCH', `/workspaces/${workspaceId}/relationships/ssh-key`, {
      data: { type: 'workspaces', attributes: { id } },
    });

  test('reaches the agent with each phase, once, and nobody else', async () => {
    const workspaceId = await makeWorkspace();
    const assigned = await assign(workspaceId, await makeKey());
    expect(assigned.meta).toBeUndefined();
    const runId = await queue(workspaceId);
    for (const phase of ['plan', 'apply']) {
      const claimed = await claim();
      expect(claimed?.attributes).toMatchObject({ phase, 'ssh-private-key': privateKey });
      // The run's own code can use its token.
      const again = await asRun(runId, 'GET', `/agent-runs/${runId}`);
      expect(again.status).toBe(200);
      expect(JSON.stringify(again)).not.toContain(privateKey);
      await finish(runId);
      await act(runId, 'apply');
    }
    expect(await statusOf(runId)).toBe('applied');
  });

  test('is the one of the workspace, and not given out once it is taken away or deleted', async () => {
    const keyId = await makeKey();
    const [without, taken, deleted] = [
      await makeWorkspace(),
      await makeWorkspace(),
      await makeWorkspace(),
    ];
    for (const id of [taken, deleted]) await assign(id, keyId);
    await assign(taken, null);
    await harness.call('DELETE', `/ssh-keys/${keyId}`);
    for (const id of [without, taken, deleted]) {
      const runId = await queue(id, { 'plan-only': true });
      const agentId = await registerAgent('keyless');
      const claimed = await claimAs(agentId);
      expect(claimed.data.id).toBe(runId);
      expect(claimed.data.attributes).not.toHaveProperty('ssh-private-key');
      await ping(agentId, { status: 'exited' });
    }
  });
});

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const stateText = (serial: number) =>
  JSON.stringify({ version: 4, serial, lineage: 'l-1', outputs: {}, resources: [] });
const storeAs = async (runId: string, workspaceId: string, serial: number, more: object = {}) => {
  const attributes = { serial, md5: md5(stateText(serial)), lineage: 'l-1', ...more };
  // The token of a run writes states as its own run, whichever run the request names.
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
/** A run in its apply phase. */
const startApply = async (workspaceId: string) => {
  const runId = await queue(workspaceId);
  await claim();
  await finish(runId);
  await act(runId, 'apply');
  await claim();
  return runId;
};

describe('the token of a run', () => {
  test('can store the state of its workspace during the apply, and not before', async () => {
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

  test('reads what to run, with which values', async () => {
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

  test.for([
    [{}, {}],
    [{ 'is-destroy': true }, { 'is-destroy': true }],
    [{ refresh: false }, { refresh: false }],
    [{ 'refresh-only': true }, { 'refresh-only': true }],
    [{ 'target-addrs': ['a.b'] }, { 'target-addrs': ['a.b'] }],
    [{ 'replace-addrs': ['c.d'] }, { 'replace-addrs': ['c.d'] }],
    [{ 'plan-only': true, 'terraform-version': '1.5.7' }, { 'runtime-version': '1.5.7' }],
  ] as const)('reads a run with %j as %j', async ([given, told]) => {
    const workspaceId = await makeWorkspace({ 'runtime-version': '~> 1.10.0' });
    const runId = await queue(workspaceId, given);
    const phase = await claim();
    const { attributes } = await workspaceOf(workspaceId);
    expect(phase?.attributes).toMatchObject({
      phase: 'plan',
      'organization-name': 'acme',
      'workspace-id': workspaceId,
      'workspace-name': attributes['name'],
      'runtime-version': '1.10.5',
      'is-destroy': false,
      refresh: true,
      'refresh-only': false,
      'is-assessment': false,
      'target-addrs': [],
      'replace-addrs': [],
      ...told,
    });
    await finish(runId, false);
  });

  test('gives no access to another run', async () => {
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

  test('leaves no pending state behind when the run ends', async () => {
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

  test('stores intermediate states, of which the newest becomes current if the apply is interrupted', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await startApply(workspaceId);
    const current = async () =>
      (await harness.call('GET', `/workspaces/${workspaceId}/current-state-version`)).data;
    for (const serial of [1, 2]) {
      expect(await storeAs(runId, workspaceId, serial, { intermediate: true })).toBe(204);
    }
    expect(await storeAs(runId, workspaceId, 1, { intermediate: true })).toBe(409);
    expect(await current()).toBeUndefined();
    // A state of another workspace does not belong to this apply, whichever run its writer names.
    const other = `/workspaces/${await makeWorkspace()}`;
    await harness.call('POST', `${other}/actions/lock`);
    const attributes = { serial: 1, md5: md5(stateText(1)), state: btoa(stateText(1)) };
    const relationships = { run: { data: { type: 'runs', id: runId } } };
    const elsewhere = { data: { type: 'state-versions', attributes, relationships } };
    expect((await harness.call('POST', `${other}/state-versions`, elsewhere)).status).toBe(201);
    await report(runId, { status: 'errored' });
    expect((await current()).attributes['serial']).toBe(2);
    const { data } = await harness.call('GET', `/applies/${runId.replace('run-', 'apply-')}`);
    expect(data.relationships['state-versions']?.data).toHaveLength(2);
    expect((await workspaceOf(workspaceId)).attributes['locked']).toBe(false);
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
      // Nothing except the state.
      expect((await asRun(runId, 'GET', `/workspaces/${producer}/vars`)).status).toBe(404);
      expect(await storeAs(runId, producer, 2)).toBe(404);
      await finish(runId);
    },
  );

  test('reads the state of a workspace while that workspace names its own as a consumer', async () => {
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

// Last, because a day later none of the other tests' agents is left.
describe('an agent that is gone', () => {
  test('can be deleted, and is forgotten after a day', async () => {
    const [left, forgotten] = [await registerAgent('left'), await registerAgent('forgotten')];
    const remove = async () => (await harness.call('DELETE', `/agents/${left}`)).status;
    expect(await remove()).toBe(412);
    await ping(left, { status: 'exited' });
    expect((await shown(left)).attributes['status']).toBe('exited');
    expect(await remove()).toBe(204);
    await ping(forgotten, { status: 'exited' });
    harness.clock.advance(24 * 60 * MINUTE_MS - 1);
    await harness.runUpkeep();
    expect((await harness.call('GET', `/agents/${forgotten}`)).status).toBe(200);
    harness.clock.advance(1);
    await harness.runUpkeep();
    expect((await harness.call('GET', `/agents/${forgotten}`)).status).toBe(404);
  });
});

test('the token of a run expires after a day, even if its phase continues', async () => {
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
