import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Statuses of a run. A workspace shows the status of its current run, and lists filter by it. */
export const RUN_STATUSES = [
  'pending',
  'planning',
  'planned',
  'planned_and_saved',
  'planned_and_finished',
  'confirmed',
  'applying',
  'applied',
  'discarded',
  'errored',
  'canceled',
  'force_canceled',
] as const;
export const runStatusShape = Type.Enum(RUN_STATUSES);
export type RunStatus = Shaped<typeof runStatusShape>;
