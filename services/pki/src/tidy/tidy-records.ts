import { jsonRecords, type RecordCollection } from '@keelson/storage';
import { localPrefix, type MountScope, sharedPrefix } from '../mounts/mount-records.ts';
import type { AutoTidySettings, TidySettings } from './domain/tidy-settings.ts';

export interface TidyCounts {
  readonly certificates: number;
  readonly revocations: number;
  readonly missingIssuers: number;
  readonly metadata: number;
  readonly clusterRevocations: number;
  readonly requests: number;
  /** Accounts that were looked at. */
  readonly acmeAccounts: number;
  readonly acmeAccountsRevoked: number;
  readonly acmeAccountsDeleted: number;
  readonly acmeOrders: number;
}

export const NO_COUNTS: TidyCounts = {
  certificates: 0,
  revocations: 0,
  missingIssuers: 0,
  metadata: 0,
  clusterRevocations: 0,
  requests: 0,
  acmeAccounts: 0,
  acmeAccountsRevoked: 0,
  acmeAccountsDeleted: 0,
  acmeOrders: 0,
};

/** The last run in this cluster, or the current one. */
export interface TidyStatus {
  readonly state: 'Running' | 'Finished' | 'Error' | 'Cancelling' | 'Cancelled';
  readonly error?: string;
  /** Current activity of the run. */
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
