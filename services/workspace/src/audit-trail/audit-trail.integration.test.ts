import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness, startHarnessOf } from '../../test/workspace-harness.ts';
import { auditEvents, storeAuditEvent } from './audit-event-records.ts';
import { KEPT_MS } from './domain/audit-event.ts';

const O = '/organizations/acme';
const EVENTS = `${O}/audit-events`;
const TRAIL = '/organization/audit-trail';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarnessOf('acme', 'globex');
});
afterAll(() => harness[Symbol.asyncDispose]());

const ownersTeam = async () =>
  (await harness.call('GET', `${O}/teams`)).list.find(
    ({ attributes }) => attributes['name'] === 'owners',
  )?.id ?? '';

/** The recorded events, newest first: action, type and name. */
const listed = async (query = '', token?: string) => {
  const { status, list } = await harness.call('GET', `${EVENTS}?${query}`, undefined, token);
  expect(status).toBe(200);
  return list.map(({ attributes }) =>
    ['action', 'resource-type', 'resource-name'].map((name) => String(attributes[name])).join(' '),
  );
};

const stateUpload = () => {
  const state = Buffer.from(JSON.stringify({ version: 4, serial: 1, lineage: 'a', outputs: {} }));
  return {
    serial: 1,
    md5: createHash('md5').update(state).digest('hex'),
    state: state.toString('base64'),
  };
};

const makeWorkspace = (name: string) => harness.create(`${O}/workspaces`, 'workspaces', { name });

describe('an event', () => {
  test('says who has changed what, and when', async () => {
    const ada = await harness.addUser('ada', await ownersTeam());
    const body = { data: { type: 'workspaces', attributes: { name: 'first' } } };
    const { data } = await harness.call('POST', `${O}/workspaces`, body, ada.token);
    const { list } = await harness.call('GET', `${EVENTS}?page[size]=1`);
    expect(list[0]).toMatchObject({
      type: 'audit-events',
      attributes: {
        timestamp: new Date(harness.clock.nowMs()).toISOString(),
        action: 'create',
        'resource-type': 'workspace',
        'resource-id': data.id,
        'resource-name': 'first',
        'workspace-name': 'first',
        'actor-type': 'user',
        'actor-id': ada.id,
        'actor-name': 'ada',
        'token-id': expect.stringMatching(/^at-/) as string,
        'request-id': 'req',
      },
      relationships: { workspace: { data: { type: 'workspaces', id: data.id } } },
    });
  });

  test('has the name of the action, for a lock and what gives it back', async () => {
    const { id } = await makeWorkspace('locked');
    for (const action of ['lock', 'unlock', 'lock', 'force-unlock'])
      await harness.call('POST', `/workspaces/${id}/actions/${action}`);
    expect((await listed('page[size]=5')).toReversed()).toEqual([
      'create workspace locked',
      'lock workspace locked',
      'unlock workspace locked',
      'lock workspace locked',
      'force-unlock workspace locked',
    ]);
  });

  test('is not made by a refused change, nor by reading', async () => {
    const before = await listed('page[size]=1');
    await harness.call('POST', `${O}/workspaces`, {
      data: { type: 'workspaces', attributes: { name: 'no name' } },
    });
    const { id } = await makeWorkspace('refusing');
    await harness.call('POST', `/workspaces/${id}/actions/unlock`);
    await harness.call('GET', `/workspaces/${id}`);
    expect((await listed('page[size]=2')).toReversed()).toEqual([
      ...before,
      'create workspace refusing',
    ]);
  });

  test('shows no value of a variable, in either list', async () => {
    const { id } = await makeWorkspace('with-secrets');
    const variable = await harness.create(`/workspaces/${id}/vars`, 'vars', {
      key: 'password',
      value: 'hunter-22',
      category: 'env',
      sensitive: true,
    });
    await harness.call('PATCH', `/vars/${variable.id}`, {
      data: { type: 'vars', id: variable.id, attributes: { value: 'hunter-23' } },
    });
    expect(await listed('page[size]=2')).toEqual([
      'update variable password',
      'create variable password',
    ]);
    for (const [, event] of await auditEvents.entries(harness.store))
      expect(JSON.stringify(event)).not.toContain('hunter');
  });

  test('of a removed workspace is one, without those of everything in it', async () => {
    const { id } = await makeWorkspace('short-lived');
    for (const key of ['one', 'two'])
      await harness.create(`/workspaces/${id}/vars`, 'vars', { key, value: '', category: 'env' });
    await harness.call('DELETE', `/workspaces/${id}`);
    expect(await listed('page[size]=2')).toEqual([
      'destroy workspace short-lived',
      'create variable two',
    ]);
    const { list } = await harness.call('GET', `${EVENTS}?page[size]=1`);
    expect(list[0]?.attributes['workspace-name']).toBeNull();
  });

  test('of a membership names the person only as long as the account exists', async () => {
    const team = await harness.create(`${O}/teams`, 'teams', { name: 'builders' });
    const eve = await harness.addUser('eve', team.id);
    expect(await listed('page[size]=1')).toEqual(['create organization_membership eve']);
    await harness.call('DELETE', `/admin/users/${eve.id}`);
    expect((await listed('page[size]=2')).at(-1)).toBe('create organization_membership null');
    const stored = await auditEvents.entries(harness.store);
    expect(JSON.stringify(stored)).not.toContain('"eve"');
  });

  test('of an administrator of the site is seen by the owners of each organization', async () => {
    await harness.call('PATCH', '/admin/organizations/acme', {
      data: { type: 'organizations', attributes: { 'is-disabled': true } },
    });
    await harness.call('PATCH', '/admin/organizations/acme', {
      data: { type: 'organizations', attributes: { 'is-disabled': false } },
    });
    expect(await listed('page[size]=1')).toEqual(['update organization acme']);
  });
});

