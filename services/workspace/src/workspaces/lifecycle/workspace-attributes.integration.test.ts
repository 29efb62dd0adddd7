/** Every attribute of a workspace: accepted, returned, kept when left out, and refused with another type. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
let tokenId: string;
let serial = 0;

beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  tokenId = await connect();
});
afterAll(() => harness[Symbol.asyncDispose]());

const connect = async (): Promise<string> => {
  const client = await harness.create(`${O}/oauth-clients`, 'oauth-clients', {
    'service-provider': 'github',
    'http-url': 'https://github.example',
    'api-url': 'https://api.github.example',
    'oauth-token-string': 'secret',
  });
  const tokens = client.relationships['oauth-tokens']?.data as { id: string }[] | undefined;
  return tokens?.[0]?.id ?? '';
};

const document = (attributes: object) => ({
  data: { type: 'workspaces', attributes },
});
const tryCreate = (attributes: object) =>
  harness.call('POST', `${O}/workspaces`, document({ name: `w-${(serial += 1)}`, ...attributes }));
const create = async (attributes: object = {}) => {
  const { status, data, errors } = await tryCreate(attributes);
  if (status !== 201) throw new Error(JSON.stringify(errors));
  return data;
};
const update = (id: string, attributes: object) =>
  harness.call('PATCH', `/workspaces/${id}`, document(attributes));
const show = async (id: string) => (await harness.call('GET', `/workspaces/${id}`)).data;
const refusal = ({ status, errors }: Awaited<ReturnType<typeof tryCreate>>) => ({
  status,
  pointers: errors.map(({ source }) => source?.pointer),
});

/** Attribute, a value other than the default, and one of another type. */
const ATTRIBUTES: readonly (readonly [string, unknown, unknown])[] = [
  ['allow-destroy-plan', false, 'no'],
  ['auto-apply', true, 1],
  ['auto-apply-run-trigger', true, 'true'],
  ['auto-destroy-at', '2040-01-01T00:00:00.000Z', 7],
  ['auto-destroy-activity-duration', '9999h', 14],
  ['description', 'what it is for', ['x']],
  ['execution-mode', 'local', true],
  ['file-triggers-enabled', false, 0],
  ['global-remote-state', true, 'all'],
  ['project-remote-state', true, 'all'],
  ['queue-all-runs', true, 'yes'],
  ['runtime-version', '~> 1.10.0', 1.1],
  ['speculative-enabled', false, 'no'],
  ['structured-run-output-enabled', false, 'no'],
  ['trigger-patterns', ['/modules/**/*.tf'], 'a'],
  ['trigger-prefixes', ['/shared'], [1]],
  ['working-directory', 'live/app', 7],
];

