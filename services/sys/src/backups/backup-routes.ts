/** `sys/storage/backups`: outcomes of the scheduled backups. */
import type { Route } from '@keelson/edge';
import { secretsRoutes } from '@keelson/secrets-api';
import { type BackupContext, loadOutcomes } from './backup-operations.ts';
import { nextBackupMs } from './domain/backup-schedule.ts';

const toTime = (ms: number): string => new Date(ms).toISOString();

export const backupRoutes = (context: BackupContext): Route[] =>
  secretsRoutes({
    path: '/sys/storage/backups',
    tag: 'snapshots',
    fields: {},
    operations: {
      read: {
        summary: 'Outcomes of the scheduled backups',
        handle: async () => {
          const { scheduled } = context;
          const { success, failure } = await loadOutcomes(context);
          const times = { succeededAtMs: success?.atMs, failedAtMs: failure?.atMs };
          return {
            data: {
              enabled: scheduled !== undefined,
              place: scheduled?.storage.place ?? null,
              next_backup:
                scheduled === undefined
                  ? null
                  : toTime(Math.max(nextBackupMs(scheduled.policy, times), context.clock.nowMs())),
              last_success:
                success === undefined
                  ? null
                  : {
                      time: toTime(success.atMs),
                      name: success.key,
                      size: success.sizeBytes,
                      sha256: success.sha256,
                    },
              last_failure:
                failure === undefined
                  ? null
                  : { time: toTime(failure.atMs), reason: failure.reason },
            },
          };
        },
      },
    },
  });
