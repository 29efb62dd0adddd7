/** Included resources: every documented name of `include`, on a workspace that has all of them. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';
import { RUNS_WORKSPACE_CONTRIBUTIONS } from '../../runs/runs-module.ts';
import { STATE_WORKSPACE_CONTRIBUTIONS } from '../../state/state-module.ts';
import { toWorkspaceIncludes } from '../seams/workspace-contributions.ts';
import { WORKSPACES_CONTRIBUTIONS } from '../workspaces-module.ts';

const O = '/organizations/acme';
let runs: Awaited<ReturnType<typeof startRunHarness>>;
let workspaceId: string;
let runId: string;
let stateId: string;

const call = (method: string, path: string, body?: unknown, token?: string) =>
  runs.harness.call(method, path, body, token);

const storeState = async (serial: number, relationships: object = {}): Promise<string> => {
  const outputs = { one: { value: 1, type: 'number' } };
  const state = Buffer.from(JSON.stringify({ version: 4, serial, lineage: 'l', outputs }));
  await call('POST', `/workspaces/${workspaceId}/actions/lock`);
  const path = `/workspaces/${workspaceId}/state-versions`;
  const attributes = {
    serial,
    md5: createHash('md5').update(state).digest('hex'),
    state: state.toString('base64'),
  };
  const { id } = await runs.harness.create(path, 'state-versions', attributes, { relationships });
  await call('POST', `/workspaces/${workspaceId}/actions/unlock`);
  return id;
};

let readers = 0;
/** A user whose team has this access to the workspace, or to its project. */
const addReader = async (
  type: 'team-workspaces' | 'team-projects',
  attributes: object,
  id = workspaceId,
) => {
  readers += 1;
  const team = await runs.harness.create(`${O}/teams`, 'teams', { name: `readers-${readers}` });
  const { data } = await call('GET', `/workspaces/${id}`);
  const target =
    type === 'team-workspaces'
      ? { workspace: { data: { type: 'workspaces', id } } }
      : { project: { data: data.relationships['project']?.data } };
  await runs.harness.create(`/${type}`, type, attributes, {
    relationships: { team: { data: { type: 'teams', id: team.id } }, ...target },
  });
  return runs.harness.addUser(`reader-${readers}`, team.id);
};

beforeAll(async () => {
  runs = await startRunHarness();
  workspaceId = await runs.makeWorkspace();
  await runs.uploadTo(workspaceId, {}, { 'main.tf': '', 'README.md': '# All of it' });
  await runs.harness.create(`/workspaces/${workspaceId}/vars`, 'vars', {
    key: 'A',
    category: 'env',
  });
  await call('PATCH', `/workspaces/${workspaceId}/tag-bindings`, {
    data: [{ type: 'tag-bindings', attributes: { key: 'k', value: 'v' } }],
  });
  const first = await runs.queue(workspaceId);
  stateId = await storeState(1, { run: { data: { type: 'runs', id: first } } });
  await runs.act(first, 'discard');
  runId = await runs.queue(workspaceId);
  await runs.claim();
});
afterAll(() => runs.harness[Symbol.asyncDispose]());

const NOTHING: readonly string[] = [];
/** Types by name; `locked_by` includes "runs" because the current run holds the lock. */
const INCLUDED: Readonly<Record<string, readonly string[]>> = {
  agent_pool: ['agent-pools'],
  current_assessment_result: NOTHING,
  current_configuration_version: ['configuration-versions'],
  'current_configuration_version.ingress_attributes': ['configuration-versions'],
  current_run: ['runs'],
  'current_run.apply': ['runs', 'applies'],
  'current_run.configuration_version': ['runs', 'configuration-versions'],
  'current_run.configuration_version.ingress_attributes': ['runs', 'configuration-versions'],
  'current_run.plan': ['runs', 'plans'],
  current_state_version: ['state-versions'],
  'current_state_version.resources_processed': ['state-versions'],
  effective_tag_bindings: ['effective-tag-bindings'],
  latest_run: ['runs'],
  'latest_run.configuration_version': ['runs', 'configuration-versions'],
  'latest_run.configuration_version.ingress_attributes': ['runs', 'configuration-versions'],
  'latest_run.plan': ['runs', 'plans'],
  locked_by: ['runs'],
  no_code_module_version: NOTHING,
  organization: ['organizations'],
  outputs: ['workspace-outputs'],
  project: ['projects'],
  readme: ['workspace-readme'],
  vars: ['vars'],
};

const NAMES = Object.keys(
  toWorkspaceIncludes([
    ...WORKSPACES_CONTRIBUTIONS,
    ...STATE_WORKSPACE_CONTRIBUTIONS,
    ...RUNS_WORKSPACE_CONTRIBUTIONS,
  ]),
);
const EVERYTHING = NAMES.join(',');
const typesOf = (included: readonly { type: string }[]) =>
  [...new Set(included.map(({ type }) => type))].toSorted();

