/** Whether clients are counted, and for how long the counts are kept. */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const activitySettingsShape = Type.Object({
  enabled: Type.Enum(['enable', 'disable', 'default']),
  /** The period of a report that names none. */
  defaultReportMonths: Type.Number(),
  retentionMonths: Type.Number(),
});
export type ActivitySettings = Shaped<typeof activitySettingsShape>;

export const DEFAULT_ACTIVITY_SETTINGS: ActivitySettings = {
  enabled: 'default',
  defaultReportMonths: 12,
  retentionMonths: 24,
};

/** Clients are counted unless an operator wants otherwise. */
export const isCounting = ({ enabled }: ActivitySettings): boolean => enabled !== 'disable';

/** Undefined values remain unchanged. */
export interface ActivityChanges {
  readonly enabled: string | undefined;
  readonly default_report_months: number | undefined;
  readonly retention_months: number | undefined;
}

const MAX_MONTHS = 60;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requireMonths = (name: string, months: number): number =>
  months >= 1 && months <= MAX_MONTHS ? months : refuse(`${name} is 1 to ${MAX_MONTHS}`);

const requireEnabled = (given: string): ActivitySettings['enabled'] =>
  given === 'enable' || given === 'disable' || given === 'default'
    ? given
    : refuse('enabled is "enable", "disable" or "default"');

/** @throws KeelsonError `request.invalid` naming the parameter that is refused */
export const changedActivitySettings = (
  before: ActivitySettings,
  { enabled, default_report_months, retention_months }: ActivityChanges,
): ActivitySettings => ({
  enabled: enabled === undefined ? before.enabled : requireEnabled(enabled),
  defaultReportMonths: requireMonths(
    'default_report_months',
    default_report_months ?? before.defaultReportMonths,
  ),
  retentionMonths: requireMonths('retention_months', retention_months ?? before.retentionMonths),
});
