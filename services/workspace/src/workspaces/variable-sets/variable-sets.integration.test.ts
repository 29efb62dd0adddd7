/**
 * Variable sets, as their documents describe them:
 *
 * | endpoint | success | refused |
 * | --- | --- | --- |
 * | POST /organizations/:name/varsets | 200, with workspaces, projects, vars, parent | 404, 422 |
 * | GET /organizations/:name/varsets, /projects/:id/varsets, /workspaces/:id/varsets | 200 in pages, `q` | 404 |
 * | GET, PATCH, PUT, DELETE /varsets/:id | 200, 204; `include` | 404, 422 |
 * | POST, GET /varsets/:id/relationships/vars | 200 | 404, 422 |
 * | GET, PATCH, DELETE /varsets/:id/relationships/vars/:id | 200, 204 | 404, 422 |
 * | POST, DELETE /varsets/:id/relationships/workspaces, /projects | 204 | 404, 422 |
 * | POST, DELETE /varsets/:id/relationships/stacks | | 422 |
 *
 * No two global sets hold one key of one category. Who may do what: `callers.integration.test.ts`. The order in which
 * variables overwrite each other: `precedence.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';
import type { Harness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let runs: Awaited<ReturnType<typeof startRunHarness>>;
let harness: Harness;
beforeAll(async () => {
  runs = await startRunHarness();
  ({ harness } = runs);
});
afterAll(() => harness[Symbol.asyncDispose]());

let serial = 0;
const unique = (text: string): string => `${text} ${(serial += 1)}`;
const listOf = (type: string, ...ids: readonly string[]) => ({
  data: ids.map((id) => ({ type, id })),
});
const variable = (key: string, value: string, extra: object = {}) => ({
  type: 'vars',
  attributes: { key, value, category: 'terraform', ...extra },
});
const post = (attributes: object, relationships: object = {}, token?: string) =>
  harness.call(
    'POST',
    `${O}/varsets`,
    { data: { type: 'varsets', attributes, relationships } },
    token,
  );
const make = (attributes: object = {}, relationships: object = {}) =>
  harness.create(
    `${O}/varsets`,
    'varsets',
    { name: unique('set'), ...attributes },
    { relationships },
  );
const patch = (id: string, attributes: object, relationships: object = {}) =>
  harness.call('PATCH', `/varsets/${id}`, { data: { type: 'varsets', attributes, relationships } });
const makeWorkspace = async (extra: object = {}) => {
  serial += 1;
  const name = `ws-${serial}`;
  return (await harness.create(`${O}/workspaces`, 'workspaces', { name }, extra)).id;
};
const makeProject = async () =>
  (await harness.create(`${O}/projects`, 'projects', { name: unique('Project') })).id;
const inProject = (id: string) => ({
  relationships: { project: { data: { type: 'projects', id } } },
});
const namesUnder = async (path: string) =>
  (await harness.call('GET', path)).list.map(({ attributes }) => attributes['name']);
const related = async (id: string, name: string) =>
  (await harness.call('GET', `/varsets/${id}`)).data.relationships[name]?.data;

describe('a variable set', () => {
  test('can be created with its variables and the resources it applies to', async () => {
    const workspaceId = await makeWorkspace();
    const projectId = await makeProject();
    const made = await make(
      { name: 'Whole', description: 'all of it', priority: true },
      {
        workspaces: listOf('workspaces', workspaceId),
        projects: listOf('projects', projectId),
        stacks: listOf('stacks'),
        vars: { data: [variable('a', '1'), variable('b', 'hunter2', { sensitive: true })] },
      },
    );
    expect(made.id).toMatch(/^varset-/);
    expect(made.attributes).toMatchObject({
      name: 'Whole',
      description: 'all of it',
      global: false,
      priority: true,
      'var-count': 2,
      'workspace-count': 1,
      'project-count': 1,
    });
    expect(made.relationships).toMatchObject({
      organization: { data: { id: 'acme', type: 'organizations' } },
      parent: { data: { id: 'acme', type: 'organizations' } },
      workspaces: listOf('workspaces', workspaceId),
      projects: listOf('projects', projectId),
      stacks: { data: [] },
    });
    const include = 'include=vars,workspaces,projects,stacks';
    const shown = await harness.call('GET', `/varsets/${made.id}?${include}`);
    expect(shown.data).toEqual(made);
    expect(shown.included.map(({ type }) => type)).toEqual([
      'vars',
      'vars',
      'workspaces',
      'projects',
    ]);
    expect(JSON.stringify(shown)).not.toContain('hunter2');
  });

  test('keeps attributes that an update omits, and replaces lists as a whole', async () => {
    const [one, two] = [await makeWorkspace(), await makeWorkspace()];
    const made = await make(
      { description: 'before' },
      { workspaces: listOf('workspaces', one), vars: { data: [variable('kept', '1')] } },
    );
    const changed = await patch(
      made.id,
      { priority: true },
      { workspaces: listOf('workspaces', two), vars: { data: [variable('added', '2')] } },
    );
    expect(changed.data.attributes).toMatchObject({
      name: made.attributes['name'],
      description: 'before',
      priority: true,
      'var-count': 2,
    });
    expect(await related(made.id, 'workspaces')).toEqual(listOf('workspaces', two).data);
    const cleared = await patch(made.id, { name: 'Other' }, { workspaces: listOf('workspaces') });
    expect(cleared.data.attributes).toMatchObject({ name: 'Other', 'workspace-count': 0 });
    await make({ name: made.attributes['name'] });
  });

  test('is deleted with its variables', async () => {
    const workspaceId = await makeWorkspace();
    const made = await make(
      {},
      { workspaces: listOf('workspaces', workspaceId), vars: { data: [variable('a', '1')] } },
    );
    expect((await harness.call('DELETE', `/varsets/${made.id}`)).status).toBe(204);
    expect((await harness.call('GET', `/varsets/${made.id}`)).status).toBe(404);
    expect((await harness.call('GET', `/workspaces/${workspaceId}/all-vars`)).list).toEqual([]);
    await make({ name: made.attributes['name'] });
  });

  test.for([
    [{ name: ' ' }, {}, '/data/attributes/name'],
    [{ name: 'n'.repeat(256) }, {}, '/data/attributes/name'],
    [{}, {}, '/data/attributes/name'],
    [{ name: 'x', description: 'd'.repeat(513) }, {}, '/data/attributes/description'],
    [{ name: 'x', global: 'yes' }, {}, '/data/attributes/global'],
    [{ name: 'x' }, { stacks: listOf('stacks', 'stk-1') }, '/data/relationships/stacks'],
    [
      { name: 'x' },
      { parent: { data: { type: 'organizations', id: 'globex' } } },
      '/data/relationships/parent/data/id',
    ],
    [
      { name: 'x' },
      { vars: { data: [variable('a', '1'), variable('a', '2')] } },
      '/data/relationships/vars/data/0/attributes/key',
    ],
    [
      { name: 'x' },
      { vars: { data: [variable('no spaces', '1')] } },
      '/data/relationships/vars/data/0/attributes/key',
    ],
  ] as const)('is refused for %j with %j', async ([attributes, relationships, pointer]) => {
    const { status, errors } = await post(attributes, relationships);
    expect([status, errors[0]?.source?.pointer]).toEqual([422, pointer]);
    expect(await namesUnder(`${O}/varsets?q=x`)).not.toContain('x');
  });

  test('has a unique name', async () => {
    await make({ name: 'Taken' });
    const again = await post({ name: 'Taken' });
    expect([again.status, again.errors[0]?.detail]).toEqual([422, 'Name has already been taken']);
    const other = await make();
    expect((await patch(other.id, { name: 'Taken' })).status).toBe(422);
  });

  test('cannot be applied to resources that are absent or of another organization', async () => {
    await harness.create('/organizations', 'organizations', {
      name: 'globex',
      email: 'a@b.example',
    });
    const { id } = await harness.create('/organizations/globex/workspaces', 'workspaces', {
      name: 'theirs',
    });
    const made = await make();
    for (const target of [id, 'ws-none']) {
      const body = listOf('workspaces', target);
      const path = `/varsets/${made.id}/relationships/workspaces`;
      expect((await harness.call('POST', path, body)).status).toBe(404);
    }
    expect((await patch(made.id, {}, { projects: listOf('projects', 'prj-none') })).status).toBe(
      404,
    );
    expect(await related(made.id, 'workspaces')).toEqual([]);
  });

  test('is refused for stacks', async () => {
    const { id } = await make();
    for (const method of ['POST', 'DELETE']) {
      const path = `/varsets/${id}/relationships/stacks`;
      const { status, errors } = await harness.call(method, path, listOf('stacks', 'stk-1'));
      expect([status, errors[0]?.detail]).toEqual([
        422,
        'there are no stacks here; apply the variable set to workspaces or projects',
      ]);
    }
  });

  test('is listed with the organization, a project and a workspace that it reaches', async () => {
    const projectId = await makeProject();
    const workspaceId = await makeWorkspace(inProject(projectId));
    const tag = unique('listed');
    await make({ name: `${tag} elsewhere` });
    await make({ name: `${tag} by workspace` }, { workspaces: listOf('workspaces', workspaceId) });
    await make({ name: `${tag} by project` }, { projects: listOf('projects', projectId) });
    await make({ name: `${tag} global`, global: true });
    const found = async (path: string) => {
      const names = await namesUnder(`${path}/varsets?q=${encodeURIComponent(tag.toUpperCase())}`);
      return names.map((name) => String(name).slice(tag.length + 1));
    };
    expect(await found(O)).toEqual(['by project', 'by workspace', 'elsewhere', 'global']);
    expect(await found(`/projects/${projectId}`)).toEqual(['by project', 'global']);
    expect(await found(`/workspaces/${workspaceId}`)).toEqual([
      'by project',
      'by workspace',
      'global',
    ]);
    const page = await harness.call('GET', `${O}/varsets?page[number]=999&page[size]=1`);
    expect(page.list).toEqual([]);
    expect(page.meta.pagination['current-page']).toBe(999);
  });
});

describe('the resources that a variable set applies to', () => {
  test.for(['workspaces', 'projects'] as const)('can be added and removed: %s', async (kind) => {
    const makeTarget = kind === 'workspaces' ? makeWorkspace : makeProject;
    const [one, two] = [await makeTarget(), await makeTarget()];
    const { id } = await make();
    const change = async (method: string, ...ids: readonly string[]) => {
      const path = `/varsets/${id}/relationships/${kind}`;
      expect((await harness.call(method, path, listOf(kind, ...ids))).status).toBe(204);
      return related(id, kind);
    };
    expect(await change('POST', one)).toEqual(listOf(kind, one).data);
    expect(await change('POST', one, two)).toEqual(listOf(kind, one, two).data);
    expect(await change('DELETE', one, 'never-there')).toEqual(listOf(kind, two).data);
    // A deleted workspace is removed from the targets.
    const path = kind === 'workspaces' ? `/workspaces/${two}` : `/projects/${two}`;
    expect((await harness.call('DELETE', path)).status).toBe(204);
    expect(await related(id, kind)).toEqual([]);
  });
});

describe('variables of a set', () => {
  test('can be created, shown, changed and deleted, and a sensitive value is never shown', async () => {
    const { id } = await make();
    const path = `/varsets/${id}/relationships/vars`;
    const plain = await harness.call('POST', path, { data: variable('a', '1') });
    expect([plain.status, plain.data.attributes['value']]).toEqual([200, '1']);
    expect(plain.data.relationships['varset']?.data).toEqual({ id, type: 'varsets' });
    const secret = { data: variable('b', 'hunter2', { sensitive: true }) };
    const { data } = await harness.call('POST', path, secret);
    const shown = await harness.call('GET', `${path}/${data.id}`);
    const changed = await harness.call('PATCH', `${path}/${data.id}`, {
      data: { type: 'vars', attributes: { value: 'hunter3' } },
    });
    const list = await harness.call('GET', path);
    expect(list.list.map(({ attributes }) => attributes['key'])).toEqual(['a', 'b']);
    for (const reply of [data, shown, changed, list]) {
      expect(JSON.stringify(reply)).not.toMatch(/hunter[23]/);
    }
    const bared = await harness.call('PATCH', `${path}/${data.id}`, {
      data: { type: 'vars', attributes: { sensitive: false } },
    });
    expect(bared.errors[0]?.source?.pointer).toBe('/data/attributes/sensitive');
    expect((await harness.call('DELETE', `${path}/${data.id}`)).status).toBe(204);
    expect((await harness.call('GET', `${path}/${data.id}`)).status).toBe(404);
    expect((await harness.call('GET', `/varsets/${id}`)).data.attributes['var-count']).toBe(1);
    const other = await make();
    const elsewhere = `/varsets/${other.id}/relationships/vars/${plain.data.id}`;
    expect((await harness.call('GET', elsewhere)).status).toBe(404);
  });

  test('have unique keys within a category', async () => {
    const { id } = await make({}, { vars: { data: [variable('a', '1')] } });
    const path = `/varsets/${id}/relationships/vars`;
    const again = await harness.call('POST', path, { data: variable('a', '2') });
    expect([again.status, again.errors[0]?.source?.pointer]).toEqual([422, '/data/attributes/key']);
    const env = { data: variable('a', '2', { category: 'env' }) };
    expect((await harness.call('POST', path, env)).status).toBe(200);
  });

  test('exist in only one global set', async () => {
    const key = `global_${(serial += 1)}`;
    const holder = await make({ global: true }, { vars: { data: [variable(key, '1')] } });
    const conflicting = { vars: { data: [variable(key, '2')] } };
    const second = await post({ name: unique('second'), global: true }, conflicting);
    expect([second.status, second.errors[0]?.source?.pointer]).toEqual([
      422,
      '/data/attributes/global',
    ]);
    const narrow = await make({}, conflicting);
    expect((await patch(narrow.id, { global: true })).status).toBe(422);
    const empty = await make({ global: true });
    const path = `/varsets/${empty.id}/relationships/vars`;
    const added = await harness.call('POST', path, { data: variable(key, '3') });
    expect([added.status, added.errors[0]?.source?.pointer]).toEqual([422, '/data/attributes/key']);
    await patch(holder.id, { global: false });
    expect((await harness.call('POST', path, { data: variable(key, '3') })).status).toBe(200);
    // A global set would reach the workspaces of every other test.
    await patch(empty.id, { global: false });
  });
});

describe('a variable set of a project', () => {
  test('applies only to this project and its workspaces, and cannot be global', async () => {
    const projectId = await makeProject();
    const parent = { data: { type: 'projects', id: projectId } };
    const inside = await makeWorkspace(inProject(projectId));
    const outside = await makeWorkspace();
    const made = await make({}, { parent, workspaces: listOf('workspaces', inside) });
    expect(made.relationships['parent']).toEqual(parent);
    const refused = await harness.call(
      'POST',
      `/varsets/${made.id}/relationships/workspaces`,
      listOf('workspaces', outside),
    );
    expect([refused.status, refused.errors[0]?.source?.pointer]).toEqual([422, '/data/0/id']);
    expect((await patch(made.id, { global: true })).status).toBe(422);
    // A set of another owner may have the same name.
    await make({ name: made.attributes['name'] });
  });

  test('can be managed by callers who may write the variable sets of the project', async () => {
    const projectId = await makeProject();
    const team = await harness.create(`${O}/teams`, 'teams', { name: unique('team') });
    const grantOf = { team: { data: { type: 'teams', id: team.id } } };
    await harness.create(
      '/team-projects',
      'team-projects',
      { access: 'maintain' },
      { relationships: { ...grantOf, project: { data: { type: 'projects', id: projectId } } } },
    );
    const { token } = await harness.addUser('maintainer', team.id);
    const parent = { data: { type: 'projects', id: projectId } };
    const made = await post({ name: unique('ours') }, { parent }, token);
    expect(made.status).toBe(200);
    expect((await post({ name: unique('of all') }, {}, token)).status).toBe(404);
    const ofAll = await make({}, { projects: listOf('projects', projectId) });
    const hidden = await make();
    const { list } = await harness.call('GET', `${O}/varsets`, undefined, token);
    const ids = list.map(({ id }) => id);
    expect([made.data.id, ofAll.id, hidden.id].map((id) => ids.includes(id))).toEqual([
      true,
      true,
      false,
    ]);
    const removal = (id: string) => harness.call('DELETE', `/varsets/${id}`, undefined, token);
    expect((await removal(ofAll.id)).status).toBe(404);
    expect((await removal(made.data.id)).status).toBe(204);
  });
});

describe('a caller who may read one workspace', () => {
  test('sees the sets that apply to it, with this workspace only', async () => {
    const [mine, other] = [await makeWorkspace(), await makeWorkspace()];
    const team = await harness.create(`${O}/teams`, 'teams', { name: unique('team') });
    const relationships = {
      team: { data: { type: 'teams', id: team.id } },
      workspace: { data: { type: 'workspaces', id: mine } },
    };
    const access = { access: 'read' };
    await harness.create('/team-workspaces', 'team-workspaces', access, { relationships });
    const { token } = await harness.addUser('reader', team.id);
    const both = await make({}, { workspaces: listOf('workspaces', mine, other) });
    const hidden = await make({}, { workspaces: listOf('workspaces', other) });
    const include = '?include=workspaces';
    const shown = await harness.call('GET', `/varsets/${both.id}${include}`, undefined, token);
    expect(shown.data.relationships['workspaces']).toEqual(listOf('workspaces', mine));
    expect(shown.included.map(({ id }) => id)).toEqual([mine]);
    const unseen = await harness.call('GET', `/varsets/${hidden.id}`, undefined, token);
    expect(unseen.status).toBe(404);
  });
});

describe('a run', () => {
  test('receives the effective variables, and cannot overwrite those of priority sets', async () => {
    const workspaceId = await runs.makeWorkspace();
    const path = `/workspaces/${workspaceId}/vars`;
    for (const key of ['own', 'enforced']) {
      await harness.create(path, 'vars', { key, value: 'own', category: 'terraform' });
    }
    const workspaces = listOf('workspaces', workspaceId);
    const vars = (value: string, ...keys: readonly string[]) => ({
      workspaces,
      vars: { data: keys.map((key) => variable(key, value)) },
    });
    await make({ name: 'B set' }, vars('weak', 'own', 'shared', 'given'));
    await make({ name: 'A set' }, vars('strong', 'shared'));
    await make({ priority: true }, vars('priority', 'enforced'));
    const environment = variable('TOKEN', 'hunter2', { category: 'env', sensitive: true });
    await make({}, { workspaces, vars: { data: [environment] } });

    const allVars = `/workspaces/${workspaceId}/all-vars`;
    // A script that exports the list exports the values that runs get.
    const used = (await harness.call('GET', allVars)).list;
    expect(
      Object.fromEntries(used.map(({ attributes: one }) => [one['key'], one['value']])),
    ).toEqual({ TOKEN: null, enforced: 'priority', given: 'weak', own: 'own', shared: 'strong' });
    expect(used).toHaveLength(5);
    const all = await harness.call('GET', `${allVars}?show_overwritten=true`);
    const idOf = (key: string, value: string) =>
      all.list.find(({ attributes: one }) => one['key'] === key && one['value'] === value);
    const enforced = idOf('enforced', 'priority');
    const overwritten = idOf('enforced', 'own');
    expect(enforced?.relationships['overwritten']).toEqual(listOf('vars', overwritten?.id ?? ''));
    expect(overwritten?.relationships['overwriter']?.data).toMatchObject({ id: enforced?.id });
    expect(JSON.stringify(all)).not.toContain('hunter2');

    await runs.queue(workspaceId, {
      variables: [
        { key: 'given', value: '"run"' },
        { key: 'enforced', value: '"run"' },
      ],
    });
    const phase = await runs.claim();
    const given = phase?.attributes['variables'] as { key: string; value: string }[];
    expect(given.map(({ key, value }) => `${key}=${value}`).toSorted()).toEqual([
      'TOKEN=hunter2',
      'enforced=priority',
      'given="run"',
      'given=weak',
      'own=own',
      'shared=strong',
    ]);
  });
});
