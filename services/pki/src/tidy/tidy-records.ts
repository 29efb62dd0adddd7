import { jsonRecords, type RecordCollection } from '@keelson/storage';
import { localPrefix, type MountScope, sharedPrefix } from '../mounts/mount-records.ts';
import type { AutoTidySettings, TidySettings } from './domain/tidy-settings.ts';

export interface TidyCounts {
  readonly certificates: number;
  readonly revocations: number;
  readonly missingIssuers: number;
  readonly metadata: number;
  /** Absent in records of before these were tidied. */
  readonly clusterRevocations?: number;
  readonly requests?: number;
  /** Accounts that were looked at. */
  readonly acmeAccounts?: number;
  readonly acmeAccountsRevoked?: number;
  readonly acmeAccountsDeleted?: number;
  readonly acmeOrders?: number;
}

export const NO_COUNTS: TidyCounts = {
  certificates: 0,
  revocations: 0,
  missingIssuers: 0,
  metadata: 0,
};

/** The last run in this cluster, or the one under way. */
export interface TidyStatus {
  readonly state: 'Running' | 'Finished' | 'Error' | 'Cancelling' | 'Cancelled';
  readonly error?: string;
  /** What the run is doing. */
  readonly message: string;
  readonly startedAtMs: number;
  readonly finishedAtMs?: number;
  /** End of the last automatic run. */
  readonly lastAutoFinishedAtMs?: number | undefined;
  readonly settings: TidySettings;
  readonly counts: TidyCounts;
}

/** Key of the only record of each kind. */
export const TIDY_STATUS = 'status';
export const AUTO_TIDY = 'settings';

export const tidyStatusRecords = (mount: MountScope): RecordCollection<TidyStatus> =>
  jsonRecords(`${localPrefix(mount)}tidy/`);

export const autoTidyRecords = (mount: MountScope): RecordCollection<AutoTidySettings> =>
  jsonRecords(`${sharedPrefix(mount)}auto-tidy/`);
