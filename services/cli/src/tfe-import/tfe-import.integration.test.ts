/** `keelson import tfe` between two real servers, interrupted and resumed, and from recorded answers of another product. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  bareEnvironment,
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBreakingProxy } from '../../test/breaking-proxy.ts';
import { startRecordedSource } from '../../test/recorded-source.ts';
import { type Ended, runProgram } from '../../test/run-program.ts';
import { WorkspaceApi } from './workspace-api.ts';

const MAIN = join(import.meta.dirname, '../main.ts');
const SECRET = 'a value that nobody may read';

let folder: TemporaryDirectory;
let source: KeelsonProcess;
let target: KeelsonProcess;

interface Report {
  readonly dry_run: boolean;
  readonly taken_over: Readonly<Record<string, number>>;
  readonly already_there: Readonly<Record<string, number>>;
  readonly not_taken_over: readonly { readonly subject: string; readonly text: string }[];
  readonly failures: readonly { readonly subject: string; readonly text: string }[];
}

const runHere = (
  program: string,
  given: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ended> =>
  runProgram(program, given, {
    env: {
      ...bareEnvironment(folder.path),
      KEELSON_ADDR: target.http,
      KEELSON_API_TOKEN: target.apiToken,
      TFE_TOKEN: source.apiToken,
      ...environment,
    },
  });

const run = (
  given: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> => runHere(process.execPath, [MAIN, ...given], environment);

const importFrom = async (
  address: string,
  given: readonly string[] = [],
  environment?: Readonly<Record<string, string>>,
): Promise<Ended & { readonly report: Report }> => {
  const ended = await run(['--json', 'import', 'tfe', address, ...given], environment);
  return { ...ended, report: JSON.parse(ended.out) as Report };
};

// oxlint-disable-next-line typescript/no-explicit-any -- documents of many routes
type Answer = any;

/** Waits where the server limits requests, as the import does. */
const api = (
  server: KeelsonProcess,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body: object = {},
): Promise<Answer> => {
  const client = new WorkspaceApi({ address: server.http, token: server.apiToken });
  return method === 'GET' ? client.find(path) : client.send(method, path, body);
};

/** Creates a resource of the source; its id. */
const make = async (
  path: string,
  type: string,
  attributes: object,
  relationships: object = {},
): Promise<string> =>
  (await api(source, 'POST', path, { data: { type, attributes, relationships } })).data.id;

const one = (type: string, id: string) => ({ data: { type, id } });

const pushState = async (workspaceId: string, serial: number): Promise<void> => {
  const state = JSON.stringify({
    version: 4,
    terraform_version: '1.11.4',
    serial,
    lineage: `lineage of ${workspaceId}`,
    outputs: { serial: { value: serial, type: 'number' } },
    resources: [],
  });
  await api(source, 'POST', `workspaces/${workspaceId}/actions/lock`, { reason: 'push' });
  await make(`workspaces/${workspaceId}/state-versions`, 'state-versions', {
    serial,
    md5: createHash('md5').update(state).digest('hex'),
    state: Buffer.from(state).toString('base64'),
  });
  await api(source, 'POST', `workspaces/${workspaceId}/actions/unlock`, {});
};

