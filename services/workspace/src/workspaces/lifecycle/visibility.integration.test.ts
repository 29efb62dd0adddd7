/** Included and linked resources never reveal what the caller may not see. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const O = '/organizations/acme';
let runs: Awaited<ReturnType<typeof startRunHarness>>;
let seenId: string;
let hiddenId: string;
let hiddenProjectId: string;

const call = (method: string, path: string, body?: unknown, token?: string) =>
  runs.harness.call(method, path, body, token);
/** The ids in a relationship. */
const idsOf = (data: unknown): readonly string[] =>
  [data ?? []].flat().map((named) => (named as { id: string }).id);
const refer = (type: string, id: string) => ({ data: { type, id } });

let serial = 0;
/** A user in a secret team without other members. */
const addMember = async (access: object = {}) => {
  serial += 1;
  const team = await runs.harness.create(`${O}/teams`, 'teams', {
    name: `team-${serial}`,
    'organization-access': access,
  });
  const { token } = await runs.harness.addUser(`user-${serial}`, team.id);
  return { teamId: team.id, token };
};
const grant = (teamId: string, workspaceId: string, attributes: object, token?: string) =>
  call(
    'POST',
    '/team-workspaces',
    {
      data: {
        type: 'team-workspaces',
        attributes,
        relationships: {
          team: refer('teams', teamId),
          workspace: refer('workspaces', workspaceId),
        },
      },
    },
    token,
  );
/** A member with these rights on the only workspace that it sees. */
const addReader = async (attributes: object = { access: 'read' }) => {
  const member = await addMember();
  await grant(member.teamId, seenId, attributes);
  return member;
};
const custom = (rights: object) => addReader({ access: 'custom', ...rights });
const announceState = async (serialOfState: number, text: string, more: object = {}) =>
  (
    await runs.harness.create(`/workspaces/${seenId}/state-versions`, 'state-versions', {
      serial: serialOfState,
      md5: createHash('md5').update(text).digest('hex'),
      ...more,
    })
  ).id;
const tagsOf = (workspaceId: string, ...names: readonly string[]) =>
  call('POST', `/workspaces/${workspaceId}/relationships/tags`, {
    data: names.map((name) => ({ type: 'tags', attributes: { name } })),
  });

beforeAll(async () => {
  runs = await startRunHarness();
  seenId = await runs.makeWorkspace({ name: 'seen' });
  hiddenProjectId = (await runs.harness.create(`${O}/projects`, 'projects', { name: 'Hidden' })).id;
  hiddenId = await runs.makeWorkspace({ name: 'hidden' });
  await call('POST', `/projects/${hiddenProjectId}/relationships/workspaces`, {
    data: [{ type: 'workspaces', id: hiddenId }],
  });
  await call('POST', `/workspaces/${seenId}/vars`, {
    data: { type: 'vars', attributes: { key: 'A', category: 'env' } },
  });
  await call('POST', `/workspaces/${seenId}/actions/lock`);
  const outputs = { one: { value: 1, type: 'number' } };
  const text = JSON.stringify({ version: 4, serial: 1, lineage: 'l', outputs });
  await announceState(1, text, { state: Buffer.from(text).toString('base64') });
  await call('POST', `/workspaces/${seenId}/actions/unlock`);
});
afterAll(() => runs.harness[Symbol.asyncDispose]());

describe('a workspace', () => {
  test.for([
    [{}, []],
    [{ variables: 'read' }, ['vars']],
    [{ 'state-versions': 'read-outputs' }, ['outputs']],
    [{ 'state-versions': 'read' }, ['current-state-version', 'outputs']],
  ] as const)(
    'shows a reader with %j of the protected relationships %j',
    async ([rights, named]) => {
      const { token } = await custom(rights);
      const { list } = await call('GET', `${O}/workspaces`, undefined, token);
      const { data } = await call('GET', `/workspaces/${seenId}`, undefined, token);
      for (const { relationships } of [data, ...list]) {
        const filled = ['current-state-version', 'outputs', 'vars'].filter(
          (name) => [relationships[name]?.data ?? []].flat().length > 0,
        );
        expect(filled).toEqual(named);
      }
    },
  );

  test('that is locked shows the team that holds the lock to callers who can see the team', async () => {
    const holders = await addReader({ access: 'write' });
    const tokens = `/teams/${holders.teamId}/authentication-token`;
    const made = await runs.harness.create(tokens, 'authentication-tokens', {});
    const lock = `/workspaces/${seenId}/actions/lock`;
    await call('POST', lock, { reason: 'busy' }, String(made.attributes['token']));
    const { token } = await addReader({ access: 'write' });
    const refusal = async (caller: string) =>
      (await call('POST', lock, {}, caller)).errors[0]?.detail;
    const { data } = await call('GET', `/teams/${holders.teamId}`);
    const name = String(data.attributes['name']);
    expect(await refusal(holders.token)).toContain(` by Team ${name}: busy.`);
    expect(await refusal(token)).toContain(` by Team ${holders.teamId}: busy.`);
    await call('POST', `/workspaces/${seenId}/actions/force-unlock`);
  });
});

