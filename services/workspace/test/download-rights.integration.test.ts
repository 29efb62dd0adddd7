/** An address of a download carries the rights of the token it was made for, and ends with them. */
import { afterAll, describe, expect, test } from 'vitest';
import { ENDS, narrow, type TeamWithAccess, teamWith } from './ended-rights.ts';
import { startRunHarness } from './run-harness.ts';
import { uploadsTo, url } from './state-uploads.ts';
import type { Harness } from './workspace-harness.ts';

const O = '/organizations/acme';
const { harness, makeWorkspace, queue, claim, finish, asRun, act, report } =
  await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

const { 'the grant is narrowed to reading': _, ...ENDS_OF_READING } = ENDS;

let serial = 0;
const makeProject = async () =>
  (await harness.create(`${O}/projects`, 'projects', { name: `project-${(serial += 1)}` })).id;

/** Further ways in which the right to read ends. */
const FURTHER_ENDS = {
  'the member leaves the organization': async (on: Harness, { memberId }: TeamWithAccess) => {
    const { list } = await on.call('GET', `${O}/organization-memberships?page[size]=100`);
    const own = list.find(
      ({ relationships }) =>
        (relationships['user']?.data as { id: string } | undefined)?.id === memberId,
    );
    return on.call('DELETE', `/organization-memberships/${own?.id}`);
  },
  'the team is deleted': (on: Harness, { teamId }: TeamWithAccess) =>
    on.call('DELETE', `/teams/${teamId}`),
} as const;

/** A workspace with a state, a configuration and a run that has planned. */
const populate = async (attributes: object = {}) => {
  const workspaceId = await makeWorkspace(attributes);
  const states = uploadsTo(harness, workspaceId);
  await states.lock();
  const { data } = await states.upload(1);
  await harness.transfer('PUT', url(data, 'json-state-upload'), Buffer.from('{"values":{}}'));
  await states.unlock();
  const runId = await queue(workspaceId);
  const claimed = await claim();
  const output = String(claimed?.attributes['json-output-upload-url']);
  await harness.transfer('PUT', output, Buffer.from('{}'));
  await finish(runId);
  const run = await harness.call('GET', `/runs/${runId}?include=configuration_version`);
  const configuration = run.data.relationships['configuration-version']?.data as { id: string };
  return { workspaceId, runId, configurationId: configuration.id };
};

/** Every address of a download that the token is given. */
const addressesFor = async (
  { workspaceId, runId, configurationId }: Awaited<ReturnType<typeof populate>>,
  token: string,
) => {
  const get = (target: string) => harness.call('GET', target, undefined, token);
  const state = await get(`/workspaces/${workspaceId}/current-state-version`);
  const included = await get(`/workspaces/${workspaceId}?include=current_state_version`);
  const list = await get(
    `/state-versions?filter[organization][name]=acme&filter[workspace][name]=${String(included.data.attributes['name'])}`,
  );
  const plan = await get(`/plans/${runId.replace('run-', 'plan-')}`);
  const ofRun = await get(`/runs/${runId}?include=plan`);
  return {
    state: url(state.data, 'state-download'),
    'state as JSON': url(state.data, 'json-state-download'),
    'included state': url(included.included[0] ?? { attributes: {} }, 'state-download'),
    'listed state': url(list.list[0] ?? { attributes: {} }, 'state-download'),
    configuration: (await get(`/configuration-versions/${configurationId}/download`)).location,
    'configuration of a run': (await get(`/runs/${runId}/configuration-version/download`)).location,
    log: String(plan.data.attributes['log-read-url']),
    'included log': String(ofRun.included[0]?.attributes['log-read-url']),
    'plan as JSON': (await get(`/plans/${runId.replace('run-', 'plan-')}/json-output`)).location,
  };
};

const statusesOf = async (addresses: Awaited<ReturnType<typeof addressesFor>>) => {
  const statuses: Record<string, number> = {};
  for (const [name, address] of Object.entries(addresses))
    statuses[name] = (await harness.transfer('GET', address ?? '')).status;
  return statuses;
};

const all = (addresses: object, status: number) =>
  Object.fromEntries(Object.keys(addresses).map((name) => [name, status]));

describe.for(Object.entries({ ...ENDS_OF_READING, ...FURTHER_ENDS }))('once %s', ([, end]) => {
  test('the addresses that the member was given open nothing', async () => {
    const populated = await populate();
    const team = await teamWith(harness, populated.workspaceId, { access: 'admin' });
    const addresses = await addressesFor(populated, team.tokens.member);
    expect(await statusesOf(addresses)).toEqual(all(addresses, 200));
    await end(harness, team);
    expect(await statusesOf(addresses)).toEqual(all(addresses, 404));
    await act(populated.runId, 'discard');
  });
});