/** Changes that the table of callers only tries in vain, or without an effect. */
describe('a change of', () => {
  test('a state has an event, and not the upload of its bytes', async () => {
    const { id } = await makeWorkspace('with-state');
    const act = (action: string) => harness.call('POST', `/workspaces/${id}/actions/${action}`);
    await act('lock');
    await harness.create(`/workspaces/${id}/state-versions`, 'state-versions', stateUpload());
    await act('unlock');
    expect(await listed('page[size]=3')).toEqual([
      'unlock workspace with-state',
      'create state_version null',
      'lock workspace with-state',
    ]);
  });

  test('the tags of an organization has one for each workspace', async () => {
    const { id } = await makeWorkspace('tagged');
    const tags = { data: [{ type: 'tags', attributes: { name: 'gone-soon' } }] };
    await harness.call('POST', `/workspaces/${id}/relationships/tags`, tags);
    const { list } = await harness.call('GET', `${O}/tags`);
    const data = list.map(({ type, id: tagId }) => ({ type, id: tagId }));
    expect((await harness.call('DELETE', `${O}/tags`, { data })).status).toBe(204);
    expect(await listed('page[size]=2')).toEqual([
      'update workspace tagged',
      'update workspace tagged',
    ]);
  });

  test('the project of workspaces has one for each workspace', async () => {
    const { id } = await makeWorkspace('moved');
    const project = await harness.create(`${O}/projects`, 'projects', { name: 'target' });
    const data = [{ type: 'workspaces', id }];
    await harness.call('POST', `/projects/${project.id}/relationships/workspaces`, { data });
    expect(await listed('page[size]=2')).toEqual([
      'update workspace moved',
      'create project target',
    ]);
  });

  test('a switch of the site is one of the agent pool', async () => {
    const pool = await harness.create(`${O}/agent-pools`, 'agent-pools', { name: 'switched' });
    for (const isDisabled of [true, false])
      await harness.call('PATCH', `/admin/agent-pools/${pool.id}`, {
        data: { type: 'agent-pools', attributes: { 'is-disabled': isDisabled } },
      });
    expect(await listed('page[size]=3')).toEqual([
      'update agent_pool switched',
      'update agent_pool switched',
      'create agent_pool switched',
    ]);
  });
});

