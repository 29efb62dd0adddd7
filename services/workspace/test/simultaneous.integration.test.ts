/** When two requests exclude each other and arrive at the same moment, one is done and one is refused. */
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countDone, type SimultaneousPair } from './simultaneous.ts';
import { type Harness, startHarnessOf } from './workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
beforeAll(async () => {
  harness = await startHarnessOf('acme');
});
afterAll(() => harness[Symbol.asyncDispose]());

const refer = (type: string, id: string) => ({ data: { type, id } });
const document = (type: string, attributes: object, relationships: object = {}) => ({
  data: { type, attributes, relationships },
});
const send =
  (method: string, path: string, body?: unknown, token = harness.adminToken) =>
  () =>
    harness.call(method, path, body, token);
const make = async (path: string, type: string, attributes: object, extra?: object) =>
  (await harness.create(path, type, attributes, extra)).id;
const makeWorkspace = (name: string, relationships: object = {}) =>
  make(`${O}/workspaces`, 'workspaces', { name }, { relationships });
const makeProject = (name: string) => make(`${O}/projects`, 'projects', { name });
const makeTeam = (name: string) => make(`${O}/teams`, 'teams', { name });
const makeUser = (name: string) => harness.addUser(name);

const twice = (request: ReturnType<typeof send>): SimultaneousPair => [request, request];
const inProject = (id: string) => ({ project: refer('projects', id) });