test('an address follows what the token may read now: narrowed, and given back', async () => {
  const populated = await populate();
  const team = await teamWith(harness, populated.workspaceId, { access: 'admin' });
  const addresses = await addressesFor(populated, team.tokens.team);
  await narrow(harness, team, 'read');
  expect(await statusesOf(addresses)).toEqual({ ...all(addresses, 200), 'plan as JSON': 404 });
  await harness.call('PATCH', `/team-workspaces/${team.grantId}`, {
    data: {
      type: 'team-workspaces',
      attributes: { access: 'custom', runs: 'read', 'state-versions': 'none' },
    },
  });
  const statuses = await statusesOf(addresses);
  expect([statuses['state'], statuses['state as JSON'], statuses['log']]).toEqual([404, 404, 200]);
  await narrow(harness, team, 'admin');
  expect(await statusesOf(addresses)).toEqual(all(addresses, 200));
  await act(populated.runId, 'discard');
});

test('a workspace that moves to another project takes its addresses from the former readers', async () => {
  const [from, to] = [await makeProject(), await makeProject()];
  const populated = await populate();
  const move = (id: string) =>
    harness.call('PATCH', `/workspaces/${populated.workspaceId}`, {
      data: {
        type: 'workspaces',
        attributes: {},
        relationships: { project: { data: { type: 'projects', id } } },
      },
    });
  await move(from);
  const team = await harness.create(`${O}/teams`, 'teams', { name: 'readers-of-a-project' });
  await harness.create(
    '/team-projects',
    'team-projects',
    { access: 'admin' },
    {
      relationships: {
        team: { data: { type: 'teams', id: team.id } },
        project: { data: { type: 'projects', id: from } },
      },
    },
  );
  const { token } = await harness.addUser('reader-of-a-project', team.id);
  const addresses = await addressesFor(populated, token);
  expect(await statusesOf(addresses)).toEqual(all(addresses, 200));
  expect((await move(to)).status).toBe(200);
  expect(await statusesOf(addresses)).toEqual(all(addresses, 404));
  await act(populated.runId, 'discard');
});

test('an address names its token, and another token in it breaks the signature', async () => {
  const populated = await populate();
  const first = await teamWith(harness, populated.workspaceId, { access: 'admin' });
  const second = await teamWith(harness, populated.workspaceId, { access: 'admin' });
  const addresses = await addressesFor(populated, first.tokens.member);
  const tokens = await harness.call('GET', `/users/${second.memberId}/authentication-tokens`);
  for (const [name, address = ''] of Object.entries(addresses)) {
    const changed = address.replace(/at-\w+/, tokens.list[0]?.id ?? '');
    expect([name, (await harness.transfer('GET', changed)).status]).toEqual([name, 403]);
  }
  await act(populated.runId, 'discard');
});

test('the addresses of a phase end with it, and serve its configuration, state and plan', async () => {
  const workspaceId = await makeWorkspace();
  const states = uploadsTo(harness, workspaceId);
  await states.lock();
  await states.upload(1);
  await states.unlock();
  const runId = await queue(workspaceId, { 'auto-apply': true });
  const planning = await claim();
  const planFile = String(planning?.attributes['plan-file-upload-url']);
  expect((await harness.transfer('PUT', planFile, Buffer.from('plan'))).status).toBe(204);
  const statusOf = async (name: string, of = planning) =>
    (await harness.transfer('GET', String(of?.attributes[`${name}-download-url`]))).status;
  for (const name of ['configuration', 'state']) expect(await statusOf(name)).toBe(200);
  const shown = await asRun(runId, 'GET', `/agent-runs/${runId}`);
  expect(await statusOf('configuration', shown.data)).toBe(200);
  await finish(runId);
  for (const name of ['configuration', 'state']) expect(await statusOf(name)).toBe(404);
  const applying = await claim();
  for (const name of ['configuration', 'state', 'plan-file'])
    expect([name, await statusOf(name, applying)]).toEqual([name, 200]);
  expect(await report(runId, { status: 'errored' })).toBe(204);
  for (const name of ['configuration', 'state', 'plan-file'])
    expect([name, await statusOf(name, applying)]).toEqual([name, 404]);
});