describe('an apply', () => {
  test('shows the states that it wrote to callers who can read states', async () => {
    const runId = await runs.queue(seenId);
    await runs.claim();
    await runs.finish(runId);
    await runs.act(runId, 'apply');
    await runs.claim();
    const text = JSON.stringify({ version: 4, serial: 2, lineage: 'l' });
    const attributes = {
      serial: 2,
      md5: createHash('md5').update(text).digest('hex'),
      state: Buffer.from(text).toString('base64'),
    };
    const body = { data: { type: 'state-versions', attributes } };
    const stored = await runs.asRun(runId, 'POST', `/workspaces/${seenId}/state-versions`, body);
    expect(stored.status).toBe(201);
    await runs.finish(runId);
    const apply = `/applies/${runId.replace('run-', 'apply-')}`;
    const statesFor = async (token: string) => {
      const shown = await call('GET', apply, undefined, token);
      const path = `/workspaces/${seenId}?include=current_run.apply`;
      const { included } = await call('GET', path, undefined, token);
      const ofRun = await call('GET', `/runs/${runId}?include=apply`, undefined, token);
      return [shown.data, ...included, ...ofRun.included]
        .filter(({ type }) => type === 'applies')
        .map(({ relationships }) => relationships['state-versions']?.data);
    };
    const named = [{ id: stored.data.id, type: 'state-versions' }];
    expect(await statesFor((await addReader()).token)).toEqual([named, named, named]);
    expect(await statesFor((await custom({})).token)).toEqual([[], [], []]);
  });
});

describe('an announced state', () => {
  test('shows its upload addresses to callers who may write states', async () => {
    await call('POST', `/workspaces/${seenId}/actions/lock`);
    const id = await announceState(3, '{"version":4,"serial":3,"lineage":"l"}');
    const filter = 'filter[organization][name]=acme&filter[workspace][name]=seen';
    const urlsFor = async (token: string) => {
      const one = await call('GET', `/state-versions/${id}`, undefined, token);
      const { list } = await call('GET', `/state-versions?${filter}`, undefined, token);
      return [one.data, list[0]].flatMap((version) => [
        typeof version?.attributes['hosted-state-upload-url'],
        typeof version?.attributes['hosted-json-state-upload-url'],
      ]);
    };
    expect(new Set(await urlsFor((await custom({ 'state-versions': 'write' })).token))).toEqual(
      new Set(['string']),
    );
    expect(new Set(await urlsFor((await addReader()).token))).toEqual(new Set(['object']));
    await call('POST', `/workspaces/${seenId}/actions/force-unlock`);
  });
});

describe('an agent pool', () => {
  test('shows workspaces and projects to callers who can see them', async () => {
    const list = (...ids: readonly string[]) => ({
      data: ids.map((id) => ({ type: 'workspaces', id })),
    });
    const pool = await runs.harness.create(
      `${O}/agent-pools`,
      'agent-pools',
      { name: 'narrow', 'organization-scoped': false },
      {
        relationships: {
          'allowed-workspaces': list(seenId, hiddenId),
          'allowed-projects': { data: [{ type: 'projects', id: hiddenProjectId }] },
        },
      },
    );
    const excluding = await runs.harness.create(
      `${O}/agent-pools`,
      'agent-pools',
      { name: 'excluding' },
      { relationships: { 'excluded-workspaces': list(seenId, hiddenId) } },
    );
    const { token } = await addReader();
    const named = async (id: string, name: string, as?: string) => {
      const one = await call('GET', `/agent-pools/${id}`, undefined, as);
      const all = await call('GET', `${O}/agent-pools`, undefined, as);
      const shown = [one.data, all.list.find((listed) => listed.id === id)];
      const ids = shown.map((resource) => idsOf(resource?.relationships[name]?.data).toSorted());
      expect(ids[1]).toEqual(ids[0]);
      return ids[0];
    };
    const both = [seenId, hiddenId].toSorted();
    for (const [id, name, ofOwner, ofReader] of [
      [runs.poolId, 'workspaces', both, [seenId]],
      [pool.id, 'allowed-workspaces', both, [seenId]],
      [pool.id, 'allowed-projects', [hiddenProjectId], []],
      [excluding.id, 'excluded-workspaces', both, [seenId]],
    ] as const) {
      expect([name, await named(id, name)]).toEqual([name, ofOwner]);
      expect([name, await named(id, name, token)]).toEqual([name, ofReader]);
    }
    const path = `/workspaces/${seenId}?include=agent_pool`;
    const { included } = await call('GET', path, undefined, token);
    expect(included[0]?.relationships['workspaces']?.data).toMatchObject([{ id: seenId }]);
  });
});

