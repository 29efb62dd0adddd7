/** Decides when a backup is due and which old ones are removed. */

export interface BackupPolicy {
  readonly everyMs: number;
  /** Number of backups to keep, counted from the newest. */
  readonly keep: number;
  /** Backups older than this are removed, except the newest one; undefined means no age limit. */
  readonly keepMs: number | undefined;
}

/** The last success and the last failure; undefined if there was none yet. */
export interface BackupTimes {
  readonly succeededAtMs: number | undefined;
  readonly failedAtMs: number | undefined;
}

/** A failed attempt is repeated soon, because most causes pass within minutes. */
const RETRY_MS = 5 * 60_000;

/** The time of the next attempt. */
export const nextBackupMs = (
  { everyMs }: Pick<BackupPolicy, 'everyMs'>,
  { succeededAtMs, failedAtMs }: BackupTimes,
): number => {
  const due = succeededAtMs === undefined ? 0 : succeededAtMs + everyMs;
  const hasFailedSince = failedAtMs !== undefined && failedAtMs >= (succeededAtMs ?? 0);
  return hasFailedSince ? Math.max(due, failedAtMs + Math.min(everyMs, RETRY_MS)) : due;
};

export interface RetainedBackup {
  readonly key: string;
  readonly takenAtMs: number;
}

/** The backups that the policy no longer keeps, oldest first. */
export const removableBackups = (
  backups: readonly RetainedBackup[],
  { keep, keepMs }: Pick<BackupPolicy, 'keep' | 'keepMs'>,
  nowMs: number,
): readonly RetainedBackup[] => {
  const oldestFirst = backups.toSorted((a, b) => a.takenAtMs - b.takenAtMs);
  const newest = oldestFirst.at(-1);
  const isOld = ({ takenAtMs }: RetainedBackup): boolean =>
    keepMs !== undefined && takenAtMs < nowMs - keepMs;
  return oldestFirst.filter(
    (backup, index) => backup !== newest && (index < oldestFirst.length - keep || isOld(backup)),
  );
};
