import { describe, expect, test } from 'vitest';
import { isLinearizable, type Operation } from './history.ts';

/** A value that is written and read. */
const write = (from: number, until: number, value: string): Operation<string> => ({
  from,
  until,
  name: `write ${value}`,
  apply: () => value,
});
const read = (from: number, until: number, value: string): Operation<string> => ({
  from,
  until,
  name: `read ${value}`,
  apply: (state) => (state === value ? state : undefined),
});

describe('a history', () => {
  test.for([
    ['of nothing', [], true],
    ['one after the other', [write(0, 1, 'a'), read(2, 3, 'a')], true],
    ['with a read that is too old', [write(0, 1, 'a'), read(2, 3, '')], false],
    ['with a read during the write, either way', [write(0, 3, 'a'), read(1, 2, '')], true],
    ['with a read that saw the write before it ended', [write(0, 3, 'a'), read(1, 2, 'a')], true],
    ['that goes back', [write(0, 9, 'a'), read(1, 2, 'a'), read(3, 4, '')], false],
    [
      'of two writes whose order readers tell',
      [write(0, 9, 'a'), write(0, 9, 'b'), read(1, 2, 'b'), read(3, 4, 'a')],
      true,
    ],
    [
      'of two writes that readers see in two orders',
      [write(0, 9, 'a'), write(0, 9, 'b'), read(1, 2, 'b'), read(3, 4, 'a'), read(5, 6, 'b')],
      false,
    ],
  ] as const)('%s', ([, operations, expected]) => {
    expect(isLinearizable('', operations)).toBe(expected);
  });
});
