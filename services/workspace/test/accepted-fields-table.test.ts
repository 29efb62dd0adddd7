import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FIELD_GROUPS } from './accepted-fields-table.ts';

test('the table of accepted fields names tests that there are', () => {
  const missing: string[] = [];
  for (const { fields } of Object.values(FIELD_GROUPS)) {
    for (const [name, effect] of Object.entries(fields)) {
      if (effect.kind !== 'elsewhere') continue;
      const file = readFileSync(join(import.meta.dirname, '..', effect.file), 'utf8');
      const text = effect.text ?? name.replace('@', '').split('/').at(-1) ?? '';
      if (!file.includes(text)) missing.push(`${effect.file}: ${text}`);
    }
  }
  expect(missing).toEqual([]);
});