describe('an attribute of a workspace', () => {
  test.for(ATTRIBUTES)('%s is accepted on creation and on update', async ([name, value, wrong]) => {
    const made = await create({ [name]: value });
    expect(made.attributes[name]).toEqual(value);
    const other = await create();
    expect(other.attributes[name]).not.toEqual(value);
    expect((await update(other.id, { [name]: value })).data.attributes[name]).toEqual(value);
    // An attribute that is left out keeps its value.
    await update(other.id, { 'source-name': 'ignored' });
    expect((await show(other.id)).attributes[name]).toEqual(value);

    const pointer = `/data/attributes/${name}`;
    for (const reply of [
      await tryCreate({ [name]: wrong }),
      await update(other.id, { [name]: wrong }),
    ]) {
      expect(refusal(reply).status).toBe(422);
      expect(refusal(reply).pointers[0]?.startsWith(pointer)).toBe(true);
    }
  });

  test('assessments-enabled is off again when an update leaves it out', async () => {
    const { id, attributes } = await create({ 'assessments-enabled': true });
    expect(attributes['assessments-enabled']).toBe(true);
    const named = await update(id, { 'drift-detection': true });
    expect(named.data.attributes['assessments-enabled']).toBe(true);
    expect(named.meta).toBeUndefined();
    const unnamed = await update(id, { description: 'of the same' });
    expect(unnamed.data.attributes['assessments-enabled']).toBe(false);
    expect(unnamed.meta.warnings).toEqual([expect.stringContaining('assessments-enabled')]);
    expect((await update(id, {})).meta).toBeUndefined();
  });

  test('are named in errors as the request wrote them', async () => {
    const { id } = await create();
    for (const given of ['terraform-version', 'terraform_version', 'runtime-version']) {
      for (const value of [5, 'newest']) {
        const pointers = [`/data/attributes/${given}`];
        expect(refusal(await update(id, { [given]: value }))).toEqual({ status: 422, pointers });
      }
    }
  });

  test('drift-detection is the old name of assessments-enabled', async () => {
    const { attributes } = await create({ 'drift-detection': true });
    expect(attributes['assessments-enabled']).toBe(true);
    const both = { 'drift-detection': true, 'assessments-enabled': false };
    expect(refusal(await tryCreate(both))).toEqual({
      status: 422,
      pointers: ['/data/attributes/drift-detection'],
    });
  });

  test('assessments-enabled is on if the organization enforces assessments', async () => {
    const { id } = await create();
    const enforce = (isEnforced: boolean) =>
      harness.call('PATCH', O, {
        data: { type: 'organizations', attributes: { 'assessments-enforced': isEnforced } },
      });
    await enforce(true);
    expect((await show(id)).attributes['assessments-enabled']).toBe(true);
    await enforce(false);
    expect((await show(id)).attributes['assessments-enabled']).toBe(false);
  });

  test('turning assessments-enabled off is answered with a warning if assessments are enforced', async () => {
    const { id } = await create();
    const enforce = (isEnforced: boolean) =>
      harness.call('PATCH', O, {
        data: { type: 'organizations', attributes: { 'assessments-enforced': isEnforced } },
      });
    await enforce(true);
    const off = { 'assessments-enabled': false };
    for (const { data, meta } of [await tryCreate(off), await update(id, off)]) {
      expect(data.attributes['assessments-enabled']).toBe(true);
      expect(meta.warnings).toEqual([expect.stringContaining('assessments-enforced')]);
    }
    await enforce(false);
    expect((await update(id, off)).meta).toBeUndefined();
  });

  test('an update that leaves assessments-enabled out changes nothing while they are enforced', async () => {
    const { id } = await create({ 'assessments-enabled': true });
    const enforce = (isEnforced: boolean) =>
      harness.call('PATCH', O, {
        data: { type: 'organizations', attributes: { 'assessments-enforced': isEnforced } },
      });
    await enforce(true);
    expect((await update(id, { description: 'enforced' })).meta).toBeUndefined();
    await enforce(false);
    expect((await show(id)).attributes['assessments-enabled']).toBe(true);
  });

  test('source-name and source-url are accepted only on creation', async () => {
    const source = { 'source-name': 'portal', 'source-url': 'https://portal.example/7' };
    const { id, attributes } = await create(source);
    expect(attributes).toMatchObject(source);
    const later = await update(id, { 'source-name': 'other', 'source-url': 'https://x.example' });
    expect(later.status).toBe(200);
    expect(later.data.attributes).toMatchObject(source);
  });

  test('operations is the old form of execution-mode', async () => {
    const { id, attributes } = await create({ operations: false, 'execution-mode': null });
    expect(attributes).toMatchObject({ operations: false, 'execution-mode': 'local' });
    const remote = await update(id, { operations: true });
    expect(remote.data.attributes).toMatchObject({ operations: true, 'execution-mode': 'remote' });
  });

  test.for([
    ['description', 'what it is for'],
    ['working-directory', 'live/app'],
    ['auto-destroy-at', '2040-01-01T00:00:00.000Z'],
  ] as const)('%s is removed by null', async ([name, value]) => {
    const { id, attributes } = await create({ [name]: value });
    expect(attributes[name]).toBe(value);
    expect((await update(id, { [name]: null })).data.attributes[name]).toBeNull();
    expect((await create({ [name]: null })).attributes[name]).toBeNull();
  });

  test.for([
    ['name', 'a.b'],
    ['name', 'a b'],
    ['name', ''],
    ['description', 'x'.repeat(65_537)],
    ['working-directory', '../x'],
    ['working-directory', String.raw`..\x`],
  ] as const)('%s is refused, value %#', async ([name, value]) => {
    const { id, attributes } = await create();
    const refused = { status: 422, pointers: [`/data/attributes/${name}`] };
    expect(refusal(await tryCreate({ [name]: value }))).toEqual(refused);
    expect(refusal(await update(id, { [name]: value }))).toEqual(refused);
    expect((await show(id)).attributes[name]).toEqual(attributes[name]);
  });

  test('names can be written with underscores', async () => {
    const { attributes } = await create({ auto_apply: true, terraform_version: '1.5.7' });
    expect(attributes).toMatchObject({ 'auto-apply': true, 'runtime-version': '1.5.7' });
  });

  test.for([
    ['14d', 14 * 24],
    ['6h', 6],
  ] as const)(
    'the duration %s replaces a fixed time until it is removed',
    async ([duration, hours]) => {
      const { id, attributes } = await create({ 'auto-destroy-at': '2040-01-01T00:00:00.000Z' });
      const timed = await update(id, { 'auto-destroy-activity-duration': duration });
      const changedAt = Date.parse(String(attributes['latest-change-at']));
      expect(timed.data.attributes).toMatchObject({
        'auto-destroy-activity-duration': duration,
        'auto-destroy-at': new Date(changedAt + hours * 3_600_000).toISOString(),
      });
      const emptied = await update(id, { 'auto-destroy-activity-duration': null });
      expect(emptied.data.attributes).toMatchObject({
        'auto-destroy-activity-duration': null,
        'auto-destroy-at': null,
      });
    },
  );

  test('one kind of trigger replaces the other', async () => {
    const { id } = await create({ 'trigger-patterns': ['a/**'] });
    const prefixed = await update(id, { 'trigger-prefixes': ['b'] });
    expect(prefixed.data.attributes).toMatchObject({
      'trigger-patterns': [],
      'trigger-prefixes': ['b'],
    });
    const patterned = await update(id, { 'trigger-patterns': ['d'] });
    expect(patterned.data.attributes).toMatchObject({
      'trigger-patterns': ['d'],
      'trigger-prefixes': [],
    });
    const again = await update(id, { 'trigger-patterns': ['c'], 'trigger-prefixes': [] });
    expect(again.data.attributes).toMatchObject({
      'trigger-patterns': ['c'],
      'trigger-prefixes': [],
    });
  });
});

