import { describe, expect, test } from 'vitest';
import { type StateFile, stateDifference } from '../src/browser/workspaces/state-difference.ts';

const resource = (name: string, attributes: Record<string, unknown>, more: object = {}) => ({
  mode: 'managed',
  type: 'thing',
  name,
  instances: [{ attributes, ...more }],
});

describe('the difference of two states', () => {
  test('names what came, went and changed, by the addresses that the tool uses', () => {
    const earlier: StateFile = {
      outputs: { same: { value: 1 }, gone: { value: 2 } },
      resources: [
        resource('kept', { id: 1, size: 1 }),
        resource('gone', {}),
        { ...resource('read', {}), mode: 'data' },
      ],
    };
    const later: StateFile = {
      outputs: { same: { value: 1 } },
      resources: [
        resource('kept', { id: 1, size: 2, colour: 'red' }),
        resource('many', {}, { index_key: 'a' }),
        { ...resource('many', {}, { index_key: 0 }), module: 'module.inner' },
      ],
    };
    expect(
      stateDifference(earlier, later).map(({ address, kind, values }) => [
        address,
        kind,
        values.map(({ path, before, after }) => `${path}: ${before} → ${after}`),
      ]),
    ).toEqual([
      ['data.thing.read', 'delete', []],
      ['module.inner.thing.many[0]', 'create', []],
      ['output.gone', 'delete', ['value: 2 → undefined']],
      ['thing.gone', 'delete', []],
      ['thing.kept', 'update', ['colour: undefined → "red"', 'size: 1 → 2']],
      ['thing.many["a"]', 'create', []],
    ]);
  });

  test('hides what either state marks as sensitive, and says that it differs', () => {
    const password = [{ type: 'get_attr', value: 'password' }];
    const key = [
      { type: 'get_attr', value: 'users' },
      { type: 'index', value: { value: 1, type: 'number' } },
      { type: 'get_attr', value: 'key' },
    ];
    const stateWith = (secret: string, size: number, marks: readonly unknown[]): StateFile => ({
      outputs: { pin: { value: secret, sensitive: marks.length > 0 } },
      resources: [
        resource(
          'one',
          { password: secret, size, users: [{ key: 'open' }, { key: secret }] },
          { sensitive_attributes: marks },
        ),
      ],
    });
    for (const [first, second] of [
      [[password, key], []],
      [[], [password, key]],
    ] as const) {
      const changes = stateDifference(stateWith('hush', 1, first), stateWith('tell', 2, second));
      expect(JSON.stringify(changes)).not.toMatch(/hush|tell/);
      expect(changes.map(({ values }) => values.map(({ path }) => path))).toEqual([
        ['value'],
        ['password', 'size', 'users[1].key'],
      ]);
    }
  });

  test('of a state and itself, or of nothing and nothing, is empty', () => {
    const state: StateFile = { resources: [resource('a', { id: 1 })] };
    expect(stateDifference(state, state)).toEqual([]);
    expect(stateDifference({}, {})).toEqual([]);
  });
});