describe('an OAuth client', () => {
  test('shows projects to callers who can see them, and cannot be opened to hidden ones', async () => {
    const attributes = {
      'service-provider': 'github',
      'http-url': 'https://github.example',
      'api-url': 'https://api.github.example',
      'oauth-token-string': 'secret',
    };
    const projects = { data: [{ type: 'projects', id: hiddenProjectId }] };
    const relationships = { projects };
    const { id } = await runs.harness.create(`${O}/oauth-clients`, 'oauth-clients', attributes, {
      relationships,
    });
    const { token } = await addMember({ 'manage-vcs-settings': true });
    const change = { data: { type: 'oauth-clients', attributes: { name: 'renamed' } } };
    const one = `/oauth-clients/${id}`;
    const named = async (as?: string) => {
      const { list } = await call('GET', `${O}/oauth-clients`, undefined, as);
      const shown = await call('GET', one, undefined, as);
      const changed = await call('PATCH', one, change, as);
      return [...list, shown.data, changed.data].map((client) => client.relationships['projects']);
    };
    expect(await named()).toEqual([projects, projects, projects]);
    expect(await named(token)).toEqual([{ data: [] }, { data: [] }, { data: [] }]);
    const created = { data: { type: 'oauth-clients', attributes, relationships } };
    expect((await call('POST', `${O}/oauth-clients`, created, token)).status).toBe(404);
    const opening = await call('POST', `${one}/relationships/projects`, projects, token);
    expect(opening.status).toBe(404);
  });
});

describe('a secret team', () => {
  test('can be granted access, and its grants seen and changed, by callers who can see it', async () => {
    const admin = await addReader({ access: 'admin' });
    const secret = await addMember();
    const { data: ofSecret } = await grant(secret.teamId, seenId, { access: 'read' });
    const visibleTo = async (token?: string) => {
      const path = `/team-workspaces?filter[workspace][id]=${seenId}`;
      const { list, meta } = await call('GET', `${path}&page[size]=100`, undefined, token);
      expect(meta.pagination['total-count']).toBe(list.length);
      return list.flatMap(({ relationships }) => idsOf(relationships['team']?.data));
    };
    expect(await visibleTo()).toEqual(expect.arrayContaining([admin.teamId, secret.teamId]));
    expect(await visibleTo(admin.token)).toEqual([admin.teamId]);
    const one = `/team-workspaces/${ofSecret.id}`;
    const change = { data: { type: 'team-workspaces', attributes: { access: 'write' } } };
    for (const [method, body] of [['GET'], ['PATCH', change], ['DELETE']] as const) {
      expect([method, (await call(method, one, body, admin.token)).status]).toEqual([method, 404]);
    }
    const outcome = async (teamId: string) => {
      const { status, errors } = await grant(teamId, seenId, { access: 'read' }, admin.token);
      return [status, errors[0]?.detail, errors[0]?.source];
    };
    // With or without a grant, the response is the same as for a team that does not exist.
    const refusal = await outcome('team-none');
    expect(refusal[0]).toBe(422);
    expect(await outcome(secret.teamId)).toEqual(refusal);
    expect(await outcome((await addMember()).teamId)).toEqual(refusal);
    await call('PATCH', `/teams/${secret.teamId}`, {
      data: { type: 'teams', attributes: { visibility: 'organization' } },
    });
    expect((await call('GET', one, undefined, admin.token)).status).toBe(200);
  });
});