/** An organization that uses everything that is taken over, and something that is not. */
const populate = async (): Promise<void> => {
  await make('organizations', 'organizations', { name: 'acme', email: 'ops@example.com' });
  const pool = await make('organizations/acme/agent-pools', 'agent-pools', { name: 'builders' });
  await api(source, 'PATCH', 'organizations/acme', {
    data: {
      type: 'organizations',
      attributes: { 'default-execution-mode': 'agent', 'default-agent-pool-id': pool },
    },
  });
  const project = await make(
    'organizations/acme/projects',
    'projects',
    {
      name: 'Network',
      description: 'of all regions',
      'default-execution-mode': 'local',
      'setting-overwrites': { 'default-execution-mode': true },
    },
    {
      'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'cost', value: '7' } }] },
    },
  );
  const team = await make('organizations/acme/teams', 'teams', {
    name: 'platform',
    visibility: 'organization',
    'organization-access': { 'manage-projects': true },
  });
  const edge = await make(
    'organizations/acme/workspaces',
    'workspaces',
    {
      name: 'edge',
      description: 'load balancers',
      'auto-apply': true,
      'execution-mode': 'agent',
      'agent-pool-id': pool,
      'global-remote-state': false,
      'terraform-version': '1.11.4',
      'trigger-patterns': ['modules/**'],
      'working-directory': 'live/edge',
      'auto-destroy-at': '2040-01-01T00:00:00Z',
    },
    {
      project: one('projects', project),
      tags: { data: [{ type: 'tags', attributes: { name: 'prod' } }] },
      'tag-bindings': {
        data: [{ type: 'tag-bindings', attributes: { key: 'region', value: 'eu' } }],
      },
    },
  );
  const core = await make('organizations/acme/workspaces', 'workspaces', { name: 'core' });
  const variable = (path: string, key: string, rest: object = {}): Promise<string> =>
    make(path, 'vars', { key, value: `value of ${key}`, category: 'env', ...rest });
  await variable(`workspaces/${edge}/vars`, 'AWS_REGION', { description: 'where' });
  await variable(`workspaces/${edge}/vars`, 'zones', {
    category: 'terraform',
    hcl: true,
    value: '["a"]',
  });
  await variable(`workspaces/${edge}/vars`, 'AWS_SECRET', { sensitive: true, value: SECRET });
  const set = await make(
    'organizations/acme/varsets',
    'varsets',
    { name: 'Credentials', description: 'of the cloud', priority: true },
    {
      workspaces: { data: [{ type: 'workspaces', id: core }] },
      projects: { data: [{ type: 'projects', id: project }] },
    },
  );
  await variable(`varsets/${set}/relationships/vars`, 'PROXY');
  await variable(`varsets/${set}/relationships/vars`, 'TOKEN', { sensitive: true, value: SECRET });
  await make(
    'organizations/acme/varsets',
    'varsets',
    { name: 'Of the project' },
    { parent: one('projects', project) },
  );
  await api(source, 'POST', `workspaces/${edge}/relationships/remote-state-consumers`, {
    data: [{ type: 'workspaces', id: core }],
  });
  await make(
    `workspaces/${core}/run-triggers`,
    'run-triggers',
    {},
    {
      sourceable: one('workspaces', edge),
    },
  );
  await make(
    'team-workspaces',
    'team-workspaces',
    { access: 'custom', runs: 'plan', 'state-versions': 'read', 'workspace-locking': true },
    { team: one('teams', team), workspace: one('workspaces', edge) },
  );
  await make(
    'team-projects',
    'team-projects',
    {
      access: 'custom',
      'project-access': { settings: 'update' },
      'workspace-access': { runs: 'apply', create: true },
    },
    { team: one('teams', team), project: one('projects', project) },
  );
  for (const serial of [1, 2, 5]) await pushState(edge, serial);
  await pushState(core, 3);
};

/** The organization as a server shows it, without the server's own values: ids, times, addresses, counters. */
const describe = async (server: KeelsonProcess): Promise<object> => {
  const of = (path: string): Promise<Answer> => api(server, 'GET', path);
  const names = new Map<string, string>();
  const all = async (kind: string): Promise<readonly Answer[]> => {
    const { data } = await of(`organizations/acme/${kind}?page[size]=100`);
    for (const { id, attributes } of data) names.set(id, attributes.name);
    return data;
  };
  const OWN =
    /-at$|-auto-destroy$|permissions|actions|^(?:id|version-id|external-id|source|source-name)$|count$/;
  const plain = ({ attributes, relationships = {} }: Answer): object => ({
    ...Object.fromEntries(Object.entries(attributes).filter(([name]) => !OWN.test(name))),
    ...Object.fromEntries(
      Object.entries(relationships as Record<string, Answer>)
        .filter(([name, { data }]) => data && name !== 'vars')
        .map(([name, { data }]) => [
          `to ${name}`,
          [data]
            .flat()
            .map(({ id }: Answer) => names.get(id) ?? '')
            .sort(),
        ]),
    ),
  });
  const sorted = (list: readonly Answer[]): readonly object[] =>
    list.map(plain).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
  const kinds = ['agent-pools', 'projects', 'teams', 'workspaces', 'varsets'];
  const found: Record<string, readonly Answer[]> = {};
  for (const kind of kinds) found[kind] = await all(kind);
  const described: Record<string, unknown> = {
    organization: plain((await of('organizations/acme')).data),
  };
  for (const kind of kinds) described[kind] = sorted(found[kind] ?? []);
  for (const { id, attributes } of found['workspaces'] ?? []) {
    const path = `workspaces/${id}`;
    const states = await of(
      `state-versions?filter[organization][name]=acme&filter[workspace][name]=${attributes.name}`,
    );
    const current = await of(`${path}/current-state-version`);
    const url = current.data.attributes['hosted-state-download-url'];
    described[attributes.name] = {
      bindings: sorted((await of(`${path}/tag-bindings`)).data),
      consumers: sorted((await of(`${path}/relationships/remote-state-consumers`)).data).length,
      triggers: (await of(`${path}/run-triggers?filter[run-trigger][type]=inbound`)).data.map(
        (trigger: Answer) => trigger.attributes['sourceable-name'],
      ),
      grants: sorted((await of(`team-workspaces?filter[workspace][id]=${id}`)).data),
      variables: sorted((await of(`${path}/vars`)).data),
      // The interrupted import left one that was only announced.
      states: states.data
        .filter((state: Answer) => state.attributes.status === 'finalized')
        .map((state: Answer) => [state.attributes.serial, state.attributes.md5]),
      content: await (await fetch(url)).text(),
    };
  }
  for (const { id, attributes } of found['projects'] ?? [])
    described[`project ${attributes.name}`] = [
      sorted((await of(`projects/${id}/tag-bindings`)).data),
      sorted((await of(`team-projects?filter[project][id]=${id}`)).data),
    ];
  for (const { id, attributes } of found['varsets'] ?? [])
    described[`set ${attributes.name}`] = sorted(
      (await of(`varsets/${id}/relationships/vars`)).data,
    );
  return described;
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  const start = (name: string, env: Readonly<Record<string, string>>): Promise<KeelsonProcess> =>
    startKeelson({ dataFolder: join(folder.path, name), env });
  [source, target] = await Promise.all([
    start('source', { KEELSON_RATE_LIMIT: 'off' }),
    // The ordinary limit: the import meets it, and waits.
    start('target', {}),
  ]);
  await populate();
});
afterAll(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
  await folder[Symbol.asyncDispose]();
});

