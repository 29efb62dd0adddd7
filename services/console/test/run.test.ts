import { expect, test } from 'vitest';
import { appended } from '../src/browser/runs/log-blocks.ts';

test('a log is divided into blocks of complete lines, in order, without loss', () => {
  const lines = Array.from({ length: 50_000 }, (_, at) => `line ${at}\n`);
  let blocks: readonly string[] = [];
  for (let at = 0; at < lines.length; at += 999)
    blocks = appended(blocks, lines.slice(at, at + 999).join(''));
  blocks = appended(blocks, 'no end');
  expect(blocks.join('')).toBe(`${lines.join('')}no end`);
  expect(blocks.length).toBeLessThan(200);
});
