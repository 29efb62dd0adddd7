/**
 * Records that are deleted with an organization, a project or a team, and records that are kept.
 */
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarnessOf } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
const KEYS = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
let harness: Harness;
beforeAll(async () => {
  harness = await startHarnessOf('acme');
  await harness.addUser('member');
});
afterAll(() => harness[Symbol.asyncDispose]());

const refer = (type: string, id: string) => ({ data: { type, id } });
const make = async (path: string, type: string, attributes: object, relationships = {}) =>
  (await harness.create(path, type, attributes, { relationships })).id;
const change = async (path: string, type: string, attributes: object): Promise<void> => {
  const { status } = await harness.call('PATCH', path, { data: { type, attributes } });
  expect(status).toBe(200);
};

/** A variable set that has been renamed. */
const makeVariableSet = async (organization: string, relationships: object): Promise<void> => {
  const vars = { data: [{ type: 'vars', attributes: { key: 'a', category: 'env' } }] };
  const all = { ...relationships, vars };
  const id = await make(`${organization}/varsets`, 'varsets', { name: 'before' }, all);
  await change(`/varsets/${id}`, 'varsets', { name: 'after' });
};

/** A pool with a token and an agent. */
const makePool = async (organization: string, name: string): Promise<string> => {
  const id = await make(`${organization}/agent-pools`, 'agent-pools', { name });
  const path = `/agent-pools/${id}/authentication-tokens`;
  const { attributes } = await harness.create(path, 'authentication-tokens', {});
  const body = { data: { type: 'agents', attributes: { name } } };
  await harness.call('POST', '/agents', body, String(attributes['token']));
  return id;
};
const inPool = (id: string) => ({
  'default-execution-mode': 'agent',
  'default-agent-pool-id': id,
});

const furnishTeam = async (organization: string, projectId: string): Promise<string> => {
  const id = await make(`${organization}/teams`, 'teams', { name: 'before' });
  await change(`/teams/${id}`, 'teams', { name: 'after' });
  const member = { data: [{ type: 'users', id: 'member' }] };
  await harness.call('POST', `/teams/${id}/relationships/users`, member);
  const related = { team: refer('teams', id), project: refer('projects', projectId) };
  await make('/team-projects', 'team-projects', { access: 'read' }, related);
  for (const description of ['', 'further']) {
    const path = `/teams/${id}/authentication-tokens`;
    await make(path, 'authentication-tokens', { description });
  }
  return id;
};

const furnishProject = async (organization: string, poolId: string): Promise<string> => {
  const attributes = { name: 'Before', ...inPool(poolId) };
  const id = await make(`${organization}/projects`, 'projects', attributes);
  await change(`/projects/${id}`, 'projects', { name: 'After' });
  const { list } = await harness.call('GET', `${organization}/teams?q=owners`);
  const related = { team: refer('teams', list[0]?.id ?? ''), project: refer('projects', id) };
  await make('/team-projects', 'team-projects', { access: 'read' }, related);
  const projects = { data: [{ type: 'projects', id }] };
  await makeVariableSet(organization, { parent: refer('projects', id), projects });
  return id;
};

const furnishOrganization = async (): Promise<string> => {
  const path = '/organizations/after';
  await make('/organizations', 'organizations', { name: 'before', email: 'a@b.example' });
  await change('/organizations/before', 'organizations', { name: 'after' });
  await change(path, 'organizations', inPool(await makePool(path, 'default')));
  await furnishTeam(path, await furnishProject(path, await makePool(path, 'of-project')));
  const value = '-----BEGIN PRIVATE KEY-----';
  await make(`${path}/ssh-keys`, 'ssh-keys', { name: 'k', value });
  await make(`${path}/oauth-clients`, 'oauth-clients', {
    'service-provider': 'github',
    'http-url': 'https://git.example',
    'api-url': 'https://git.example/api',
    'oauth-token-string': 't',
  });
  await make(`${path}/oauth-clients`, 'oauth-clients', {
    'service-provider': 'bitbucket_data_center',
    'http-url': 'https://git.example',
    'api-url': 'https://git.example',
    key: 'keelson',
    secret: KEYS.privateKey,
    'rsa-public-key': KEYS.publicKey,
  });
  await makeVariableSet(path, {});
  await make(`${path}/reserved-tag-keys`, 'reserved-tag-keys', { key: 'cost' });
  await make(`${path}/authentication-token`, 'authentication-tokens', {});
  const limits = { deleteRunDataAndLogs: true, runDataAndLogsDeleteAfterNDays: 30 };
  const policy = { data: { type: 'data-retention-policy-delete-olders', attributes: limits } };
  const retention = await harness.call(
    'POST',
    `${path}/relationships/data-retention-policy`,
    policy,
  );
  expect(retention.status).toBe(200);
  return path;
};

const paths = async () => (await harness.store.scan('shared/')).map(({ path }) => path);

test.for([
  ['an organization', 52, furnishOrganization],
  [
    'a project',
    11,
    async () => {
      const { list } = await harness.call('GET', `${O}/agent-pools`);
      return `/projects/${await furnishProject(O, list[0]?.id ?? '')}`;
    },
  ],
  [
    'a team',
    12,
    async () => {
      await change(O, 'organizations', { 'members-leave-with-last-team': true });
      const { data } = await harness.call('GET', O);
      const project = data.relationships['default-project']?.data as { id: string };
      return `/teams/${await furnishTeam(O, project.id)}`;
    },
  ],
] as const)('%s is deleted with all of its records', async ([, count, furnish]) => {
  await makePool(O, `pool-${count}`);
  const before = await paths();
  const path = await furnish();
  expect((await paths()).length).toBeGreaterThanOrEqual(before.length + count);
  expect((await harness.call('DELETE', path)).status).toBe(204);
  expect(await paths()).toEqual(before);
});
