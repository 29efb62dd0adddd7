import { choice } from '@keelson/jsonapi';
import { Type } from 'typebox';
import { RUN_STATUSES } from './run-status.ts';

/** Statuses that clients may ask for in a list. No run has them: their features are not offered. */
const FOREIGN_STATUSES = [
  'fetching',
  'fetching_completed',
  'pre_plan_running',
  'pre_plan_completed',
  'queuing',
  'plan_queued',
  'cost_estimating',
  'cost_estimated',
  'policy_checking',
  'policy_override',
  'policy_soft_failed',
  'policy_checked',
  'post_plan_running',
  'post_plan_awaiting_decision',
  'post_plan_completed',
  'queuing_apply',
  'apply_queued',
  'pre_apply_running',
  'pre_apply_completed',
  'post_apply_running',
  'post_apply_completed',
] as const;

/** The values of a filter by statuses of runs; any other text is refused. */
export const RUN_STATUS_FILTER = Type.Array(choice([...RUN_STATUSES, ...FOREIGN_STATUSES]));
