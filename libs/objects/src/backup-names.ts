/** Names of the snapshots that are taken regularly; they sort by time. */

/** Beginning of the keys of the scheduled ones in the object storage. */
export const BACKUPS_PREFIX = 'backups/';

const NAME = /^keelson-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.snapshot$/;

export const toBackupName = (timeMs: number): string =>
  `keelson-${new Date(timeMs).toISOString().replaceAll(/[-:.]/g, '')}.snapshot`;

/** When the snapshot was taken; undefined for any other name. */
export const backupTimeOf = (name: string): number | undefined => {
  const [, year, month, day, hour, minute, second, ms] = NAME.exec(name) ?? [];
  return year === undefined
    ? undefined
    : Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
};
