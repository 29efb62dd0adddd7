import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FIELD_GROUPS } from './accepted-fields-table.ts';
import { type Effect, type Proof, RETURNED_ONLY } from './field-effects.ts';

const readProof = (file: string): string | undefined => {
  const root = join(import.meta.dirname, '..');
  const path = join(/^(services|libs)\//.test(file) ? join(root, '../..') : root, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
};

const proofOf = (effect: Effect): Proof | undefined => {
  if (effect.kind !== 'shown' && effect.kind !== 'elsewhere') return undefined;
  return effect.by === RETURNED_ONLY ? undefined : effect.by;
};

test('the table of accepted fields names tests that there are', () => {
  const proofs = Object.values(FIELD_GROUPS).flatMap(({ fields }) =>
    Object.values(fields).flatMap((effect) => proofOf(effect) ?? []),
  );
  const missing = proofs.filter(({ file, text }) => !readProof(file)?.includes(text));
  expect(missing).toEqual([]);
});