describe('a workspace includes', () => {
  test('the documented relationships, and nothing else', async () => {
    expect(Object.keys(INCLUDED).toSorted()).toEqual(NAMES.toSorted());
    for (const path of [`/workspaces/${workspaceId}`, `${O}/workspaces`]) {
      const { status, errors } = await call('GET', `${path}?include=elsewhere`);
      expect([status, errors[0]?.detail]).toEqual([400, expect.stringContaining('nclude')]);
    }
  });

  test.for(Object.entries(INCLUDED))('%s: %j', async ([name, types]) => {
    const { data } = await call('GET', `/workspaces/${workspaceId}`);
    const byName = `${O}/workspaces/${String(data.attributes['name'])}`;
    for (const written of [name, name.replaceAll('_', '-')]) {
      for (const path of [`/workspaces/${workspaceId}`, byName, `${O}/workspaces`]) {
        const { status, included } = await call('GET', `${path}?include=${written}`);
        expect(status).toBe(200);
        expect(included.map(({ type }) => type)).toEqual(types);
      }
    }
  });

  test('nothing without a relationship that leads to it', async () => {
    const path = `/workspaces/${workspaceId}`;
    for (const name of Object.keys(INCLUDED)) {
      const one = await call('GET', `${path}?include=${name}`);
      const many = await call('GET', `${O}/workspaces?include=${name}`);
      const linked = (resource: { relationships?: Record<string, { data?: unknown }> }) =>
        Object.values(resource.relationships ?? {}).flatMap(({ data }) => data ?? []);
      for (const { data, included } of [one, { ...many, data: many.list[0] ?? many.data }]) {
        const named = [data, ...included].flatMap(linked);
        for (const { id, type } of included) {
          expect(named).toContainEqual({ id, type });
        }
      }
    }
  });

  test('resources with an id of their type', async () => {
    const { included } = await call('GET', `/workspaces/${workspaceId}?include=${EVERYTHING}`);
    const prefixes = {
      'agent-pools': 'apool',
      projects: 'prj',
      runs: 'run',
      plans: 'plan',
      applies: 'apply',
      'configuration-versions': 'cv',
      'state-versions': 'sv',
      'workspace-outputs': 'wsout',
      vars: 'var',
    };
    for (const [type, prefix] of Object.entries(prefixes)) {
      const ids = included.filter((one) => one.type === type).map(({ id }) => id);
      expect([type, ids]).toEqual([
        type,
        [expect.stringMatching(`^${prefix}-[1-9A-HJ-NP-Za-km-z]{16}`)],
      ]);
    }
  });

  test('its current state with addresses that the reader may use', async () => {
    const { included } = await call(
      'GET',
      `/workspaces/${workspaceId}?include=current-state-version`,
    );
    expect(included[0]?.id).toBe(stateId);
    const url = String(included[0]?.attributes['hosted-state-download-url']);
    expect((await runs.harness.transfer('GET', url)).status).toBe(200);
  });

  test('the README of its current configuration', async () => {
    const readme = async () => {
      const { data, included } = await call('GET', `/workspaces/${workspaceId}?include=readme`);
      return [data.relationships['readme']?.data, included[0]?.attributes['raw-markdown']];
    };
    const id = workspaceId.replace('ws-', 'readme-');
    expect(await readme()).toEqual([{ id, type: 'workspace-readme' }, '# All of it']);
    const ofPlan = { 'README.md': 'of a speculative plan' };
    await runs.uploadTo(workspaceId, { speculative: true }, ofPlan);
    expect((await readme())[1]).toBe('# All of it');
    await runs.uploadTo(workspaceId, {}, { 'main.tf': '' });
    expect(await readme()).toEqual([null, undefined]);
    await runs.uploadTo(workspaceId, {}, { 'main.tf': '', 'README.md': '# All of it' });
  });

  test('its organization and its state for the token of a run', async () => {
    const target = `/workspaces/${workspaceId}?include=${EVERYTHING}`;
    const { status, data, included } = await runs.asRun(runId, 'GET', target);
    expect(status).toBe(200);
    expect(typesOf(included)).toEqual(['organizations', 'state-versions', 'workspace-outputs']);
    expect(data.relationships['effective-tag-bindings']).not.toHaveProperty('data');
  });

  test.for([
    [{}, []],
    [{ variables: 'read' }, ['vars']],
    [{ 'state-versions': 'read-outputs' }, ['workspace-outputs']],
    [{ 'state-versions': 'read' }, ['state-versions', 'workspace-outputs']],
  ] as const)('only what a reader with %j may see: %j', async ([rights, types]) => {
    const { token } = await addReader('team-workspaces', { access: 'custom', ...rights });
    for (const path of [`/workspaces/${workspaceId}`, `${O}/workspaces`]) {
      const { included } = await call('GET', `${path}?include=${EVERYTHING}`, undefined, token);
      const guarded = ['vars', 'state-versions', 'workspace-outputs', 'projects'];
      expect(typesOf(included).filter((type) => guarded.includes(type))).toEqual(types);
    }
  });

  test('its project for callers who can see the project', async () => {
    const { token } = await addReader('team-projects', { access: 'read' });
    const path = `/workspaces/${workspaceId}?include=project`;
    expect(typesOf((await call('GET', path, undefined, token)).included)).toEqual(['projects']);
  });

  test('the team that holds its lock for callers who can see the team', async () => {
    const { id } = await runs.harness.create(`${O}/workspaces`, 'workspaces', { name: 'of-team' });
    const holders = await runs.harness.create(`${O}/teams`, 'teams', {
      name: 'holders',
      'organization-access': { 'manage-workspaces': true },
    });
    const tokens = `/teams/${holders.id}/authentication-token`;
    const made = await runs.harness.create(tokens, 'authentication-tokens', {});
    const ofTeam = String(made.attributes['token']);
    await call('POST', `/workspaces/${id}/actions/lock`, undefined, ofTeam);
    const { token } = await addReader('team-workspaces', { access: 'read' }, id);
    const namesFor = async (caller: string) =>
      (await call('GET', `/workspaces/${id}?include=locked_by`, undefined, caller)).included.map(
        ({ attributes }) => attributes['name'],
      );
    expect(await namesFor(ofTeam)).toEqual(['holders']);
    expect(await namesFor(token)).toEqual([]);
    await call('PATCH', `/teams/${holders.id}`, {
      data: { type: 'teams', attributes: { visibility: 'organization' } },
    });
    expect(await namesFor(token)).toEqual(['holders']);
  });

  test('users without their addresses', async () => {
    const { id } = await runs.harness.create(`${O}/workspaces`, 'workspaces', { name: 'of-one' });
    await call('POST', `/workspaces/${id}/actions/lock`);
    for (const target of [
      `/workspaces/${id}?include=locked_by`,
      `/state-versions/${stateId}?include=created_by`,
      `/runs/${runId}?include=created_by`,
      `/runs/${runId}/run-events?include=actor`,
      `${O}/teams?q=owners&include=users`,
    ]) {
      const { included } = await call('GET', target);
      expect(included).toMatchObject([
        { type: 'users', id: expect.stringMatching(/^user-[1-9A-HJ-NP-Za-km-z]{16}$/) as unknown },
      ]);
      expect(included[0]?.attributes).not.toHaveProperty('email');
    }
  });
});