describe('a repository of a workspace', () => {
  const repository = (more: object = {}) => ({
    identifier: 'acme/app',
    'oauth-token-id': tokenId,
    ...more,
  });

  test('has its defaults and all attributes of the specification', async () => {
    expect(tokenId).toMatch(/^ot-[1-9A-HJ-NP-Za-km-z]{16}$/);
    const { attributes } = await create({ 'vcs-repo': repository() });
    expect(attributes).toMatchObject({
      'vcs-repo-identifier': 'acme/app',
      'oauth-client-name': 'GitHub',
      'vcs-repo': {
        branch: '',
        'display-identifier': 'acme/app',
        identifier: 'acme/app',
        'ingress-submodules': false,
        'oauth-token-id': tokenId,
        'repository-http-url': 'https://github.example/acme/app',
        'service-provider': 'github',
        'tags-regex': null,
        'webhook-url': expect.stringMatching(/^https:.*\/webhooks\/repositories\/whk-\w{16}$/),
        problem: null,
      },
    });
  });

  test.for(['acme/app', 'acme/project/_git/app'])('accepts %s', async (identifier) => {
    const { attributes } = await create({ 'vcs-repo': repository({ identifier }) });
    expect(attributes['vcs-repo-identifier']).toBe(identifier);
  });

  test('can be changed key by key, and removed by null', async () => {
    const { id } = await create({ 'vcs-repo': repository({ branch: 'main' }) });
    const changed = await update(id, {
      'vcs-repo': { 'ingress-submodules': true, 'tags-regex': '\\d+' },
      'file-triggers-enabled': false,
    });
    expect(changed.data.attributes['vcs-repo']).toMatchObject({
      branch: 'main',
      identifier: 'acme/app',
      'ingress-submodules': true,
      'oauth-token-id': tokenId,
      'tags-regex': '\\d+',
    });
    const kept = await update(id, { 'vcs-repo': { 'tags-regex': null } });
    expect(kept.data.attributes['vcs-repo']).toMatchObject({
      'ingress-submodules': true,
      'tags-regex': null,
    });
    const emptied = await update(id, { 'vcs-repo': { branch: '' } });
    expect(emptied.data.attributes['vcs-repo']).toMatchObject({ branch: '' });
    await update(id, { 'vcs-repo': { branch: 'next' } });
    const byDefault = await update(id, { 'vcs-repo': { branch: null } });
    expect(byDefault.data.attributes['vcs-repo']).toMatchObject({ branch: '' });
    const removed = await update(id, { 'vcs-repo': null });
    expect(removed.data.attributes).toMatchObject({
      'vcs-repo': null,
      'vcs-repo-identifier': null,
      'oauth-client-name': null,
    });
  });

  test('keeps its identifier and connection if a request leaves them empty', async () => {
    const { id } = await create({ 'vcs-repo': repository() });
    const change = (vcsRepo: object) => update(id, { 'vcs-repo': vcsRepo });
    for (const name of ['identifier', 'oauth-token-id']) {
      expect(refusal(await change({ [name]: '' }))).toEqual({
        status: 422,
        pointers: [`/data/attributes/vcs-repo/${name}`],
      });
      expect((await change({ [name]: null })).status).toBe(200);
    }
  });

  test.for([
    ['identifier', 'app'],
    ['identifier', 'acme/'],
    ['identifier', 'acme/my app'],
    ['tags-regex', '('],
  ] as const)('is refused with the %s "%s"', async ([name, value]) => {
    const { id } = await create();
    const given = { 'vcs-repo': repository({ [name]: value }), 'file-triggers-enabled': false };
    for (const reply of [await tryCreate(given), await update(id, given)]) {
      expect(refusal(reply)).toEqual({
        status: 422,
        pointers: [`/data/attributes/vcs-repo/${name}`],
      });
    }
  });

  test('can be added later with only connection and identifier', async () => {
    const { id } = await create();
    for (const [given, pointer] of [
      [{ identifier: 'a/b' }, 'oauth-token-id'],
      [{ 'oauth-token-id': tokenId }, 'identifier'],
      [{ branch: 'main' }, 'identifier'],
    ] as const) {
      const { status, pointers } = refusal(await update(id, { 'vcs-repo': given }));
      expect(status).toBe(422);
      expect(pointers).toContain(`/data/attributes/vcs-repo/${pointer}`);
    }
    expect((await update(id, { 'vcs-repo': repository() })).status).toBe(200);
  });

  test.for(['vcs-app-installation-id', 'github-app-installation-id', 'github_app_installation_id'])(
    'cannot be connected by an installation: %s',
    async (name) => {
      const { id } = await create();
      const installed = { 'vcs-repo': { identifier: 'acme/app', [name]: 'ghain-1' } };
      for (const reply of [await tryCreate(installed), await update(id, installed)]) {
        expect(refusal(reply)).toEqual({
          status: 422,
          pointers: [`/data/attributes/vcs-repo/${name}`],
        });
        expect(reply.errors[0]?.detail).toContain('use oauth-token-id');
      }
      // Clients send the name with every request, empty.
      for (const empty of ['', null]) {
        const { status } = await tryCreate({ 'vcs-repo': repository({ [name]: empty }) });
        expect(status).toBe(201);
      }
    },
  );
});

