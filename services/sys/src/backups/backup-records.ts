import { jsonRecords } from '@keelson/storage';

export interface BackupSuccess {
  readonly atMs: number;
  /** Name of the file or object. */
  readonly key: string;
  readonly sizeBytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface BackupFailure {
  readonly atMs: number;
  readonly reason: string;
}

/** Outcomes of the scheduled backups of this cluster. */
export interface BackupOutcomes {
  readonly success?: BackupSuccess;
  readonly failure?: BackupFailure;
}

export const backupOutcomes = jsonRecords<BackupOutcomes>('local/core/');
export const BACKUP_KEY = 'backups';
