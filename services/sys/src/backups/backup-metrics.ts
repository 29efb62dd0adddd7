/** Gauges of the scheduled backups, from the records that all replicas share. */
import { type MetricsRegistry, registerSampled } from '@keelson/metrics';
import { type BackupContext, loadOutcomes } from './backup-operations.ts';

export const registerBackupMetrics = (registry: MetricsRegistry, context: BackupContext): void => {
  const { scheduled } = context;
  if (scheduled === undefined) return;
  registerSampled(
    registry,
    context.clock,
    {
      keelson_backup_interval_seconds: { help: 'Time between two scheduled backups.' },
      keelson_backup_last_success_timestamp_seconds: {
        help: 'Time of the newest scheduled backup; 0 before the first.',
      },
      keelson_backup_last_failure_timestamp_seconds: {
        help: 'Time of the newest scheduled backup that failed; 0 if none did.',
      },
      keelson_backup_size_bytes: { help: 'Size of the newest scheduled backup.' },
    },
    async () => {
      const { success, failure } = await loadOutcomes(context);
      return {
        keelson_backup_interval_seconds: scheduled.policy.everyMs / 1000,
        keelson_backup_last_success_timestamp_seconds: (success?.atMs ?? 0) / 1000,
        keelson_backup_last_failure_timestamp_seconds: (failure?.atMs ?? 0) / 1000,
        keelson_backup_size_bytes: success?.sizeBytes,
      };
    },
  );
};
