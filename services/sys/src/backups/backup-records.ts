import { singleRecord } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const backupSuccessShape = Type.Object({
  atMs: Type.Number(),
  /** Name of the file or object. */
  key: Type.String(),
  sizeBytes: Type.Number(),
  /** Hexadecimal. */
  sha256: Type.String(),
});
export type BackupSuccess = Shaped<typeof backupSuccessShape>;

export const backupFailureShape = Type.Object({ atMs: Type.Number(), reason: Type.String() });

/** Outcomes of the scheduled backups of this cluster. */
export const backupOutcomesShape = Type.Object({
  success: Type.Optional(backupSuccessShape),
  failure: Type.Optional(backupFailureShape),
});
export type BackupOutcomes = Shaped<typeof backupOutcomesShape>;

export const backupOutcomes = singleRecord('core/backups', {
  scope: 'local',
  version: 1,
  shape: backupOutcomesShape,
});
