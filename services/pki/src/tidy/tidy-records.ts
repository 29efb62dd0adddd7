import { localRecords, sharedRecords } from '@keelson/engine';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { autoTidySettingsShape, tidySettingsShape } from './domain/tidy-settings.ts';

export const tidyCountsShape = Type.Object({
  certificates: Type.Number(),
  revocations: Type.Number(),
  missingIssuers: Type.Number(),
  metadata: Type.Number(),
  clusterRevocations: Type.Number(),
  requests: Type.Number(),
  /** Accounts that were looked at. */
  acmeAccounts: Type.Number(),
  acmeAccountsRevoked: Type.Number(),
  acmeAccountsDeleted: Type.Number(),
  acmeOrders: Type.Number(),
});
export type TidyCounts = Shaped<typeof tidyCountsShape>;

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
export const tidyStatusShape = Type.Object({
  state: Type.Enum(['Running', 'Finished', 'Error', 'Cancelling', 'Cancelled']),
  error: Type.Optional(Type.String()),
  /** Current activity of the run. */
  message: Type.String(),
  startedAtMs: Type.Number(),
  finishedAtMs: Type.Optional(Type.Number()),
  /** End of the last automatic run. */
  lastAutoFinishedAtMs: Type.Optional(Type.Number()),
  settings: tidySettingsShape,
  counts: tidyCountsShape,
});
export type TidyStatus = Shaped<typeof tidyStatusShape>;

/** Key of the only record of each kind. */
export const TIDY_STATUS = 'status';
export const AUTO_TIDY = 'settings';

export const tidyStatusRecords = localRecords('tidy', { version: 1, shape: tidyStatusShape });

export const autoTidyRecords = sharedRecords('auto-tidy', {
  version: 1,
  shape: autoTidySettingsShape,
});
