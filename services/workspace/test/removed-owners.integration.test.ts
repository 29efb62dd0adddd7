/**
 * The remains of an owner of each kind after its deletion, with everything that can belong to it: no record of
 * any scope, no row of a projection, no object.
 */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { openFolderStorage } from '@keelson/objects';
import { type S3Server, startS3 } from '@keelson/testkit';
import type { Kysely } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WORKSPACE_PROJECTIONS } from '../src/compose.ts';
import { startRunHarness } from './run-harness.ts';

const O = '/organizations/acme';
const KEEP_DAYS = 1;
const DAY_MS = 86_400_000;
const KEYS = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
/** Larger than what is stored in records. */
const LARGE = 'x'.repeat(200_000);

let server: S3Server;
let runs: Awaited<ReturnType<typeof startRunHarness>>;
beforeAll(async () => {
  server = await startS3();
  runs = await startRunHarness({
    config: {
      objectStorageEndpoint: server.access.endpoint,
      objectStorageBucket: server.access.bucket,
      objectStorageAccessKeyId: server.access.accessKeyId,
      objectStorageSecretAccessKey: server.access.secretAccessKey,
      objectStorageKeepDays: KEEP_DAYS,
    },
  });
  await runs.harness.addUser('member');
  // Records that the first state of an organization creates are kept.
  await storeState(await runs.makeWorkspace());
});
afterAll(async () => {
  await runs?.harness[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const refer = (type: string, id: string) => ({ data: { type, id } });
const call = (method: string, path: string, body?: unknown) =>
  runs.harness.call(method, path, body);
const make = async (path: string, type: string, attributes: object, relationships = {}) =>
  (await runs.harness.create(path, type, attributes, { relationships })).id;
const change = async (path: string, type: string, attributes: object): Promise<void> => {
  const { status } = await call('PATCH', path, { data: { type, attributes } });
  expect(status).toBe(200);
};

const keepShort = async (path: string): Promise<void> => {
  const attributes = { deleteRunDataAndLogs: true, runDataAndLogsDeleteAfterNDays: 30 };
  const data = { type: 'data-retention-policy-delete-olders', attributes };
  const { status } = await call('POST', `${path}/relationships/data-retention-policy`, { data });
  expect(status).toBe(200);
};

/** A configuration that waits for nothing, and whose reminders are recorded. */
const notify = (path: string) =>
  make(`${path}/notification-configurations`, 'notification-configurations', {
    name: 'n',
    enabled: false,
    'destination-type': 'generic',
    url: 'https://hook.example',
  });

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
  const { attributes } = await runs.harness.create(path, 'authentication-tokens', {});
  const body = { data: { type: 'agents', attributes: { name } } };
  await runs.harness.call('POST', '/agents', body, String(attributes['token']));
  return id;
};
const inPool = (id: string) => ({
  'default-execution-mode': 'agent',
  'default-agent-pool-id': id,
});

const fillTeam = async (organization: string, projectId: string): Promise<string> => {
  const id = await make(`${organization}/teams`, 'teams', { name: 'before' });
  const path = `/teams/${id}`;
  await change(path, 'teams', { name: 'after' });
  const member = { data: [{ type: 'users', id: 'member' }] };
  await call('POST', `${path}/relationships/users`, member);
  const related = { team: refer('teams', id), project: refer('projects', projectId) };
  await make('/team-projects', 'team-projects', { access: 'read' }, related);
  for (const description of ['', 'further']) {
    await make(`${path}/authentication-tokens`, 'authentication-tokens', { description });
  }
  await notify(path);
  return path;
};

const fillProject = async (organization: string, poolId: string): Promise<string> => {
  const attributes = { name: 'Before', ...inPool(poolId) };
  const id = await make(`${organization}/projects`, 'projects', attributes);
  const path = `/projects/${id}`;
  await change(path, 'projects', { name: 'After' });
  const { list } = await call('GET', `${organization}/teams?q=owners`);
  const related = { team: refer('teams', list[0]?.id ?? ''), project: refer('projects', id) };
  await make('/team-projects', 'team-projects', { access: 'read' }, related);
  const projects = { data: [{ type: 'projects', id }] };
  await makeVariableSet(organization, { parent: refer('projects', id), projects });
  const tags = [{ type: 'tag-bindings', attributes: { key: 'cost', value: 'prod' } }];
  expect((await call('PATCH', `${path}/tag-bindings`, { data: tags })).status).toBe(200);
  await notify(path);
  return id;
};

const storeState = async (workspaceId: string): Promise<void> => {
  const outputs = { a: { value: LARGE } };
  const state = Buffer.from(JSON.stringify({ version: 4, serial: 1, outputs }));
  const at = `/workspaces/${workspaceId}`;
  await call('POST', `${at}/actions/lock`);
  await make(`${at}/state-versions`, 'state-versions', {
    serial: 1,
    md5: createHash('md5').update(state).digest('hex'),
    state: state.toString('base64'),
  });
  await call('POST', `${at}/actions/unlock`);
};

/** A planned run with a log, a plan and a comment. */
const plan = async (workspaceId: string): Promise<string> => {
  runs.agentIds.splice(0, runs.agentIds.length, await runs.registerAgent('planner'));
  const runId = await runs.queue(workspaceId);
  const url = String((await runs.claim())?.attributes['plan-file-upload-url']);
  expect((await runs.harness.transfer('PUT', url, Buffer.from(LARGE))).status).toBe(204);
  const log = { data: { type: 'logs', attributes: { text: 'Planning' } } };
  expect((await runs.asRun(runId, 'POST', `/agent-runs/${runId}/logs`, log)).status).toBe(204);
  await make(`/runs/${runId}/comments`, 'comments', { body: 'why' });
  expect(await runs.finish(runId)).toBe(204);
  return runId;
};

const fillWorkspace = async (): Promise<string> => {
  const consumerId = await runs.makeWorkspace();
  const id = await runs.makeWorkspace({ 'assessments-enabled': true });
  const at = `/workspaces/${id}`;
  for (const provisional of [false, true])
    await runs.uploadTo(id, { provisional }, { 'README.md': LARGE });
  await make(`${at}/vars`, 'vars', { key: 'A', category: 'env' });
  const tags = [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }];
  await call('PATCH', `${at}/tag-bindings`, { data: tags });
  const consumers = { data: [{ type: 'workspaces', id: consumerId }] };
  await call('POST', `${at}/relationships/remote-state-consumers`, consumers);
  const sourceable = refer('workspaces', consumerId);
  await make(`${at}/run-triggers`, 'run-triggers', {}, { sourceable });
  await make(`/workspaces/${consumerId}/vars`, 'vars', { key: 'A', category: 'env' });
  await keepShort(at);
  const { list } = await call('GET', `${O}/teams?q=owners`);
  const related = { team: refer('teams', list[0]?.id ?? ''), workspace: refer('workspaces', id) };
  await make('/team-workspaces', 'team-workspaces', { access: 'read' }, related);
  const workspaces = { data: [{ type: 'workspaces', id }] };
  const sets = (await call('GET', `${O}/varsets`)).list;
  for (const { id: set } of sets)
    await call('POST', `/varsets/${set}/relationships/workspaces`, workspaces);
  await notify(at);
  await storeState(id);
  await runs.act(await plan(id), 'discard');
  expect((await call('DELETE', `/workspaces/${consumerId}`)).status).toBe(204);
  return at;
};

const fillOrganization = async (): Promise<string> => {
  const path = '/organizations/after';
  await make('/organizations', 'organizations', { name: 'before', email: 'a@b.example' });
  await change('/organizations/before', 'organizations', { name: 'after' });
  await change(path, 'organizations', inPool(await makePool(path, 'default')));
  await fillTeam(path, await fillProject(path, await makePool(path, 'of-project')));
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
  const invited = { email: 'invited@keelson.example' };
  await make(`${path}/organization-memberships`, 'organization-memberships', invited);
  const workspace = await make(`${path}/workspaces`, 'workspaces', { name: 'app' });
  await runs.uploadTo(workspace, {}, { 'README.md': LARGE });
  await storeState(workspace);
  await keepShort(path);
  return path;
};

/** A member with tokens that have been used, who receives notifications. */
const fillUser = async (): Promise<string> => {
  const { list } = await call('GET', `${O}/teams?q=owners`);
  const { id, token } = await runs.harness.addUser('leaver', list[0]?.id ?? '');
  await make(`/users/${id}/authentication-tokens`, 'authentication-tokens', {});
  expect((await runs.harness.call('GET', O, undefined, token)).status).toBe(200);
  return `/admin/users/${id}`;
};

/** Everything stored, by path, row or key. */
const everything = async (): Promise<readonly string[]> => {
  const { store } = runs.harness;
  const found: string[] = [];
  for (const scope of ['shared/', 'local/', 'node/'])
    found.push(...(await store.scan(scope)).map(({ path }) => path));
  for (const { table } of WORKSPACE_PROJECTIONS) {
    const rows = await store.select((tables: Kysely<Record<string, object>>) =>
      tables.selectFrom(table).selectAll(),
    );
    found.push(...rows.map((row) => `row of ${table}: ${JSON.stringify(row)}`));
  }
  const objects = await openFolderStorage(server.bucketFolder).list('', { limit: 1000 });
  return [...found, ...objects.map(({ key }) => `object ${key}`)].toSorted();
};

/** Lets everything become due that is deleted later, and agents be forgotten. */
const settle = async (): Promise<void> => {
  for (let day = 0; day <= KEEP_DAYS; day += 1) {
    await runs.harness.runUpkeep();
    runs.harness.clock.advance(DAY_MS);
  }
  await runs.harness.runUpkeep();
  await runs.harness.runUpkeep();
};

/** An organization keeps the events of its former parts, as long as it exists. */
const isEvent = (path: string): boolean => path.startsWith('shared/audit-events/');

test.for([
  ['an organization', 90, true, fillOrganization],
  [
    'a project',
    15,
    false,
    async () => {
      const { list } = await call('GET', `${O}/agent-pools`);
      return `/projects/${await fillProject(O, list[0]?.id ?? '')}`;
    },
  ],
  [
    'a team',
    15,
    false,
    async () => {
      await change(O, 'organizations', { 'members-leave-with-last-team': true });
      const { data } = await call('GET', O);
      const project = data.relationships['default-project']?.data as { id: string };
      return fillTeam(O, project.id);
    },
  ],
  ['a workspace', 40, true, fillWorkspace],
  ['a user', 8, false, fillUser],
] as const)('nothing of %s remains', async ([, count, hasObjects, fill]) => {
  await settle();
  const isOwner = fill === fillOrganization;
  const rest = async () => (await everything()).filter((one) => isOwner || !isEvent(one));
  const before = await rest();
  const path = await fill();
  const added = (await rest()).filter((one) => !before.includes(one));
  expect(added.length).toBeGreaterThan(count);
  expect(added.some((one) => one.startsWith('object '))).toBe(hasObjects);
  expect((await call('DELETE', path)).status).toBe(204);
  await settle();
  expect(await rest()).toEqual(before);
});
