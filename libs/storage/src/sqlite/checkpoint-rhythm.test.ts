import { expect, test } from 'vitest';
import { CheckpointRhythm } from './checkpoint-rhythm.ts';

const KILOBYTES = 1024;

test('a checkpoint is due for little that is long ago, and for much at once', () => {
  let nowMs = 1000;
  const rhythm = new CheckpointRhythm(() => nowMs);
  rhythm.grew(300 * KILOBYTES);
  expect(rhythm.isDue).toBe(false);
  nowMs += 300;
  expect(rhythm.isDue).toBe(true);
  rhythm.done();
  expect(rhythm.isDue).toBe(false);
  rhythm.grew(900 * KILOBYTES);
  expect(rhythm.isDue).toBe(false);
  rhythm.grew(200 * KILOBYTES);
  expect(rhythm.isDue).toBe(true);
});

test('none is due for next to nothing, however long ago', () => {
  let nowMs = 1000;
  const rhythm = new CheckpointRhythm(() => nowMs);
  rhythm.grew(100 * KILOBYTES);
  nowMs += 3_600_000;
  expect(rhythm.isDue).toBe(false);
});