describe('a state version includes', () => {
  const FILTER = 'filter[organization][name]=acme&filter[workspace][name]=';
  const targets = async () => {
    const { data } = await call('GET', `/workspaces/${workspaceId}`);
    return [
      `/state-versions/${stateId}?`,
      `/workspaces/${workspaceId}/current-state-version?`,
      `/state-versions?${FILTER}${String(data.attributes['name'])}&`,
    ];
  };

  test.for([
    ['outputs', ['state-version-outputs']],
    ['created_by', ['users']],
    ['run', ['runs']],
    ['run.created_by', ['runs', 'users']],
    ['run.configuration_version', ['runs', 'configuration-versions']],
    ['run,outputs,created_by', ['state-version-outputs', 'users', 'runs']],
  ] as const)('%s: %j', async ([name, types]) => {
    for (const target of await targets()) {
      const { included } = await call('GET', `${target}include=${name}`);
      expect(included.map(({ type }) => type)).toEqual(types);
    }
  });

  test('nothing else', async () => {
    for (const target of await targets()) {
      expect((await call('GET', `${target}include=elsewhere`)).status).toBe(400);
    }
  });

  test('no run and nothing of a run for the token of a run', async () => {
    const include = 'include=run,run.created_by,run.configuration_version';
    for (const path of [
      `/state-versions/${stateId}`,
      `/workspaces/${workspaceId}/current-state-version`,
    ]) {
      const reply = await runs.asRun(runId, 'GET', `${path}?${include}`);
      expect(reply.status).toBe(200);
      expect(reply.included).toEqual([]);
    }
  });

  test('no run of another workspace, even if its writer named one', async () => {
    const other = await runs.queue(await runs.makeWorkspace());
    await runs.finish(runId);
    await runs.act(runId, 'discard');
    const id = await storeState(2, { run: { data: { type: 'runs', id: other } } });
    const { included } = await call('GET', `/state-versions/${id}?include=run,run.created_by`);
    expect(included).toEqual([]);
  });
});
