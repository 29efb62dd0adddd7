/** Parts that are extracted from a state: outputs, resources and the rest of its summary. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { md5, type StateUploads, stateText, uploadsTo, url } from '../../../test/state-uploads.ts';
import { type Harness, startHarnessOf } from '../../../test/workspace-harness.ts';

let harness: Harness;
let workspaceId: string;
let states: StateUploads;
beforeAll(async () => {
  harness = await startHarnessOf('acme');
});
afterAll(() => harness[Symbol.asyncDispose]());
let serial = 0;
beforeEach(async () => {
  const name = `app-${(serial += 1)}`;
  workspaceId = (await harness.create('/organizations/acme/workspaces', 'workspaces', { name })).id;
  states = uploadsTo(harness, workspaceId);
  await states.lock();
});

const W = (rest = '') => `/workspaces/${workspaceId}${rest}`;
const store = async (content: object) => {
  const text = JSON.stringify({ version: 4, serial: 1, lineage: 'l-1', ...content });
  const state = Buffer.from(text).toString('base64').replace(/=+$/, '');
  return harness.create(W('/state-versions'), 'state-versions', {
    serial: 1,
    md5: md5(text),
    state,
  });
};

describe('the outputs of a state', () => {
  test('show sensitive values by version and individually, but not as outputs of the current state', async () => {
    const { id } = await states.upload(1);
    for (const [path, value] of [
      [W('/current-state-version-outputs'), null],
      [`/state-versions/${id}/outputs`, 'hidden'],
    ]) {
      const { list: outputs } = await harness.call('GET', String(path));
      expect(outputs.map(({ attributes }) => attributes)).toMatchObject([
        { name: 'plain', value: ['a'], type: 'array', 'detailed-type': ['tuple', ['string']] },
        { name: 'secret', value, sensitive: true, 'detailed-type': 'string' },
      ]);
      const secret = await harness.call('GET', `/state-version-outputs/${outputs[1]?.id}`);
      expect(secret.data.attributes['value']).toBe('hidden');
    }
    expect((await harness.call('GET', '/state-version-outputs/wsout-x')).status).toBe(404);
  });

  test('are read from the state, not from json-state-outputs', async () => {
    const text = JSON.stringify({ version: 4, serial: 1, lineage: 'l-1', outputs: {} });
    const base64 = (value: string) => Buffer.from(value).toString('base64');
    const attributes = {
      serial: 1,
      md5: md5(text),
      state: base64(text),
      'json-state-outputs': base64('{"other":{"value":1,"type":"number"}}'),
    };
    const body = { data: { type: 'state-versions', attributes } };
    const { status, data, meta } = await harness.call('POST', W('/state-versions'), body);
    expect([status, meta.warnings]).toEqual([
      201,
      ['json-state-outputs has no effect: outputs are read from the state'],
    ]);
    expect((await harness.call('GET', `/state-versions/${data.id}/outputs`)).list).toEqual([]);
  });

  test('are included without sensitive values', async () => {
    const { id } = await states.upload(1);
    for (const target of [`/state-versions/${id}`, W('/current-state-version'), W()]) {
      const { included } = await harness.call('GET', `${target}?include=outputs`);
      const values = included.map(({ attributes }) => [attributes['name'], attributes['value']]);
      expect(values).toEqual([
        ['plain', ['a']],
        ['secret', null],
      ]);
    }
  });

  test('are complete for clients that read one page, paged for others, and readable by id', async () => {
    const names = Array.from({ length: 25 }, (_, at) => `output ${String(at).padStart(2, '0')}`);
    const outputs = Object.fromEntries(
      names.map((name) => [name, { value: name, type: 'string' }]),
    );
    const { id } = await store({ outputs });
    const current = await harness.call('GET', W('/current-state-version-outputs'));
    expect(current.list.map(({ attributes }) => attributes['name'])).toEqual(names);
    for (const { id: outputId, attributes } of current.list) {
      const { data } = await harness.call('GET', `/state-version-outputs/${outputId}`);
      expect(data.attributes['value']).toBe(attributes['name']);
    }
    const second = await harness.call('GET', `/state-versions/${id}/outputs?page[number]=2`);
    expect(second.list).toEqual(current.list.slice(20));
    expect(second.meta.pagination['total-count']).toBe(25);
  });

  test.for([
    ['number', 'number'],
    [['object', { a: 'string' }], 'map'],
  ] as const)('of type %j have the type %s for older clients', async ([detailed, type]) => {
    await store({ outputs: { one: { value: null, type: detailed } } });
    const { list } = await harness.call('GET', W('/current-state-version-outputs'));
    expect(list[0]?.attributes).toMatchObject({ type, 'detailed-type': detailed });
    const { included } = await harness.call('GET', `${W()}?include=outputs`);
    expect(included[0]?.attributes['output-type']).toBe(type);
  });
});

describe('the resources of a state', () => {
  test('are counted below modules and providers, data sources apart', async () => {
    const one = {
      mode: 'managed',
      type: 'null_resource',
      name: 'a',
      provider: 'null',
      instances: [{}],
    };
    const { attributes } = await store({
      resources: [
        one,
        { ...one, name: 'b', instances: [{ index_key: 0 }, { index_key: 1 }] },
        { ...one, name: 'c', module: 'module.m' },
        { ...one, mode: 'data', type: 'http', provider: 'http' },
      ],
    });
    expect(attributes).toMatchObject({
      modules: {
        root: { 'null-resource': 3, 'data.http': 1 },
        'module.m': { 'null-resource': 1 },
      },
      providers: { null: { 'null-resource': 4 }, http: { 'data.http': 1 } },
      'billable-rum-count': 4,
      'resources-processed': true,
    });
    expect((await harness.call('GET', W())).data.attributes['resource-count']).toBe(4);
  });

  test('are not known before the upload', async () => {
    const { data } = await states.announce(1, stateText(1));
    expect(data.attributes).toMatchObject({ 'resources-processed': false, size: 0 });
  });
});

describe('the lineage of a state', () => {
  test.for([[{}], [{ lineage: null }], [{ lineage: '' }]] as const)(
    'is read from the file if the announcement has %j',
    async ([lineage]) => {
      await states.upload(1);
      const text = stateText(2);
      const { status, data } = await states.announce(2, text, lineage);
      expect(status).toBe(201);
      await harness.transfer('PUT', url(data, 'state-upload'), Buffer.from(text));
      expect(
        (await harness.call('GET', W('/current-state-version'))).data.attributes,
      ).toMatchObject({
        serial: 2,
        lineage: 'l-1',
      });
    },
  );
});
