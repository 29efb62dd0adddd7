import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** A mail that has not been sent yet. */
export const waitingMailShape = Type.Object({
  /** Attempts that failed. */
  attempts: Type.Number(),
  dueAtMs: Type.Number(),
});
export type WaitingMail = Shaped<typeof waitingMailShape>;
