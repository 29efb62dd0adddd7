/** Responses to malformed and invalid requests for a workspace. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarnessOf } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
let serial = 0;
beforeAll(async () => {
  harness = await startHarnessOf('acme');
});
afterAll(() => harness[Symbol.asyncDispose]());

const tryCreate = (attributes: object) =>
  harness.call('POST', `${O}/workspaces`, {
    data: { type: 'workspaces', attributes: { name: `w-${(serial += 1)}`, ...attributes } },
  });
const create = async () => (await tryCreate({})).data;
const update = (id: string, attributes: object) =>
  harness.call('PATCH', `/workspaces/${id}`, { data: { type: 'workspaces', attributes } });
const show = async (id: string) => (await harness.call('GET', `/workspaces/${id}`)).data;
const refusal = ({ status, errors }: Awaited<ReturnType<typeof tryCreate>>) => ({
  status,
  pointers: errors.map(({ source }) => source?.pointer),
});

describe('a request with mistakes', () => {
  const MISTAKES = {
    name: 'no blanks',
    'execution-mode': 'cloud',
    'auto-apply': 'yes',
    'auto-destroy-activity-duration': '0d',
  };

  test('gets all of them reported at once, with the allowed values', async () => {
    const { id } = await create();
    const pointers = Object.keys(MISTAKES).map((name) => `/data/attributes/${name}`);
    for (const reply of [await tryCreate(MISTAKES), await update(id, MISTAKES)]) {
      expect(refusal(reply).status).toBe(422);
      expect(new Set(refusal(reply).pointers)).toEqual(new Set(pointers));
      expect(reply.errors.map(({ detail }) => detail)).toContain(
        'execution-mode is not one of the allowed values: remote, local, agent',
      );
    }
    const source = await tryCreate({ ...MISTAKES, 'source-url': 'javascript:alert(1)' });
    expect(refusal(source).pointers).toContain('/data/attributes/source-url');
  });

  test.for([91, 300, 5000])(
    'gets one error about the limit for a name of %i characters',
    async (length) => {
      const { errors } = await tryCreate({ name: 'x'.repeat(length) });
      expect(errors.map(({ detail }) => detail)).toEqual([
        'Name must not have more than 90 characters',
      ]);
    },
  );

  test.for([
    ['javascript:alert(1)', 422],
    ['//keelson.example', 422],
    ['https://user:secret@keelson.example', 422],
    ['https://keelson.example/a?b', 201],
    ['', 201],
  ] as const)('accepts only a source-url that is safe as a link: %j', async ([url, status]) => {
    const reply = await tryCreate({ 'source-url': url });
    const pointers = status === 422 ? ['/data/attributes/source-url'] : [];
    expect(refusal(reply)).toEqual({ status, pointers });
  });

  test('that names another workspace than its address changes neither', async () => {
    const [one, other] = [await create(), await create()];
    const body = { data: { type: 'workspaces', id: other.id, attributes: { description: 'x' } } };
    const name = String(one.attributes['name']);
    for (const path of [`/workspaces/${one.id}`, `${O}/workspaces/${name}`]) {
      const { status, errors } = await harness.call('PATCH', path, body);
      expect([status, errors[0]?.source]).toEqual([409, { pointer: '/data/id' }]);
    }
    for (const { id } of [one, other]) {
      expect((await show(id)).attributes['description']).toBeNull();
    }
    const named = { data: { ...body.data, id: one.id } };
    expect((await harness.call('PATCH', `${O}/workspaces/${name}`, named)).status).toBe(200);
  });
});

describe('settings that could have no effect', () => {
  const CASES: readonly (readonly [object, string])[] = [
    [{ 'assessments-enabled': true, 'runtime-version': '0.15.3' }, 'assessments-enabled'],
    [{ 'assessments-enabled': true, 'execution-mode': 'local' }, 'assessments-enabled'],
    ...['', '/', 'a/', '../a', 'a/../b', 'a//b', './a/./b'].map(
      (pattern) => [{ 'trigger-patterns': [pattern] }, 'trigger-patterns/0'] as const,
    ),
    ...['/a/../b', '..', 'a/./b', 'a//b'].map(
      (prefix) => [{ 'trigger-prefixes': [prefix] }, 'trigger-prefixes/0'] as const,
    ),
  ];

  test.for(CASES)('%j is refused at %s', async ([attributes, field]) => {
    const { id, attributes: before } = await create();
    const expected = { status: 422, pointers: [`/data/attributes/${field}`] };
    expect(refusal(await tryCreate(attributes))).toEqual(expected);
    expect(refusal(await update(id, attributes))).toEqual(expected);
    expect((await show(id)).attributes).toEqual(before);
  });

  test('are stored where they have one', async () => {
    const { id } = await create();
    for (const attributes of [
      { 'trigger-patterns': ['/a/**/*', './b/?.tf'] },
      { 'trigger-patterns': [], 'trigger-prefixes': ['', '/', '/a/', './b'] },
      { 'assessments-enabled': true, 'runtime-version': '0.15.4' },
      { 'setting-overwrites': { 'agent-pool': false } },
    ])
      expect((await update(id, attributes)).status).toBe(200);
  });
});