test('a dry run names what would be taken over, and writes nothing', async () => {
  const { code, report, out } = await importFrom(source.http, ['--states', 'all', '--dry-run']);
  expect(code).toBe(0);
  expect(report).toMatchObject({
    dry_run: true,
    taken_over: { organizations: 1, workspaces: 2, variables: 3, states: 4, grants: 2 },
  });
  expect(out).not.toContain(SECRET);
  expect((await api(target, 'GET', 'organizations')).data).toEqual([]);
});

test('an interrupted import goes on where it ended, and a further one changes nothing', async () => {
  // The connection breaks with the first state, whose workspace is locked and whose version is announced.
  await using proxy = await startBreakingProxy(target.http, (request) =>
    /^PUT .*\/uploads\//.test(request),
  );
  const interrupted = await importFrom(source.http, ['--states', 'all', '--concurrency', '1'], {
    KEELSON_ADDR: proxy.url,
  });
  expect([interrupted.code, interrupted.err]).toEqual([
    1,
    expect.stringContaining('cannot be reached'),
  ]);
  expect(interrupted.report.taken_over['states'] ?? 0).toBe(0);

  const resumed = await importFrom(source.http, ['--states', 'all']);
  expect([resumed.err, resumed.code, resumed.report.failures]).toEqual(['', 0, []]);
  expect(resumed.report.taken_over).toMatchObject({ states: 4, 'run triggers': 1 });
  const { not_taken_over: left } = resumed.report;
  const lines = left.map(({ subject, text: reason }) => `${subject}: ${reason}`).join('\n');
  expect(lines).toMatch(/acme\/edge: variable AWS_SECRET \(env\) is sensitive/);
  expect(lines).toMatch(/acme, variable set Credentials: variable TOKEN \(env\) is sensitive/);
  expect(lines).toMatch(/acme\/edge: automatic destruction/);
  expect(lines).toMatch(/acme, agent pool builders: tokens of agents/);

  const [here, there] = [await describe(source), await describe(target)];
  // Left out on purpose: sensitive values and the automatic destruction.
  const expected = JSON.parse(
    JSON.stringify(here, (_, value: Answer) =>
      Array.isArray(value) ? value.filter((item) => item?.sensitive !== true) : value,
    ),
  ) as object;
  expect(JSON.parse(JSON.stringify(there))).toEqual(expected);

  const again = await importFrom(source.http, ['--states', 'all']);
  expect(again.code).toBe(0);
  expect(Object.values(again.report.taken_over).every((count) => count === 0)).toBe(true);
  expect(again.report.already_there).toMatchObject({ workspaces: 2, variables: 3, states: 4 });
  expect(await describe(target)).toEqual(there);
  for (const secret of [SECRET, source.apiToken, target.apiToken])
    expect(interrupted.out + resumed.out + again.out + again.err).not.toContain(secret);
});

