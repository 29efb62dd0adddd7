/** The files of which the image of the agent is made. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const linesOf = (file: string): readonly string[] =>
  readFileSync(join(ROOT, file), 'utf8').split('\n');

test('everything that the image copies is in the context of its build', () => {
  const copied = linesOf('deploy/agent/Dockerfile').flatMap((line) => {
    const [, source] = /^COPY (\S+) /.exec(line) ?? [];
    return source === undefined ? [] : [source];
  });
  const inContext = linesOf('.dockerignore').filter((line) => line.startsWith('!'));
  expect(copied).toContain('deploy/agent');
  expect(inContext.map((line) => line.slice(1)).toSorted()).toEqual(copied.toSorted());
});
