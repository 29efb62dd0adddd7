/** Opens the configured backup schedule and destination. */
import type { Clock } from '@keelson/clock';
import { ConfigError } from '@keelson/config';
import type { Logger } from '@keelson/logging';
import type { MetricsRegistry } from '@keelson/metrics';
import { openConfiguredStorage, openFolderStorage, watchStorage } from '@keelson/objects';
import { BACKUPS_PREFIX } from '@keelson/objects/backup-names';
import type { SysConfig } from '../config.ts';
import type { ScheduledBackups } from './backup-operations.ts';

const DAY_MS = 86_400_000;

/** @throws ConfigError when a setting is missing or would have no effect */
export const openScheduledBackups = (
  config: SysConfig,
  parts: { readonly logger: Logger; readonly registry: MetricsRegistry; readonly clock: Clock },
): ScheduledBackups | undefined => {
  const { backupEverySeconds, backupFolder, backupKeep, backupKeepDays } = config;
  if (backupEverySeconds === undefined) {
    if (backupFolder !== undefined)
      throw new ConfigError(['KEELSON_BACKUP_FOLDER needs KEELSON_BACKUP_EVERY_SECONDS.']);
    return undefined;
  }
  const policy = {
    everyMs: backupEverySeconds * 1000,
    keep: backupKeep,
    keepMs: backupKeepDays === undefined ? undefined : backupKeepDays * DAY_MS,
  };
  if (backupFolder !== undefined)
    return { policy, storage: openFolderStorage(backupFolder), prefix: '' };
  const storage = openConfiguredStorage(config);
  if (storage === undefined)
    throw new ConfigError([
      'KEELSON_BACKUP_EVERY_SECONDS needs KEELSON_BACKUP_FOLDER or KEELSON_OBJECT_STORAGE_ENDPOINT.',
    ]);
  return { policy, storage: watchStorage(storage, 'backups', parts), prefix: BACKUPS_PREFIX };
};