describe('the tags of an organization', () => {
  test('are those of visible workspaces, with counts of these', async () => {
    await tagsOf(seenId, 'common');
    await tagsOf(hiddenId, 'common', 'covert');
    const member = await addMember();
    const { token } = await addReader();
    const shown = async (as?: string, query = '') =>
      (await call('GET', `${O}/tags?${query}`, undefined, as)).list.map(({ attributes }) => [
        attributes['name'],
        attributes['instance-count'],
      ]);
    expect(await shown()).toEqual([
      ['common', 2],
      ['covert', 1],
    ]);
    expect(await shown(token)).toEqual([['common', 1]]);
    expect(await shown(member.token)).toEqual([]);
    const without = (id: string) => `filter[exclude][taggable][id]=${id}`;
    expect(await shown(token, without(seenId))).toEqual([]);
    expect(await shown(token, without(hiddenId))).toEqual([['common', 1]]);
    const ofOne = await call('GET', `/workspaces/${seenId}/relationships/tags`, undefined, token);
    expect(ofOne.list.map(({ attributes }) => attributes['instance-count'])).toEqual([1]);
  });

  test('can be bound by id by callers who can see them', async () => {
    const { list } = await call('GET', `${O}/tags?q=covert`);
    const tags = { data: list.map(({ id }) => ({ type: 'tags', id })) };
    const workspaces = { data: [{ type: 'workspaces', id: seenId }] };
    const bind = async (token?: string) => {
      const path = `/workspaces/${seenId}/relationships/tags`;
      const byTag = `/tags/${list[0]?.id}/relationships/workspaces`;
      const replies = [
        await call('POST', path, tags, token),
        await call('POST', byTag, workspaces, token),
        await call('DELETE', path, tags, token),
      ];
      return replies.map(({ status }) => status);
    };
    expect(await bind((await addReader({ access: 'admin' })).token)).toEqual([404, 404, 404]);
    expect(await bind()).toEqual([204, 204, 204]);
  });

  test('do not reveal tags of another organization through the exclusion filter', async () => {
    const name = 'globex';
    await runs.harness.create('/organizations', 'organizations', { name, email: 'a@b.example' });
    const target = `/organizations/${name}/workspaces`;
    const { id } = await runs.harness.create(target, 'workspaces', { name: 'foreign' });
    await tagsOf(id, 'common');
    const { list } = await call('GET', `${O}/tags?filter[exclude][taggable][id]=${id}`);
    expect(list.map(({ attributes }) => attributes['name'])).toEqual(['common', 'covert']);
  });
});

describe('the queue of an organization', () => {
  test('and its capacity contain only runs visible to the caller', async () => {
    const { token } = await addReader();
    await runs.queue(seenId);
    await runs.queue(hiddenId);
    await runs.claim();
    const counted = async (as?: string) => {
      const { data } = await call('GET', `${O}/capacity`, undefined, as);
      const queue = await call('GET', `${O}/runs/queue`, undefined, as);
      return [data.attributes, queue.meta.pagination['total-count']];
    };
    expect(await counted()).toEqual([{ pending: 1, running: 1 }, 2]);
    expect(await counted(token)).toEqual([{ pending: 0, running: 1 }, 1]);
    expect(await counted((await addMember()).token)).toEqual([{ pending: 0, running: 0 }, 0]);
  });
});

describe('a list', () => {
  test.for([
    [`${O}/workspaces`, 1, 'search[name]'],
    [`${O}/projects`, 0, 'q'],
  ] as const)('of %s counts only the %i visible to the reader', async ([path, count, search]) => {
    const { token } = await addReader();
    for (const query of ['', `?${search}=nothing`]) {
      const { meta } = await call('GET', `${path}${query}`, undefined, token);
      const matching = query === '' ? count : 0;
      expect(meta).toMatchObject({
        pagination: { 'total-count': matching },
        'status-counts': { total: count, matching },
      });
    }
  });

  test('of workspaces counts the current runs of visible ones', async () => {
    const { token } = await addReader();
    const pending = async (as?: string) => {
      const { meta } = await call('GET', `${O}/workspaces`, undefined, as);
      return (meta as unknown as { 'status-counts': { pending: number } })['status-counts'].pending;
    };
    expect([await pending(), await pending(token)]).toEqual([1, 0]);
  });
});

describe('a filter', () => {
  test.for([
    [`${O}/workspaces`, 'filter[project][id]=', '{project}'],
    [`${O}/workspaces`, 'search[name]=', 'hidden'],
    [`${O}/workspaces`, 'search[tags]=', 'covert'],
    [`${O}/workspaces`, 'filter[tagged][0][key]=', 'covert'],
    [`${O}/projects`, 'filter[names]=', 'Hidden'],
    [`${O}/projects`, 'q=', 'Hidden'],
    [`${O}/runs`, 'filter[workspace_names]=', 'hidden'],
  ])('of %s by %s treats hidden resources like absent ones', async ([path, name, hidden]) => {
    const { token } = await addReader();
    const answer = async (value: string, as?: string) => {
      const { status, list, meta } = await call('GET', `${path}?${name}${value}`, undefined, as);
      return { status, list, meta };
    };
    const value = String(hidden).replace('{project}', hiddenProjectId);
    expect((await answer(value)).list.length).toBeGreaterThan(0);
    const forReader = await answer(value, token);
    expect(forReader.status).toBe(200);
    expect(forReader).toEqual(await answer('absent', token));
  });
});

