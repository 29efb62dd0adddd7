import { collection } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const remountShape = Type.Object({
  sourceMount: Type.String(),
  targetMount: Type.String(),
  /** A move is a single transaction, so a recorded move has succeeded. */
  status: Type.Literal('success'),
});
export type Remount = Shaped<typeof remountShape>;

/** Keys: migration ids. */
export const remountRecords = collection('core/remounts', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: remountShape,
});
