import { expect, test } from 'vitest';
import { WholeWords } from './whole-words.ts';

const passed = (...pieces: readonly string[]): readonly string[] => {
  const shown: string[] = [];
  const words = new WholeWords((text) => shown.push(text));
  for (const piece of pieces) words.add(piece);
  words.end();
  return shown;
};

test('a word is passed on with what ends it', () => {
  expect(passed('one t', 'wo', ' thr', 'ee\n', 'four')).toEqual([
    'one ',
    'two ',
    'three\n',
    'four',
  ]);
});

test('nothing is passed on twice, and nothing of nothing', () => {
  expect(passed('one\n')).toEqual(['one\n']);
  expect(passed('', '')).toEqual([]);
});
