/** Checks that docs/revocation.md shows the table that decides. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  CERTIFICATE_KINDS,
  REVOCATION_DOORS,
  type RevocationRight,
  rightOf,
} from './domain/revocation-table.ts';

const REPOSITORY = new URL('../../../../', import.meta.url);

const text = readFileSync(new URL('docs/revocation.md', REPOSITORY), 'utf8');
const [, section = ''] = text.split('## Who may revoke what');
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2, 2 + REVOCATION_DOORS.length)
  .map((line) =>
    line
      .split('|')
      .slice(2, -1)
      .map((cell) => cell.trim()),
  );

const cellOf = (right: RevocationRight | undefined): string => {
  if (right === undefined) return '–';
  const { recordsAlways, reasons } = right;
  return recordsAlways === undefined ? reasons.join(', ') : `recorded as ${recordsAlways}`;
};

test('the documented table is the one that decides', () => {
  expect(rows).toEqual(
    REVOCATION_DOORS.map((door) => CERTIFICATE_KINDS.map((kind) => cellOf(rightOf(door, kind)))),
  );
});
