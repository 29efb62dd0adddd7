/** A project, a workspace and everything that belongs to one. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import {
  type GoldenCalls,
  type GoldenRead,
  ORGANIZATION,
  one,
  reads,
  resource,
  several,
} from './golden-calls.ts';

const STATE = JSON.stringify({
  version: 4,
  terraform_version: '1.9.0',
  serial: 1,
  lineage: 'golden',
  outputs: { address: { value: '192.0.2.1', type: 'string' } },
  resources: [
    {
      mode: 'managed',
      type: 'machine',
      name: 'one',
      provider: 'provider["registry.example/example/machines"]',
      instances: [{ schema_version: 0, attributes: { id: 'm-1', size: 2 } }],
    },
  ],
});

export const stateOf = (serial: number): object => {
  const state = Buffer.from(STATE.replace('"serial":1', `"serial":${serial}`));
  return resource('state-versions', {
    serial,
    md5: createHash('md5').update(state).digest('hex'),
    state: state.toString('base64'),
  });
};

export const makeWorkspace = async ({ api }: GoldenCalls): Promise<readonly GoldenRead[]> => {
  const project = await api(
    'POST',
    `${ORGANIZATION}/projects`,
    resource('projects', { name: 'network' }),
  );
  const made = await api(
    'POST',
    `${ORGANIZATION}/workspaces`,
    resource(
      'workspaces',
      { name: 'production', description: 'golden', 'execution-mode': 'local' },
      { project: one('projects', project.data.id) },
    ),
  );
  const workspace = `workspaces/${made.data.id}`;
  for (const sensitive of [false, true])
    await api(
      'POST',
      `${workspace}/vars`,
      resource('vars', { key: `v_${sensitive}`, value: 'x', category: 'terraform', sensitive }),
    );
  await api('PATCH', `${workspace}/tag-bindings`, {
    data: [{ type: 'tag-bindings', attributes: { key: 'tier', value: 'one' } }],
  });
  const set = await api(
    'POST',
    `${ORGANIZATION}/varsets`,
    resource('varsets', { name: 'shared' }, { workspaces: several('workspaces', made.data.id) }),
  );
  const inSet = `varsets/${set.data.id}`;
  await api('POST', `${inSet}/relationships/projects`, several('projects', project.data.id));
  await api(
    'POST',
    `${inSet}/relationships/vars`,
    resource('vars', { key: 'region', value: 'eu', category: 'env' }),
  );
  await api(
    'POST',
    `${ORGANIZATION}/varsets`,
    resource('varsets', { name: 'of a project' }, { parent: one('projects', project.data.id) }),
  );
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = await api(
    'POST',
    `${ORGANIZATION}/ssh-keys`,
    resource('ssh-keys', {
      name: 'modules',
      value: privateKey.export({ format: 'pem', type: 'pkcs8' }),
    }),
  );
  await api('PATCH', `${workspace}/relationships/ssh-key`, {
    data: { type: 'workspaces', attributes: { id: key.data.id } },
  });
  const { data: teams } = await api('GET', `${ORGANIZATION}/teams`);
  const developers = teams.find(
    ({ attributes }: { attributes: { name: string } }) => attributes.name === 'developers',
  );
  const team = one('teams', developers.id);
  await api(
    'POST',
    'team-workspaces',
    resource(
      'team-workspaces',
      { access: 'write' },
      { team, workspace: one('workspaces', made.data.id) },
    ),
  );
  await api(
    'POST',
    'team-projects',
    resource(
      'team-projects',
      { access: 'read' },
      { team, project: one('projects', project.data.id) },
    ),
  );
  await api(
    'POST',
    `${workspace}/notification-configurations`,
    resource('notification-configurations', {
      name: 'chat',
      'destination-type': 'generic',
      url: 'http://[::1]/',
      token: 'golden',
      triggers: ['run:completed'],
    }),
  );
  const client = await api(
    'POST',
    `${ORGANIZATION}/oauth-clients`,
    resource('oauth-clients', {
      'service-provider': 'github',
      'http-url': 'https://github.example',
      'api-url': 'https://api.github.example',
      'oauth-token-string': 'golden',
    }),
  );
  await api(
    'PATCH',
    `oauth-tokens/${client.data.relationships['oauth-tokens'].data[0].id}`,
    resource('oauth-tokens', {}, { 'ssh-key': one('ssh-keys', key.data.id) }),
  );
  await api('POST', `${workspace}/actions/lock`, { reason: 'golden' });
  await api('POST', `${workspace}/state-versions`, stateOf(1));
  const state = await api('GET', `${workspace}/current-state-version`);
  return reads('api', 'GET', [
    `${ORGANIZATION}/projects`,
    `projects/${project.data.id}`,
    `${ORGANIZATION}/workspaces`,
    `${ORGANIZATION}/workspaces/production`,
    workspace,
    `${workspace}/vars`,
    `${workspace}/tag-bindings`,
    `${workspace}/effective-tag-bindings`,
    `${workspace}/varsets`,
    `${ORGANIZATION}/varsets`,
    inSet,
    `${inSet}/relationships/vars`,
    `projects/${project.data.id}/varsets`,
    `${ORGANIZATION}/ssh-keys`,
    `ssh-keys/${key.data.id}`,
    `team-workspaces?filter[workspace][id]=${made.data.id}`,
    `team-projects?filter[project][id]=${project.data.id}`,
    `${workspace}/notification-configurations`,
    `${ORGANIZATION}/oauth-clients`,
    `oauth-clients/${client.data.id}`,
    `oauth-clients/${client.data.id}/oauth-tokens`,
    `state-versions/${state.data.id}`,
    `state-versions/${state.data.id}/outputs`,
    `${workspace}/current-state-version`,
    `${workspace}/resources`,
    `state-versions?filter[organization][name]=acme&filter[workspace][name]=production`,
  ]);
};