describe('the consumers of a state', () => {
  test('shared with all are those visible to the caller; who cannot see all of them can replace none', async () => {
    const path = `/workspaces/${seenId}/relationships/remote-state-consumers`;
    const admin = await addReader({ access: 'admin' });
    const other = await runs.makeWorkspace({ name: 'other' });
    await grant(admin.teamId, other, { access: 'read' });
    const named = { data: [{ type: 'workspaces', id: other }] };
    expect((await call('PATCH', path, named, admin.token)).status).toBe(404);
    expect((await call('POST', path, named, admin.token)).status).toBe(204);
    const share = (isGlobal: boolean) =>
      call('PATCH', `/workspaces/${seenId}`, {
        data: { type: 'workspaces', attributes: { 'global-remote-state': isGlobal } },
      });
    await share(true);
    const { list, meta } = await call('GET', path, undefined, admin.token);
    expect([list.map(({ id }) => id), meta.pagination['total-count']]).toEqual([[other], 1]);
    await share(false);
  });
});

describe('another organization', () => {
  test('is closed to the tokens of a team, of an organization and of a run', async () => {
    const there = '/organizations/umbrella';
    const { harness } = runs;
    const name = 'umbrella';
    await harness.create('/organizations', 'organizations', { name, email: 'a@b.example' });
    const team = await harness.create(`${there}/teams`, 'teams', {
      name: 'all',
      'organization-access': { 'manage-projects': true, 'manage-workspaces': true },
    });
    const issue = async (owner: string) => {
      const path = `${owner}/authentication-token`;
      const made = await harness.create(path, 'authentication-tokens', {});
      return String(made.attributes['token']);
    };
    await runs.queue(await runs.makeWorkspace());
    const claimed = await runs.claim();
    const ofRun = runs.tokenOf(claimed?.id ?? '');
    for (const [token, own, foreign] of [
      [await issue(`/teams/${team.id}`), there, O],
      [await issue(there), there, O],
      [ofRun, O, there],
    ] as const) {
      expect((await call('GET', own, undefined, token)).status).toBe(200);
      expect((await call('GET', foreign, undefined, token)).status).toBe(404);
      const workspace = foreign === O ? seenId : 'ws-none';
      expect((await call('GET', `/workspaces/${workspace}`, undefined, token)).status).toBe(404);
    }
  });
});

describe('permissions', () => {
  const held = (attributes: Record<string, unknown> | undefined) =>
    Object.entries(attributes?.['permissions'] as Record<string, boolean>)
      .filter(([, isHeld]) => isHeld)
      .map(([name]) => name);

  test.for([
    ['read', [0, 1, 0, 2]],
    ['owner', [6, 5, 5, 8]],
  ] as const)(
    'reflect the rights of the reader: %s, %j of a run, two teams and a project',
    async ([kind, count]) => {
      const { teamId, token } = await addReader();
      const { data } = await call('GET', `/workspaces/${seenId}`);
      const projectId = idsOf(data.relationships['project']?.data)[0] ?? '';
      await runs.harness.create(
        '/team-projects',
        'team-projects',
        { access: 'read' },
        { relationships: { team: refer('teams', teamId), project: refer('projects', projectId) } },
      );
      const runId = await runs.queue(seenId);
      const open = await runs.harness.create(`${O}/teams`, 'teams', {
        name: `open-to-${kind}`,
        visibility: 'organization',
      });
      const as = kind === 'read' ? token : undefined;
      const counts: number[] = [];
      for (const [one, all] of [
        [`/runs/${runId}`, `/workspaces/${seenId}/runs`],
        [`/teams/${teamId}`, `${O}/teams?page[size]=100`],
        [`/teams/${open.id}`, `${O}/teams?page[size]=100`],
        [`/projects/${projectId}`, `${O}/projects`],
      ] as const) {
        const shown = await call('GET', one, undefined, as);
        const { list } = await call('GET', all, undefined, as);
        const listed = list.find(({ id }) => id === shown.data.id);
        expect(held(listed?.attributes)).toEqual(held(shown.data.attributes));
        counts.push(held(shown.data.attributes).length);
      }
      // Members manage the tokens of their team.
      expect(counts).toEqual(count);
    },
  );
});