describe('the list', () => {
  test('has pages, also of what comes after the hundredth', async () => {
    const { id } = await makeWorkspace('busy');
    for (let turn = 0; turn < 51; turn += 1)
      for (const action of ['lock', 'unlock'])
        await harness.call('POST', `/workspaces/${id}/actions/${action}`);
    const query = `filter[workspace]=busy&page[size]=100`;
    const first = await harness.call('GET', `${EVENTS}?${query}`);
    const second = await harness.call('GET', `${EVENTS}?${query}&page[number]=2`);
    expect([first.list.length, second.list.length]).toEqual([100, 3]);
    expect(second.list.at(-1)?.attributes['action']).toBe('create');
    expect(first.meta.pagination['total-count']).toBe(103);
  });

  test('is filtered by person, type, workspace and time, and by all of them', async () => {
    const grace = await harness.addUser('grace', await ownersTeam());
    harness.clock.advance(1000);
    const since = new Date(harness.clock.nowMs()).toISOString();
    harness.clock.advance(1000);
    const attributes = { name: 'filtered' };
    const body = { data: { type: 'workspaces', attributes } };
    const { data } = await harness.call('POST', `${O}/workspaces`, body, grace.token);
    await harness.create(`/workspaces/${data.id}/vars`, 'vars', {
      key: 'size',
      value: '1',
      category: 'env',
    });
    harness.clock.advance(1000);
    const until = new Date(harness.clock.nowMs()).toISOString();
    await makeWorkspace('after');
    const [workspace, variable] = ['create workspace filtered', 'create variable size'];
    expect(await listed('filter[actor]=grace')).toEqual([workspace]);
    expect(await listed(`filter[actor]=${grace.id}`)).toEqual([workspace]);
    expect(await listed('filter[actor]=nobody')).toEqual([]);
    expect(await listed('filter[workspace]=filtered')).toEqual([variable, workspace]);
    expect(await listed(`filter[workspace]=${data.id}&filter[resource_type]=variable`)).toEqual([
      variable,
    ]);
    expect(await listed(`filter[since]=${since}&filter[until]=${until}`)).toEqual([
      variable,
      workspace,
    ]);
    expect(await listed(`filter[since]=${until}&filter[actor]=grace`)).toEqual([]);
  });

  test('is for the owners and for the token of the organization', async () => {
    const team = await harness.create(`${O}/teams`, 'teams', {
      name: 'managers',
      'organization-access': { 'manage-workspaces': true, 'manage-membership': true },
    });
    const manager = await harness.addUser('manager', team.id);
    expect((await harness.call('GET', EVENTS, undefined, manager.token)).status).toBe(404);
    const made = await harness.create(`${O}/authentication-token`, 'authentication-tokens', {});
    expect(await listed('page[size]=1', String(made.attributes['token']))).toEqual([
      'create authentication_token null',
    ]);
    const read = async (token?: string) => {
      const { data } = await harness.call('GET', O, undefined, token);
      return (data.attributes['permissions'] as Record<string, boolean>)['can-read-audit-trail'];
    };
    expect([await read(), await read(manager.token)]).toEqual([true, false]);
  });
});

describe('the audit trail', () => {
  const organizationToken = async () => {
    const made = await harness.create(`${O}/authentication-token`, 'authentication-tokens', {});
    return String(made.attributes['token']);
  };
  const trail = (query: string, token?: string) =>
    harness.call('GET', `${TRAIL}?${query}`, undefined, token);

  test('has the form of the hosted service', async () => {
    const token = await organizationToken();
    const { id } = await makeWorkspace('collected');
    const reply = await trail('page[size]=1', token);
    expect(reply.status).toBe(200);
    expect(reply.list).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        version: '0',
        type: 'Resource',
        timestamp: new Date(harness.clock.nowMs()).toISOString(),
        auth: {
          accessor_id: expect.stringMatching(/^user-/) as string,
          description: 'admin',
          type: 'Client',
          impersonator_id: null,
          organization_id: expect.stringMatching(/^org-/) as string,
        },
        request: { id: 'req' },
        resource: {
          id,
          type: 'workspace',
          action: 'create',
          meta: { name: 'collected', workspace_id: id },
        },
      },
    ]);
  });

  test('has up to a thousand events on a page, and those since a time', async () => {
    const token = await organizationToken();
    expect((await trail('', token)).list.length).toBeGreaterThan(100);
    harness.clock.advance(1000);
    const since = new Date(harness.clock.nowMs()).toISOString();
    harness.clock.advance(1000);
    await makeWorkspace('since');
    expect((await trail(`since=${since}`, token)).list).toHaveLength(1);
    expect((await trail('since=yesterday', token)).status).toBe(400);
    expect((await trail('page[size]=0', token)).status).toBe(400);
  });

  test('is all that a token for it reads, until it ends or its organization is off', async () => {
    const path = `${O}/authentication-token?token=audit-trails`;
    const made = await harness.create(path, 'authentication-tokens', {});
    const token = String(made.attributes['token']);
    const statuses = async () => [
      (await trail('page[size]=1', token)).status,
      (await harness.call('GET', EVENTS, undefined, token)).status,
      (await harness.call('GET', O, undefined, token)).status,
      (await harness.call('GET', `${O}/workspaces`, undefined, token)).status,
      (await harness.call('GET', '/organizations', undefined, token)).status,
    ];
    const switchOff = (isOff: boolean) =>
      harness.call('PATCH', '/admin/organizations/acme', {
        data: { type: 'organizations', attributes: { 'is-disabled': isOff } },
      });
    expect(await statuses()).toEqual([200, 404, 404, 404, 404]);
    await switchOff(true);
    expect((await trail('', token)).status).toBe(403);
    await switchOff(false);
    expect(await listed('page[size]=3')).toContain('create authentication_token null');
    // That of the organization and that for its trail are replaced independently of each other.
    await organizationToken();
    expect((await trail('page[size]=1', token)).status).toBe(200);
    await harness.create(path, 'authentication-tokens', {});
    expect((await trail('', token)).status).toBe(401);
  });

  test('is refused to users and teams, whose tokens name no organization', async () => {
    expect((await trail('')).status).toBe(404);
    expect((await harness.call('GET', TRAIL, undefined, null)).status).toBe(401);
  });
});

