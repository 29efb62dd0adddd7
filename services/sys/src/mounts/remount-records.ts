import { jsonRecords } from '@keelson/storage';

export interface Remount {
  readonly sourceMount: string;
  readonly targetMount: string;
  /** A move is a single transaction, so a recorded move has succeeded. */
  readonly status: 'success';
}

/** Keys: migration ids. */
export const remountRecords = jsonRecords<Remount>('local/core/remounts/');