/** Combinations refused in both create and update requests, with the field that the error names. */
const FORBIDDEN: readonly (readonly [string, object, string])[] = [
  ['operations and execution-mode', { operations: true, 'execution-mode': 'remote' }, 'operations'],
  ['no operations and a mode', { operations: false, 'execution-mode': 'local' }, 'operations'],
  ['agent without a pool', { 'execution-mode': 'agent' }, 'agent-pool-id'],
  ['a pool without a mode', { 'agent-pool-id': 'apool-1' }, 'agent-pool-id'],
  ['no operations with a pool', { operations: false, 'agent-pool-id': 'apool-1' }, 'agent-pool-id'],
  [
    'remote with a pool',
    { 'execution-mode': 'remote', 'agent-pool-id': 'apool-1' },
    'agent-pool-id',
  ],
  ['local with a pool', { 'execution-mode': 'local', 'agent-pool-id': 'apool-1' }, 'agent-pool-id'],
  ['operations with a pool', { operations: true, 'agent-pool-id': 'apool-1' }, 'agent-pool-id'],
  ['a pool of nowhere', { 'execution-mode': 'agent', 'agent-pool-id': 'apool-1' }, 'agent-pool-id'],
  [
    'an own mode without a mode',
    { 'setting-overwrites': { 'execution-mode': true } },
    'setting-overwrites/execution-mode',
  ],
  [
    'an own pool without a mode',
    { 'setting-overwrites': { 'agent-pool': true } },
    'setting-overwrites/agent-pool',
  ],
  [
    'overwrites that differ',
    { 'setting-overwrites': { 'execution-mode': false, 'agent-pool': true } },
    'setting-overwrites',
  ],
  [
    'patterns and prefixes',
    { 'trigger-patterns': ['a'], 'trigger-prefixes': ['b'] },
    'trigger-patterns',
  ],
  [
    'state for all and for the project',
    { 'global-remote-state': true, 'project-remote-state': true },
    'project-remote-state',
  ],
  ['a way out of the repository', { 'working-directory': '../other' }, 'working-directory'],
  ['no time', { 'auto-destroy-at': 'soon' }, 'auto-destroy-at'],
  ...['', '0d', '10000d', '1w', '-1d', '1.5d', 'd', '5'].map(
    (duration) =>
      [
        `the duration ${duration}`,
        { 'auto-destroy-activity-duration': duration },
        'auto-destroy-activity-duration',
      ] as const,
  ),
  ['a version of nowhere', { 'runtime-version': '~> 9.0' }, 'runtime-version'],
  [
    'two versions',
    { 'runtime-version': '1.5.7', 'terraform-version': '1.10.5' },
    'terraform-version',
  ],
  ['a name with a blank', { name: 'a b' }, 'name'],
  ['no name in it', { name: '' }, 'name'],
  ['a name of 91 characters', { name: 'x'.repeat(91) }, 'name'],
];