/** Events before the only one, more than are removed at once. @returns that one */
const addFormerEvents = async ({ store }: Harness) => {
  const [[, event] = []] = await auditEvents.entries(store);
  if (event === undefined) throw new Error('nothing was recorded');
  await store.transact((tx) => {
    for (let at = 1; at <= 1200; at += 1)
      storeAuditEvent(tx, { ...event, id: `former-${at}`, order: event.order - at });
  });
  return event;
};

test('a run has the name of what was done to it', async () => {
  await using other = await startHarness({
    config: { runnerToken: 'a-token-of-the-built-in-runner' },
  });
  await other.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const { id } = await other.create(`${O}/workspaces`, 'workspaces', { name: 'running' });
  const made = await other.create(
    `/workspaces/${id}/configuration-versions`,
    'configuration-versions',
    { 'auto-queue-runs': false },
  );
  const archive = Uint8Array.of(0x1f, 0x8b);
  await other.transfer('PUT', String(made.attributes['upload-url']), archive);
  const run = await other.create(
    '/runs',
    'runs',
    {},
    {
      relationships: { workspace: { data: { type: 'workspaces', id } } },
    },
  );
  await other.call('POST', `/runs/${run.id}/actions/cancel`, { comment: 'not now' });
  const { list } = await other.call('GET', EVENTS);
  expect(list.map(({ attributes }) => attributes['action']).toReversed()).toEqual([
    'create',
    'create',
    'create',
    'cancel',
  ]);
  const [cancelled] = list;
  expect(cancelled?.attributes).toMatchObject({ 'resource-type': 'run', 'resource-id': run.id });
});

test('events end after thirty days', async () => {
  await using other = await startHarnessOf('acme');
  await other.create(`${O}/workspaces`, 'workspaces', { name: 'old' });
  other.clock.advance(KEPT_MS);
  await other.runUpkeep();
  expect((await other.call('GET', EVENTS)).list).toHaveLength(1);
  other.clock.advance(1);
  await other.create(`${O}/workspaces`, 'workspaces', { name: 'new' });
  await other.runUpkeep();
  const { list } = await other.call('GET', EVENTS);
  expect(list.map(({ attributes }) => attributes['resource-name'])).toEqual(['new']);
});

test('of too many events the newest are kept', async () => {
  const kept = 3;
  await using other = await startHarness({ limits: { auditEvents: kept } });
  await other.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  await other.create(`${O}/workspaces`, 'workspaces', { name: 'newest' });
  const event = await addFormerEvents(other);
  await other.runUpkeep();
  const { list } = await other.call('GET', EVENTS);
  expect(list.map(({ id }) => id)).toEqual([event.id, 'former-1', 'former-2']);
});

test('nothing remains of a removed organization', async () => {
  await using other = await startHarnessOf('acme', 'globex');
  await other.create(`${O}/workspaces`, 'workspaces', { name: 'one' });
  await addFormerEvents(other);
  await other.create('/organizations/globex/workspaces', 'workspaces', { name: 'two' });
  expect((await other.call('DELETE', O)).status).toBe(204);
  const left = await auditEvents.entries(other.store);
  expect(left.map(([, { resource }]) => resource.name)).toEqual(['two']);
});
