import {
  ATTEMPTS,
  hostilePage,
  MACHINE,
  NAMED_FOR_CONTAINER,
  OPEN,
} from '@keelson/testkit/hostile-run';
import { expect, test } from 'vitest';

test('docs/hostile-run.md lists every attempt with what holds it', async () => {
  await expect(hostilePage()).toMatchFileSnapshot('../../../docs/hostile-run.md');
});

test('every attempt has a name of its own', () => {
  const names = ATTEMPTS.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(names.length).toBeGreaterThan(200);
});

test('the sandbox leaves no attempt open', () => {
  const open = ATTEMPTS.filter(({ walls }) =>
    (['root', 'user'] as const).some((form) => [OPEN, MACHINE].includes(walls[form])),
  );
  expect(open).toEqual([]);
});

test('what is listed as open in the container names attempts that there are', () => {
  const names = new Set(ATTEMPTS.map(({ name }) => name));
  expect(NAMED_FOR_CONTAINER.filter((name) => !names.has(name))).toEqual([]);
});
