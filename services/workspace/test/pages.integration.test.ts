/** Resources around workspaces are listed in pages: each item once, in one order, and nothing beyond. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarnessOf } from './workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
const known: Record<string, string> = {};
beforeAll(async () => {
  harness = await startHarnessOf('acme', 'globex', 'initech');
  const make = async (path: string, type: string, attributes: object, relationships = {}) =>
    (await harness.create(path, type, attributes, { relationships })).id;
  const refer = (type: string, id: string | undefined) => ({ data: { type, id } });
  known['project'] = await make(`${O}/projects`, 'projects', { name: 'Shop' });
  known['workspace'] = await make(`${O}/workspaces`, 'workspaces', { name: 'app' });
  known['team'] = await make(`${O}/teams`, 'teams', { name: 'members' });
  known['pool'] = await make(`${O}/agent-pools`, 'agent-pools', { name: 'pool' });
  known['user'] = (await harness.addUser('writer')).id;
  // Not in the order of their names.
  for (const name of ['three', 'one', 'two']) {
    harness.clock.advance(1000);
    await make(`${O}/projects`, 'projects', { name });
    await make(`${O}/agent-pools`, 'agent-pools', { name });
    await make(`${O}/reserved-tag-keys`, 'reserved-tag-keys', { key: name });
    await harness.addUser(name, known['team']);
    const team = refer('teams', await make(`${O}/teams`, 'teams', { name }));
    const workspace = refer('workspaces', known['workspace']);
    const project = refer('projects', known['project']);
    await make('/team-workspaces', 'team-workspaces', { access: 'read' }, { team, workspace });
    await make('/team-projects', 'team-projects', { access: 'read' }, { team, project });
    for (const owner of ['users/user', 'teams/team', 'agent-pools/pool']) {
      const path = `/${owner.replace(/\w+$/, (key) => known[key] ?? '')}/authentication-tokens`;
      await make(path, 'authentication-tokens', { description: name });
    }
    known['client'] = await make(`${O}/oauth-clients`, 'oauth-clients', {
      name,
      'service-provider': 'github',
      'http-url': 'https://git.example',
      'api-url': 'https://git.example/api',
      'oauth-token-string': 't',
    });
    await harness.call('POST', `/workspaces/${known['workspace']}/relationships/tags`, {
      data: [{ type: 'tags', attributes: { name } }],
    });
  }
});
afterAll(() => harness[Symbol.asyncDispose]());

const OLDEST_FIRST = ['three', 'one', 'two'];
const BY_NAME = ['one', 'three', 'two'];

const LISTS = [
  ['/organizations', 'name', ['acme', 'globex', 'initech']],
  [`${O}/projects`, 'name', ['Default Project', 'Shop', ...BY_NAME]],
  [`${O}/teams`, 'name', ['members', 'one', 'owners', 'three', 'two']],
  [`${O}/agent-pools`, 'name', ['one', 'pool', 'three', 'two']],
  [`${O}/reserved-tag-keys`, 'key', BY_NAME],
  [`${O}/tags`, 'name', BY_NAME],
  ['/workspaces/:workspace/relationships/tags', 'name', OLDEST_FIRST],
  [`${O}/oauth-clients`, 'name', OLDEST_FIRST],
  [`${O}/oauth-tokens`, 'has-ssh-key', [false, false, false]],
  ['/oauth-clients/:client/oauth-tokens', 'has-ssh-key', [false]],
  ['/teams/:team/authentication-tokens', 'description', OLDEST_FIRST],
  ['/agent-pools/:pool/authentication-tokens', 'description', OLDEST_FIRST],
  // The first one is created with the users of the tests.
  ['/users/:user/authentication-tokens', 'description', [null, ...OLDEST_FIRST]],
  [`${O}/team-tokens`, 'description', OLDEST_FIRST],
  ['/team-workspaces?filter[workspace][id]=:workspace', 'access', ['read', 'read', 'read']],
  ['/team-projects?filter[project][id]=:project', 'access', ['read', 'read', 'read']],
  [
    `${O}/organization-memberships`,
    'email',
    ['admin@keelson.invalid', ...BY_NAME.map((name) => `${name}@keelson.example`)],
  ],
  [
    '/teams/:team/relationships/organization-memberships',
    'email',
    OLDEST_FIRST.map((name) => `${name}@keelson.example`),
  ],
] as const;

test.for(LISTS)('%s by %s: %j', async ([path, attribute, expected]) => {
  const target = path.replace(/:(\w+)/, (_, key: string) => known[key] ?? '');
  const list = (number: number) =>
    harness.call(
      'GET',
      `${target}${target.includes('?') ? '&' : '?'}page[size]=1&page[number]=${number}`,
    );
  const total = expected.length;
  const shown: unknown[] = [];
  const ids = new Set<string>();
  for (let number = 1; number <= total + 2; number += 1) {
    const { list: items, meta } = await list(number);
    expect(items).toHaveLength(number <= total ? 1 : 0);
    expect(meta.pagination).toMatchObject({
      'current-page': number,
      'next-page': number < total ? number + 1 : null,
      'prev-page': number > 1 ? number - 1 : null,
      'total-count': total,
      'total-pages': total,
    });
    for (const { id, attributes } of items) {
      ids.add(id);
      shown.push(attributes[attribute]);
    }
  }
  expect([ids.size, shown]).toEqual([total, expected]);
});

test.for([
  ...LISTS.map(([path]) => path),
  `${O}/workspaces`,
  `${O}/runs`,
  `${O}/varsets`,
  '/workspaces/:workspace/runs',
  '/workspaces/:workspace/vars',
  '/workspaces/:workspace/configuration-versions',
  '/workspaces/:workspace/run-triggers?filter[run-trigger][type]=inbound',
  '/agent-pools/:pool/agents',
  '/vars?filter[organization][name]=acme&filter[workspace][name]=app',
  '/state-versions?filter[organization][name]=acme&filter[workspace][name]=app',
])('%s refuses unsupported filters and searches', async (path) => {
  const target = path.replace(/:(\w+)/, (_, key: string) => known[key] ?? '');
  const joined = target.includes('?') ? `${target}&` : `${target}?`;
  for (const parameter of ['filter[nonsense]', 'filter[names][]', 'search[nonsense]', 'sort']) {
    const { status, errors } = await harness.call('GET', `${joined}${parameter}=nonsense`);
    expect([status, errors[0]?.source?.parameter]).toEqual([400, parameter]);
  }
  // A parameter without a value filters nothing, and clients send private parameters.
  const others = 'filter[nonsense]=&search[nonsense]=&sort=&fields[runs]=status&x-trace=1';
  expect((await harness.call('GET', `${joined}${others}`)).status).toBe(200);
});