test('the guide works as written', async () => {
  const page = readFileSync(new URL('../../../../docs/migrating-workspaces.md', import.meta.url));
  const script = Array.from(
    String(page).matchAll(/^```sh\n([\s\S]*?)^```$/gm),
    ([, block]) => block,
  ).join('\n');
  const bin = join(folder.path, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'keelson'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, {
    mode: 0o755,
  });
  const { code, out, err } = await runHere(
    'bash',
    ['--norc', '-eu', '-o', 'pipefail', '-c', `cd '${folder.path}'\n${script}`],
    { TFE: source.http, PATH: `${bin}:${process.env['PATH']}` },
  );
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(
    /WOULD BE TAKEN OVER[^]*acme\/edge is locked[^]*AWS_SECRET \(env\) is sensitive/,
  );
  const { data } = await api(source, 'GET', 'organizations/acme/workspaces/edge');
  expect(data.attributes['locked-reason']).toBe('moved to Keelson');
  for (const name of ['edge', 'core']) {
    const { data: locked } = await api(source, 'GET', `organizations/acme/workspaces/${name}`);
    await api(source, 'POST', `workspaces/${locked.id}/actions/unlock`);
  }
});

test('a further import adds the states that were written at the source since', async () => {
  const { data } = await api(source, 'GET', 'organizations/acme/workspaces/core');
  await pushState(data.id, 4);
  const { report } = await importFrom(source.http, ['--organization', 'acme']);
  expect(report.taken_over['states']).toBe(1);
  const { data: there } = await api(target, 'GET', 'organizations/acme/workspaces/core');
  const { data: state } = await api(target, 'GET', `workspaces/${there.id}/current-state-version`);
  expect(state.attributes.serial).toBe(4);
  expect(there.attributes.locked).toBe(false);
});

test('answers as another product gives them: limits, relative addresses, lists that are absent', async () => {
  await using recorded = await startRecordedSource('token of the source');
  const file = join(folder.path, 'tfe-token');
  writeFileSync(file, 'token of the source\n', { mode: 0o600 });
  const { code, err, report } = await importFrom(recorded.url, ['--token-file', file], {
    TFE_TOKEN: '',
  });
  expect([err, code, report.failures]).toEqual(['', 0, []]);
  expect(report.taken_over).toMatchObject({ organizations: 1, workspaces: 2, states: 1 });
  expect(report.not_taken_over).toContainEqual({
    subject: 'recorded/web',
    text: expect.stringContaining('repository example/web'),
  });
  // The store of states is another server, which must not see the token.
  expect(recorded.tokensAtStore).toEqual([undefined]);
  expect(recorded.refusals).toBe(2);
  const { data } = await api(target, 'GET', 'organizations/recorded/workspaces/web');
  expect(data.attributes).toMatchObject({
    'execution-mode': 'remote',
    'tag-names': ['web'],
    'trigger-prefixes': ['shared'],
  });
});

test('a refusal of one thing is named, and the rest is taken over', async () => {
  const { data } = await api(target, 'GET', 'organizations/acme/workspaces/core');
  await api(target, 'POST', `workspaces/${data.id}/actions/lock`, { reason: 'mine' });
  const { data: here } = await api(source, 'GET', 'organizations/acme/workspaces/core');
  await pushState(here.id, 6);
  const ended = await importFrom(source.http);
  expect([ended.code, ended.report.failures]).toEqual([
    1,
    [{ subject: 'acme/core', text: expect.stringContaining('/actions/lock') }],
  ]);
  expect(ended.report.already_there['workspaces']).toBe(2);
});

test('mistakes are refused before anything is asked', async () => {
  const answers = [
    await run(['import', 'tfe', 'nowhere']),
    await run(['import', 'tfe', source.http, '--concurrency', '17']),
    await run(['import', 'tfe', source.http, '--states', 'some']),
    await run(['import', 'tfe', source.http], { TFE_TOKEN: '' }),
    await run(['import', 'tfe', source.http], { TFE_TOKEN: 'wrong' }),
    await run(['import', 'tfe', source.http, '--token-file', join(folder.path, 'none')]),
  ];
  expect(answers.map(({ code }) => code)).toEqual([64, 64, 64, 1, 1, 1]);
  expect(answers.map(({ err }) => err).join('')).toMatch(
    /write https:\/\/HOST[^]*at most 16[^]*all, current, none[^]*set TFE_TOKEN[^]*a valid API token of \/api\/v2 is required[^]*cannot be read/,
  );
});
