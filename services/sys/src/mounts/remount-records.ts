import { jsonRecords } from '@keelson/storage';

export interface Remount {
  readonly sourceMount: string;
  readonly targetMount: string;
  /** A move is one transaction: what is recorded has happened. */
  readonly status: 'success';
}

/** Key: migration id. */
export const remountRecords = jsonRecords<Remount>('local/core/remounts/');
