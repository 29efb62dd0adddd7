import { expect, test } from 'vitest';
import { backupTimeOf, toBackupName } from './backup-names.ts';

test('the name of a backup is its time', () => {
  const name = toBackupName(1_767_236_400_007);
  expect(name).toBe('keelson-20260101T030000007Z.snapshot');
  expect(backupTimeOf(name)).toBe(1_767_236_400_007);
});

test.for([
  'keelson-notes.snapshot',
  'keelson-20260101T030000007Z.snapshot.sha256',
  'other-20260101T030000007Z.snapshot',
])('%s is not one', (name) => expect(backupTimeOf(name)).toBeUndefined());
