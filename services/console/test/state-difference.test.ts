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
    expect(stateDifference(earlier, later)).toEqual([
      { address: 'data.thing.read', kind: 'delete', attributes: [] },
      { address: 'module.inner.thing.many[0]', kind: 'create', attributes: [] },
      { address: 'output.gone', kind: 'delete', attributes: [] },
      { address: 'thing.gone', kind: 'delete', attributes: [] },
      { address: 'thing.kept', kind: 'update', attributes: ['colour', 'size'] },
      { address: 'thing.many["a"]', kind: 'create', attributes: [] },
    ]);
  });

  test('of a state and itself, or of nothing and nothing, is empty', () => {
    const state: StateFile = { resources: [resource('a', { id: 1 })] };
    expect(stateDifference(state, state)).toEqual([]);
    expect(stateDifference({}, {})).toEqual([]);
  });
});