const PAIRS: readonly (readonly [
  string,
  (name: string) => Promise<SimultaneousPair> | SimultaneousPair,
])[] = [
  [
    'workspaces of one name',
    (name) => twice(send('POST', `${O}/workspaces`, document('workspaces', { name }))),
  ],
  [
    'a workspace and another that takes its name',
    async (name) => [
      send('POST', `${O}/workspaces`, document('workspaces', { name })),
      send(
        'PATCH',
        `/workspaces/${await makeWorkspace(`${name}-before`)}`,
        document('workspaces', { name }),
      ),
    ],
  ],
  [
    'projects of one name',
    (name) => twice(send('POST', `${O}/projects`, document('projects', { name }))),
  ],
  ['teams of one name', (name) => twice(send('POST', `${O}/teams`, document('teams', { name })))],
  [
    'a team and another that takes its name',
    async (name) => [
      send('POST', `${O}/teams`, document('teams', { name })),
      send('PATCH', `/teams/${await makeTeam(`${name}-before`)}`, document('teams', { name })),
    ],
  ],
  [
    'organizations of one name',
    (name) =>
      twice(send('POST', '/organizations', document('organizations', { name, email: 'a@b.c' }))),
  ],
  [
    'users of one name',
    (username) =>
      twice(
        send(
          'POST',
          '/admin/users',
          document('users', { username, email: `${username}@b.example` }),
        ),
      ),
  ],
  [
    'users of one mail address',
    (name) => {
      const named = (suffix: string) =>
        send(
          'POST',
          '/admin/users',
          document('users', { username: `${name}-${suffix}`, email: `${name}@one.example` }),
        );
      return [named('a'), named('b')];
    },
  ],
  [
    'reservations of one tag key',
    (key) => twice(send('POST', `${O}/reserved-tag-keys`, document('reserved-tag-keys', { key }))),
  ],
  [
    'variables of one key',
    async (name) => {
      const path = `/workspaces/${await makeWorkspace(name)}/vars`;
      return twice(send('POST', path, document('vars', { key: 'a', category: 'env' })));
    },
  ],
  [
    'a variable and another that takes its key',
    async (name) => {
      const path = `/workspaces/${await makeWorkspace(name)}/vars`;
      const id = await make(path, 'vars', { key: 'b', category: 'env' });
      return [
        send('POST', path, document('vars', { key: 'a', category: 'env' })),
        send('PATCH', `${path}/${id}`, document('vars', { key: 'a' })),
      ];
    },
  ],
  [
    'grants of one team on a workspace',
    async (name) => {
      const team = refer('teams', await makeTeam(name));
      const workspace = refer('workspaces', await makeWorkspace(name));
      const body = document('team-workspaces', { access: 'read' }, { team, workspace });
      return twice(send('POST', '/team-workspaces', body));
    },
  ],
  [
    'grants of one team on a project',
    async (name) => {
      const team = refer('teams', await makeTeam(name));
      const body = document(
        'team-projects',
        { access: 'read' },
        { team, ...inProject(await makeProject(name)) },
      );
      return twice(send('POST', '/team-projects', body));
    },
  ],
  [
    'tokens of one team and description',
    async (name) => {
      const path = `/teams/${await makeTeam(name)}/authentication-tokens`;
      return twice(send('POST', path, document('authentication-tokens', { description: name })));
    },
  ],
  [
    'invitations of one user',
    async (name) => {
      await makeUser(name);
      const team = { type: 'teams', id: await makeTeam(name) };
      const email = `${name}@keelson.example`;
      const body = document('organization-memberships', { email }, { teams: { data: [team] } });
      return twice(send('POST', `${O}/organization-memberships`, body));
    },
  ],
  [
    'locks',
    async (name) => twice(send('POST', `/workspaces/${await makeWorkspace(name)}/actions/lock`)),
  ],
  [
    'bindings of which the last fits',
    async (name) => {
      const data = (keys: readonly number[]) => ({
        data: keys.map((at) => ({
          type: 'tag-bindings',
          attributes: { key: `k${at}`, value: 'v' },
        })),
      });
      const nine = Array.from({ length: 9 }, (_, at) => at);
      const path = `/workspaces/${await makeWorkspace(name, { 'tag-bindings': data(nine) })}/tag-bindings`;
      return [send('PATCH', path, data([9])), send('PATCH', path, data([10]))];
    },
  ],
  [
    'the end of a project and a workspace in it',
    async (name) => {
      const id = await makeProject(name);
      return [
        send('DELETE', `/projects/${id}`),
        send('POST', `${O}/workspaces`, document('workspaces', { name }, inProject(id))),
      ];
    },
  ],
  [
    'the end of a project and a move into it',
    async (name) => {
      const id = await makeProject(name);
      const data = [{ type: 'workspaces', id: await makeWorkspace(name) }];
      return [
        send('DELETE', `/projects/${id}`),
        send('POST', `/projects/${id}/relationships/workspaces`, { data }),
      ];
    },
  ],
  [
    'the end of an organization and a workspace in it',
    async (name) => {
      const path = `/organizations/${name}`;
      await make('/organizations', 'organizations', { name, email: 'a@b.example' });
      return [
        send('DELETE', path),
        send('POST', `${path}/workspaces`, document('workspaces', { name })),
      ];
    },
  ],
  [
    'owners who take each other off',
    async (name) => {
      const path = `/organizations/${name}`;
      await make('/organizations', 'organizations', { name, email: 'a@b.example' });
      const { list } = await harness.call('GET', `${path}/teams`);
      const users = `/teams/${list[0]?.id}/relationships/users`;
      await makeUser(name);
      const named = (id: string) => ({ data: [{ type: 'users', id }] });
      await harness.call('POST', users, named(name));
      return [send('DELETE', users, named('admin')), send('DELETE', users, named(name))];
    },
  ],
];

test.for(PAIRS)('%s', async ([what, prepare]) => {
  const prefix = `${String.fromCharCode(97 + PAIRS.findIndex(([name]) => name === what))}`;
  const done = await countDone(async (round) => prepare(`${prefix}${round}xx`));
  expect(done).toEqual([1]);
});

test('renames of one workspace to and fro are all done, as it takes no name from itself', async () => {
  const id = await makeWorkspace('to');
  const rename = (name: string) =>
    send('PATCH', `/workspaces/${id}`, document('workspaces', { name }))();
  const sent: ReturnType<typeof rename>[] = [];
  for (let at = 0; at < 200; at += 1) {
    sent.push(rename(at % 2 === 0 ? 'fro' : 'to'));
    // Some arrive while the commits of others are under way.
    for (let turn = 0; turn < at % 4; turn += 1) await setImmediate();
  }
  const replies = await Promise.all(sent);
  expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
});
