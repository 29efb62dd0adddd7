import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FIELD_GROUPS } from './accepted-fields-table.ts';

test('the table of accepted fields names tests that there are', () => {
  const missing = Object.values(FIELD_GROUPS).flatMap(({ fields }) =>
    Object.entries(fields).flatMap(([name, effect]) => {
      if (!('file' in effect)) return [];
      const text = readFileSync(join(import.meta.dirname, '..', effect.file), 'utf8');
      return new RegExp(`\\b${name}\\b`).test(text) ? [] : [`${effect.file}: ${name}`];
    }),
  );
  expect(missing).toEqual([]);
});
