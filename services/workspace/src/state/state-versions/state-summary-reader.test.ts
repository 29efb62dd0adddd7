import { expect, test } from 'vitest';
import { createStateSummaryReader } from './state-summary-reader.ts';

const read = (text: string, pieceBytes = 7) => {
  const reader = createStateSummaryReader();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    reader.write(bytes.subarray(at, at + pieceBytes));
  }
  return reader.end();
};

const STATE = {
  version: 4,
  terraform_version: '1.11.4',
  serial: 3,
  lineage: 'l-1',
  outputs: { name: { value: 'ä', type: 'string' }, secret: { value: ['x'], sensitive: true } },
  resources: [
    { mode: 'managed', type: 'terraform_data', name: 'a', provider: 'p', instances: [{}, {}] },
    { mode: 'data', type: 'http', name: 'b', module: 'module.m', provider: 'p', instances: [{}] },
  ],
};

test('the reader extracts the summary of a state in whatever pieces it arrives', () => {
  const expected = {
    formatVersion: 4,
    runtimeVersion: '1.11.4',
    serial: 3,
    lineage: 'l-1',
    managedCount: 2,
    outputs: [
      { name: 'name', isSensitive: false, detail: { type: 'string', value: 'ä' } },
      { name: 'secret', isSensitive: true, detail: { type: null, value: ['x'] } },
    ],
    resources: [
      { name: 'a', type: 'terraform_data', module: 'root', isManaged: true, count: 2 },
      { name: 'b', type: 'http', module: 'module.m', isManaged: false, count: 1 },
    ],
  };
  const text = ` ${JSON.stringify(STATE, undefined, 2)}\n`;
  for (const pieceBytes of [1, 7, 100_000]) expect(read(text, pieceBytes)).toMatchObject(expected);
});

test('the reader lists the instances of a resource up to the limit', () => {
  const resource = (name: string, keys: readonly unknown[]) => ({
    mode: 'managed',
    name,
    instances: keys.map((key) => ({ index_key: key })),
  });
  const many = Array.from({ length: 4999 }, (_, at) => at);
  const resources = [resource('a', many), resource('b', ['x', 'y']), resource('c', ['z'])];
  const found = read(JSON.stringify({ resources }), 100_000).resources;
  expect(found.map(({ instanceKeys }) => instanceKeys?.length)).toEqual([4999, undefined, 1]);
  expect(found[2]?.instanceKeys).toEqual(['z']);
});

test('the reader reads a resource of any number of instances', () => {
  const instances = Array.from({ length: 200_000 }, () => ({}));
  const text = JSON.stringify({ resources: [{ mode: 'managed', name: 'a', instances }] });
  expect(read(text, 100_000).managedCount).toBe(200_000);
});

test('the reader leaves a large output in the state only', () => {
  const large = { outputs: { big: { value: 'x'.repeat(40_000), type: 'string' } } };
  expect(read(JSON.stringify(large), 1000).outputs).toEqual([
    { name: 'big', isSensitive: false, detail: null },
  ]);
});

test.for(['', ' ', '[]', '"text"', '{"serial":1', '{"a":1}{"b":2}', '{a:1}', '7'])(
  'the reader refuses %j',
  (text) => {
    expect(() => read(text)).toThrow('not a JSON object');
  },
);

test.for([
  ['an output', (value: string) => `{"outputs":{"a":{"value":${value}}}}`],
  [
    'an instance',
    (value: string) =>
      `{"resources":[{"mode":"managed","instances":[{"attributes":{"a":${value}}}]}]}`,
  ],
  ['a field that it does not read', (value: string) => `{"a":${value}}`],
] as const)(
  'the reader refuses %s that is nested too deeply, before it has arrived',
  ([, state]) => {
    const depth = 200_000;
    const [text = ''] = state(`${'['.repeat(depth)}!`).split('!');
    const refusal = expect.objectContaining({ code: 'workspace.state_malformed' }) as Error;
    expect(() => createStateSummaryReader().write(Buffer.from(text))).toThrow(refusal);
  },
);

test('the reader reads a state that is nested as deeply as any provider would', () => {
  const value = `${'[{"a":'.repeat(400)}1${'}]'.repeat(400)}`;
  expect(read(`{"serial":7,"outputs":{"a":{"value":${value}}}}`, 100_000).serial).toBe(7);
});

test('the reader distinguishes instances by content, except very large ones', () => {
  const state = (attributes: object) =>
    JSON.stringify({
      resources: [
        { mode: 'managed', type: 't', name: 'n', instances: [{ attributes, private: 'x' }] },
      ],
    });
  const contentOf = (attributes: object) => read(state(attributes), 100_000).instances[0]?.content;
  const one = contentOf({ a: 'x' });
  expect(one).toMatch(/^.{12}$/);
  expect(contentOf({ a: 'x' })).toBe(one);
  expect(contentOf({ a: 'y' })).not.toBe(one);
  expect(contentOf({ a: 'x'.repeat(5 * 1024 * 1024) })).toBe('');
});