describe('creation and update refuse', () => {
  test.for(FORBIDDEN)('%s', async ([, attributes, field]) => {
    const { id, attributes: before } = await create();
    const byName = `${O}/workspaces/${String(before['name'])}`;
    const replies = [
      await tryCreate(attributes),
      await update(id, attributes),
      await harness.call('PATCH', byName, document(attributes)),
    ];
    for (const reply of replies) {
      const { status, pointers } = refusal(reply);
      expect(status).toBe(422);
      expect(pointers).toContain(`/data/attributes/${field}`);
      expect(reply.errors[0]).toMatchObject({ status: '422', title: 'invalid attribute' });
    }
    expect((await show(id)).attributes).toEqual(before);
  });

  test.for(['trigger-patterns', 'trigger-prefixes', 'file-triggers-enabled'])(
    'a Git tag expression with %s',
    async (name) => {
      const value = name === 'file-triggers-enabled' ? true : ['a'];
      const vcsRepo = { identifier: 'a/b', 'oauth-token-id': tokenId, 'tags-regex': 'v.*' };
      const { id } = await create();
      const attributes = { [name]: value, 'vcs-repo': vcsRepo };
      for (const reply of [await tryCreate(attributes), await update(id, attributes)]) {
        expect(refusal(reply)).toEqual({
          status: 422,
          pointers: ['/data/attributes/vcs-repo/tags-regex'],
        });
      }
    },
  );

  test('a Git tag expression together with existing triggers, and vice versa', async () => {
    const vcsRepo = { identifier: 'a/b', 'oauth-token-id': tokenId };
    const tagged = await create({
      'vcs-repo': { ...vcsRepo, 'tags-regex': 'v.*' },
      'file-triggers-enabled': false,
    });
    for (const name of ['trigger-patterns', 'trigger-prefixes', 'file-triggers-enabled']) {
      const given = { [name]: name === 'file-triggers-enabled' ? true : ['a'] };
      expect(refusal(await update(tagged.id, given))).toEqual({
        status: 422,
        pointers: [`/data/attributes/${name}`],
      });
      const { status } = await update(tagged.id, { [name]: tagged.attributes[name] });
      expect(status).toBe(200);
    }
    const patterned = await create({ 'vcs-repo': vcsRepo, 'trigger-patterns': ['a'] });
    const tags = { 'vcs-repo': { 'tags-regex': 'v.*' } };
    expect(refusal(await update(patterned.id, tags))).toEqual({
      status: 422,
      pointers: ['/data/attributes/vcs-repo/tags-regex'],
    });
    // A setting that the same request removes causes no conflict.
    const exchanged = await update(patterned.id, { ...tags, 'trigger-patterns': [] });
    expect(exchanged.data.attributes['vcs-repo']).toMatchObject({ 'tags-regex': 'v.*' });
    for (const removed of [{ 'tags-regex': '' }, null]) {
      const reply = await update(patterned.id, {
        'vcs-repo': removed,
        'trigger-prefixes': ['a'],
        'trigger-patterns': [],
      });
      expect(reply.status).toBe(200);
    }
  });

  test.for([
    [{ data: { type: 'projects', attributes: { name: 'x' } } }, '/data/type'],
    [{ data: { type: null, attributes: { name: 'x' } } }, '/data/type'],
    [{}, '/data'],
  ] as const)('the document %j', async ([body, pointer]) => {
    const { id } = await create();
    for (const [method, path] of [
      ['POST', `${O}/workspaces`],
      ['PATCH', `/workspaces/${id}`],
    ] as const) {
      const reply = await harness.call(method, path, body);
      expect(refusal(reply)).toEqual({ status: 422, pointers: [pointer] });
    }
  });

  test('a name that is too long, stating the limit', async () => {
    const { errors } = await tryCreate({ name: 'x'.repeat(91) });
    expect(errors[0]?.detail).toBe('Name must not have more than 90 characters');
    const name = 'x'.repeat(90);
    expect((await tryCreate({ name })).status).toBe(201);
    expect((await harness.call('GET', `${O}/workspaces/${name}`)).status).toBe(200);
  });

  test('a name that is taken, whichever way the workspace is addressed', async () => {
    const [first, second] = [await create(), await create()];
    const taken = document({ name: String(first.attributes['name']) });
    for (const path of [
      `/workspaces/${second.id}`,
      `${O}/workspaces/${String(second.attributes['name'])}`,
    ]) {
      const reply = await harness.call('PATCH', path, taken);
      expect(refusal(reply)).toEqual({ status: 422, pointers: ['/data/attributes/name'] });
      expect(reply.errors[0]?.detail).toBe('Name has already been taken');
    }
  });
});
