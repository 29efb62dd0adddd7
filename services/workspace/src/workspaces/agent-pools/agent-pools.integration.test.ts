import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarnessOf } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
beforeAll(async () => {
  harness = await startHarnessOf('acme', 'globex');
});
afterAll(() => harness[Symbol.asyncDispose]());

const body = (type: string, attributes: object, relationships: object = {}) => ({
  data: { type, attributes, relationships },
});
const makePool = (name: string, values: object = {}, relationships: object = {}) =>
  harness.create(`${O}/agent-pools`, 'agent-pools', { name, ...values }, { relationships });
const makeWorkspace = (name: string, values: object = {}) =>
  harness.create(`${O}/workspaces`, 'workspaces', { name, ...values });
const useIn = (workspaceId: string, poolId: string) =>
  harness.call(
    'PATCH',
    `/workspaces/${workspaceId}`,
    body('workspaces', { 'execution-mode': 'agent', 'agent-pool-id': poolId }),
  );

describe('an agent pool', () => {
  test('cannot be deleted while a workspace names it', async () => {
    const pool = await makePool('shared');
    const workspace = await makeWorkspace('app', {
      'execution-mode': 'agent',
      'agent-pool-id': pool.id,
    });
    expect(workspace.attributes['execution-mode']).toBe('agent');
    expect(workspace.relationships['agent-pool']?.data).toEqual({
      id: pool.id,
      type: 'agent-pools',
    });
    const shown = await harness.call('GET', `/agent-pools/${pool.id}`);
    expect(shown.data.relationships['workspaces']?.data).toEqual([
      { id: workspace.id, type: 'workspaces' },
    ]);
    expect((await harness.call('DELETE', `/agent-pools/${pool.id}`)).status).toBe(409);
    const local = body('workspaces', { 'execution-mode': 'local' });
    await harness.call('PATCH', `/workspaces/${workspace.id}`, local);
    expect((await harness.call('DELETE', `/agent-pools/${pool.id}`)).status).toBe(204);
  });

  test('is kept by a workspace whose mode is unchanged, and not required for one that inherits', async () => {
    const pool = await makePool('kept');
    const own = { 'execution-mode': 'agent', 'agent-pool-id': pool.id };
    const { id, attributes } = await makeWorkspace('keeping', own);
    expect(attributes['operations']).toBe(true);
    const update = (values: object) =>
      harness.call('PATCH', `/workspaces/${id}`, body('workspaces', values));
    const kept = await update({ 'execution-mode': 'agent' });
    expect(kept.data.relationships['agent-pool']?.data).toMatchObject({ id: pool.id });
    await update({ 'execution-mode': 'local' });
    const refused = await update({ 'execution-mode': 'agent' });
    expect([refused.status, refused.errors[0]?.source?.pointer]).toEqual([
      422,
      '/data/attributes/agent-pool-id',
    ]);
    const inheriting = { 'execution-mode': 'agent', 'setting-overwrites': { 'agent-pool': false } };
    expect((await update(inheriting)).data.attributes['execution-mode']).toBe('remote');
  });

  test('limits what its runs reach to addresses, ranges and names of hosts', async () => {
    const allowed = [
      '10.1.0.0/16',
      'fd00::/8',
      '192.0.2.7',
      '2001:db8::1',
      'registry.example.com',
      '*.example.com',
      'internal',
    ];
    const pool = await makePool('limited', { 'allowed-egress': allowed });
    expect(pool.attributes['allowed-egress']).toEqual(allowed);
    const change = (entries: unknown) =>
      harness.call(
        'PATCH',
        `/agent-pools/${pool.id}`,
        body('agent-pools', { 'allowed-egress': entries }),
      );
    for (const entry of [
      '',
      '10.0.0.0/33',
      '1.2.3',
      'http://example.com',
      'example.com:443',
      'a*.example.com',
      '*',
      '*.*.example.com',
      '-x.example.com',
      'a b',
      `${'a'.repeat(64)}.example.com`,
    ]) {
      const { status, errors } = await change(['example.com', entry]);
      expect([entry, status, errors[0]?.source?.pointer]).toEqual([
        entry,
        422,
        '/data/attributes/allowed-egress',
      ]);
      expect(errors[0]?.detail).toContain(JSON.stringify(entry));
    }
    expect((await change(Array.from({ length: 101 }, () => 'a.example'))).status).toBe(422);
    expect((await change('example.com')).status).toBe(422);
    expect((await change([])).data.attributes['allowed-egress']).toEqual([]);
    expect((await change(null)).data.attributes['allowed-egress']).toBeNull();
  });

  test('of another organization is not found', async () => {
    const pool = await harness.create('/organizations/globex/agent-pools', 'agent-pools', {
      name: 'theirs',
    });
    const { status, errors } = await useIn((await makeWorkspace('foreign')).id, pool.id);
    expect(status).toBe(422);
    expect(errors[0]?.source?.pointer).toBe('/data/attributes/agent-pool-id');
  });

  test('that is not organization-scoped can be used by the workspaces and projects it allows', async () => {
    const [open, closed] = [await makeWorkspace('open'), await makeWorkspace('closed')];
    const pool = await makePool(
      'narrow',
      { 'organization-scoped': false },
      { 'allowed-workspaces': { data: [{ type: 'workspaces', id: open.id }] } },
    );
    expect((await useIn(open.id, pool.id)).status).toBe(200);
    const refused = await useIn(closed.id, pool.id);
    expect(refused.status).toBe(422);
    expect(refused.errors[0]?.detail).toContain('does not have access');
    const narrowed = body('agent-pools', {}, { 'allowed-workspaces': { data: [] } });
    expect((await harness.call('PATCH', `/agent-pools/${pool.id}`, narrowed)).status).toBe(422);
    const project = closed.relationships['project']?.data as { id: string };
    const asDefault = async (target: string, type: string) => {
      const defaults = { 'default-execution-mode': 'agent', 'default-agent-pool-id': pool.id };
      return (await harness.call('PATCH', target, body(type, defaults))).status;
    };
    expect(await asDefault(O, 'organizations')).toBe(422);
    expect(await asDefault(`/projects/${project.id}`, 'projects')).toBe(422);
    const widened = body(
      'agent-pools',
      {},
      { 'allowed-projects': { data: [{ type: 'projects', id: project.id }] } },
    );
    expect((await harness.call('PATCH', `/agent-pools/${pool.id}`, widened)).status).toBe(200);
    expect((await useIn(closed.id, pool.id)).status).toBe(200);
  });

  test('does not follow a workspace to a project where it may not be used', async () => {
    const [inside, outside] = await Promise.all(
      ['Inside', 'Outside'].map((name) => harness.create(`${O}/projects`, 'projects', { name })),
    );
    const of = (id: string | undefined) => ({ data: { type: 'projects', id } });
    const pool = await makePool(
      'inside',
      { 'organization-scoped': false },
      { 'allowed-projects': { data: [of(inside?.id).data] } },
    );
    const execution = { 'execution-mode': 'agent', 'agent-pool-id': pool.id };
    const attributes = { name: 'insider', ...execution };
    const { id } = await harness.create(`${O}/workspaces`, 'workspaces', attributes, {
      relationships: { project: of(inside?.id) },
    });
    const moved = body('workspaces', {}, { project: of(outside?.id) });
    const many = { data: [{ type: 'workspaces', id }] };
    for (const reply of [
      await harness.call('PATCH', `/workspaces/${id}`, moved),
      await harness.call('POST', `/projects/${outside?.id}/relationships/workspaces`, many),
    ]) {
      expect([reply.status, reply.errors[0]?.source]).toEqual([
        422,
        { pointer: '/data/attributes/agent-pool-id' },
      ]);
    }
    const shown = await harness.call('GET', `/workspaces/${id}`);
    expect(shown.data.relationships['project']).toMatchObject(of(inside?.id));
  });

  test('is inherited from the project, then from the organization', async () => {
    const [wide, near] = [await makePool('of all'), await makePool('of one')];
    const project = await harness.create(`${O}/projects`, 'projects', {
      name: 'Near',
      'default-execution-mode': 'agent',
      'default-agent-pool-id': near.id,
    });
    const defaults = { 'default-execution-mode': 'agent', 'default-agent-pool-id': wide.id };
    expect((await harness.call('PATCH', O, body('organizations', defaults))).status).toBe(200);
    const poolOf = (workspace: Awaited<ReturnType<typeof makeWorkspace>>) =>
      (workspace.relationships['agent-pool']?.data as { id: string } | undefined)?.id;
    expect(poolOf(await makeWorkspace('far'))).toBe(wide.id);
    const inside = await harness.create(
      `${O}/workspaces`,
      'workspaces',
      { name: 'inside' },
      { relationships: { project: { data: { type: 'projects', id: project.id } } } },
    );
    expect(poolOf(inside)).toBe(near.id);
    expect(inside.attributes['setting-overwrites']).toEqual({
      'execution-mode': false,
      'agent-pool': false,
    });
    const inherit = body('projects', { 'setting-overwrites': { 'default-execution-mode': false } });
    await harness.call('PATCH', `/projects/${project.id}`, inherit);
    expect(poolOf((await harness.call('GET', `/workspaces/${inside.id}`)).data)).toBe(wide.id);
    expect((await harness.call('DELETE', `/agent-pools/${wide.id}`)).status).toBe(409);
    expect((await harness.call('DELETE', `/agent-pools/${near.id}`)).status).toBe(204);
  });

  test('has a unique name', async () => {
    await makePool('taken');
    const again = await harness.call(
      'POST',
      `${O}/agent-pools`,
      body('agent-pools', { name: 'taken' }),
    );
    expect(again.errors[0]?.source?.pointer).toBe('/data/attributes/name');
  });

  test('excludes workspaces that it would otherwise allow', async () => {
    const [kept, excluded] = [await makeWorkspace('kept'), await makeWorkspace('excluded')];
    const except = { data: [{ type: 'workspaces', id: excluded.id }] };
    const pool = await makePool('but one', {}, { 'excluded-workspaces': except });
    expect(pool.relationships['excluded-workspaces']?.data).toEqual(except.data);
    expect((await useIn(kept.id, pool.id)).status).toBe(200);
    const refused = await useIn(excluded.id, pool.id);
    expect(refused.status).toBe(422);
    expect(refused.errors[0]?.source?.pointer).toBe('/data/attributes/agent-pool-id');
    const change = (data: readonly object[]) =>
      harness.call(
        'PATCH',
        `/agent-pools/${pool.id}`,
        body('agent-pools', {}, { 'excluded-workspaces': { data } }),
      );
    const used = await change([{ type: 'workspaces', id: kept.id }]);
    expect(used.errors[0]?.source?.pointer).toBe('/data/relationships/excluded-workspaces');
    const theirs = await harness.create('/organizations/globex/workspaces', 'workspaces', {
      name: 'theirs',
    });
    for (const id of ['ws-unknown', theirs.id]) {
      const { errors } = await change([{ type: 'workspaces', id }]);
      expect(errors[0]?.source?.pointer).toBe('/data/relationships/excluded-workspaces/data/0/id');
    }
    expect((await change([])).data.relationships['excluded-workspaces']?.data).toEqual([]);
    expect((await useIn(excluded.id, pool.id)).status).toBe(200);
  });

  test('omits deleted workspaces and projects, and keeps the rest', async () => {
    const [gone, excluded, kept] = [
      await makeWorkspace('gone'),
      await makeWorkspace('gone-too'),
      await makeWorkspace('still-there'),
    ];
    const project = await harness.create(`${O}/projects`, 'projects', { name: 'Gone' });
    const names = (type: string, ...targets: readonly { readonly id: string }[]) => ({
      data: targets.map(({ id }) => ({ type, id })),
    });
    const pool = await makePool(
      'of gone',
      { 'organization-scoped': false },
      {
        'allowed-workspaces': names('workspaces', gone, kept),
        'allowed-projects': names('projects', project),
      },
    );
    const relationships = { 'excluded-workspaces': names('workspaces', excluded) };
    const changed = body('agent-pools', {}, relationships);
    expect((await harness.call('PATCH', `/agent-pools/${pool.id}`, changed)).status).toBe(200);
    await harness.call('DELETE', `/workspaces/${gone.id}`);
    await harness.call('POST', `/workspaces/${excluded.id}/actions/safe-delete`);
    await harness.call('DELETE', `/projects/${project.id}`);
    const { data } = await harness.call('GET', `/agent-pools/${pool.id}`);
    expect(data.relationships).toMatchObject({
      'allowed-workspaces': names('workspaces', kept),
      'allowed-projects': { data: [] },
      'excluded-workspaces': { data: [] },
    });
    const renamed = body('agent-pools', { name: 'renamed' });
    expect((await harness.call('PATCH', `/agent-pools/${pool.id}`, renamed)).status).toBe(200);
  });
});
