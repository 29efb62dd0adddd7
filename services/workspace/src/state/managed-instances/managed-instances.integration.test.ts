import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

let harness: Harness;
let path: string;
beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const made = await harness.create('/organizations/acme/workspaces', 'workspaces', {
    name: 'app',
  });
  path = `/workspaces/${made.id}`;
});
afterAll(() => harness[Symbol.asyncDispose]());

const NULL = 'provider["registry.terraform.io/hashicorp/null"]';
const resource = (name: string, instances: readonly object[], more: object = {}) => ({
  mode: 'managed',
  type: 'null_resource',
  name,
  provider: NULL,
  instances,
  ...more,
});

const RESOURCES = [
  resource('one', [{}]),
  resource('counted', [{ index_key: 0 }, { index_key: 1 }]),
  resource('keyed', [{ index_key: 'a".module.b' }], { module: 'module.m["x"].module.inner' }),
  resource('elsewhere', [{}], {
    type: 'thing',
    provider: 'module.m.provider["terraform.example/acme/thing"].alias',
  }),
  resource('read', [{}], { mode: 'data' }),
  resource('gone', []),
];

test('the resources that a workspace manages are listed instance by instance', async () => {
  expect((await harness.call('GET', `${path}/resources`)).list).toEqual([]);
  const state = Buffer.from(JSON.stringify({ version: 4, serial: 1, resources: RESOURCES }));
  await harness.call('POST', `${path}/actions/lock`);
  const version = await harness.create(`${path}/state-versions`, 'state-versions', {
    serial: 1,
    md5: createHash('md5').update(state).digest('hex'),
    state: state.toString('base64'),
  });
  const { list, meta } = await harness.call('GET', `${path}/resources`);
  expect(list.map(({ attributes }) => attributes)).toEqual(
    [
      ['null_resource.one', 'one', 'root', 'hashicorp/null', 'null_resource', null],
      ['null_resource.counted[0]', 'counted', 'root', 'hashicorp/null', 'null_resource', '0'],
      ['null_resource.counted[1]', 'counted', 'root', 'hashicorp/null', 'null_resource', '1'],
      [
        'm["x"].inner.null_resource.keyed["a\\".module.b"]',
        'keyed',
        'm["x"].inner',
        'hashicorp/null',
        'null_resource',
        'a".module.b',
      ],
      ['thing.elsewhere', 'elsewhere', 'root', 'terraform.example/acme/thing', 'thing', null],
    ].map(([address, name, module, provider, type, index]) => ({
      address,
      name,
      module,
      provider,
      'provider-type': type,
      'modified-by-state-version-id': version.id,
      'name-index': index,
    })),
  );
  expect(new Set(list.map(({ id }) => id)).size).toBe(5);
  expect(list[0]?.id).toMatch(/^wr-[1-9A-HJ-NP-Za-km-z]{16}$/);
  const { data } = await harness.call('GET', path);
  expect(meta.pagination['total-count']).toBe(data.attributes['resource-count']);
  const paged = await harness.call('GET', `${path}/resources?page[size]=2&page[number]=3`);
  expect(paged.list).toEqual([list[4]]);
});

test('each instance names the state version that changed it last', async () => {
  const { id } = await harness.create('/organizations/acme/workspaces', 'workspaces', {
    name: 'changing',
  });
  const at = `/workspaces/${id}`;
  await harness.call('POST', `${at}/actions/lock`);
  let serial = 0;
  const store = async (values: Readonly<Record<string, string>>, more: object = {}) => {
    serial += 1;
    const resources = Object.entries(values).map(([name, value]) =>
      resource(name, [{ attributes: { value }, dependencies: [`of.${serial}`] }]),
    );
    const state = Buffer.from(JSON.stringify({ version: 4, serial, resources }));
    return (
      await harness.create(`${at}/state-versions`, 'state-versions', {
        serial,
        md5: createHash('md5').update(state).digest('hex'),
        state: state.toString('base64'),
        ...more,
      })
    ).id;
  };
  const modifiers = async () => {
    const { list } = await harness.call('GET', `${at}/resources`);
    return Object.fromEntries(
      list.map(({ attributes }) => [
        attributes['name'],
        attributes['modified-by-state-version-id'],
      ]),
    );
  };
  const first = await store({ same: 'a', changed: 'a', gone: 'a' });
  expect(await modifiers()).toEqual({ same: first, changed: first, gone: first });
  const second = await store({ same: 'a', changed: 'b', added: 'a' });
  expect(await modifiers()).toEqual({ same: first, changed: second, added: second });
  // A state uploaded during an apply is listed once the lock is released.
  const third = await store({ same: 'c', changed: 'b', added: 'a' }, { intermediate: true });
  expect(await modifiers()).toEqual({ same: first, changed: second, added: second });
  await store({ same: 'c', changed: 'b', added: 'a' }, { intermediate: true });
  await harness.call('POST', `${at}/actions/unlock`);
  expect(await modifiers()).toEqual({ same: third, changed: second, added: second });
  await harness.call('POST', `${at}/actions/lock`);
  const rolledBack = await harness.call('PATCH', `${at}/state-versions`, {
    data: {
      type: 'state-versions',
      relationships: { 'rollback-state-version': { data: { type: 'state-versions', id: second } } },
    },
  });
  expect(await modifiers()).toEqual({
    same: rolledBack.data.id,
    changed: second,
    added: second,
  });
});

test('deposed objects of an instance are counted, and neither listed nor compared', async () => {
  const { id } = await harness.create('/organizations/acme/workspaces', 'workspaces', {
    name: 'replacing',
  });
  const at = `/workspaces/${id}`;
  let serial = 0;
  const store = async (...instances: readonly object[]) => {
    serial += 1;
    const resources = [resource('replaced', instances)];
    const state = Buffer.from(JSON.stringify({ version: 4, serial, resources }));
    await harness.call('POST', `${at}/actions/lock`);
    const version = await harness.create(`${at}/state-versions`, 'state-versions', {
      serial,
      md5: createHash('md5').update(state).digest('hex'),
      state: state.toString('base64'),
    });
    await harness.call('POST', `${at}/actions/unlock`);
    return version.id;
  };
  const count = async () => (await harness.call('GET', at)).data.attributes['resource-count'];
  const listed = async () =>
    (await harness.call('GET', `${at}/resources`)).list.map(({ attributes }) => [
      attributes['name-index'],
      attributes['modified-by-state-version-id'],
    ]);
  for (const key of [{}, { index_key: 'a' }]) {
    const index = 'index_key' in key ? 'a' : null;
    const instance = { ...key, attributes: { value: '1' } };
    const former = { ...key, deposed: '0badc0de', attributes: { value: '0' } };
    const first = await store(instance);
    await store(instance, former);
    expect([await count(), await listed()]).toEqual([2, [[index, first]]]);
    // The other is still there, and to be destroyed.
    const last = await store(former);
    expect([await count(), await listed()]).toEqual([1, [[index, last]]]);
    expect((await harness.call('POST', `${at}/actions/safe-delete`)).status).toBe(409);
  }
});
