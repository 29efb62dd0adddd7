import { describe, expect, test } from 'vitest';
import { appended } from '../src/browser/runs/log-blocks.ts';
import { outputChanges, resourceChanges } from '../src/browser/runs/plan-changes.ts';

describe('the changes of a plan', () => {
  test('contain only resources that change', () => {
    const changes = resourceChanges({
      resource_changes: [
        { address: 'a.one', change: { actions: ['no-op'], before: { x: 1 }, after: { x: 1 } } },
        {
          address: 'a.two',
          change: {
            actions: ['update'],
            before: { name: 'old', size: 1 },
            after: { name: 'new', size: 1 },
            after_unknown: { id: true },
          },
        },
        { address: 'a.three', change: { actions: ['delete', 'create'] } },
      ],
    });
    expect(changes).toEqual([
      {
        address: 'a.two',
        kind: 'update',
        attributes: [
          { name: 'id', before: undefined, after: '(known after apply)' },
          { name: 'name', before: '"old"', after: '"new"' },
        ],
      },
      { address: 'a.three', kind: 'replace', attributes: [] },
    ]);
  });

  test('never show what is sensitive', () => {
    const [change] = resourceChanges({
      resource_changes: [
        {
          address: 'a.one',
          change: {
            actions: ['update'],
            before: { password: 'one' },
            after: { password: 'two' },
            before_sensitive: { password: true },
            after_sensitive: { password: true },
          },
        },
      ],
    });
    expect(change?.attributes).toEqual([
      { name: 'password', before: '(sensitive)', after: '(sensitive)' },
    ]);
    expect(
      outputChanges({
        output_changes: {
          secret: { actions: ['create'], after: 'hush', after_sensitive: true },
          stays: { actions: ['no-op'] },
        },
      }),
    ).toEqual([{ name: 'secret', before: undefined, after: '(sensitive)' }]);
  });
});

test('a log is divided into blocks of complete lines, in order, without loss', () => {
  const lines = Array.from({ length: 50_000 }, (_, at) => `line ${at}\n`);
  let blocks: readonly string[] = [];
  for (let at = 0; at < lines.length; at += 999)
    blocks = appended(blocks, lines.slice(at, at + 999).join(''));
  blocks = appended(blocks, 'no end');
  expect(blocks.join('')).toBe(`${lines.join('')}no end`);
  expect(blocks.length).toBeLessThan(200);
});
