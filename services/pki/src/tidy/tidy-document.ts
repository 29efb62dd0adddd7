import type { JsonObject } from '@keelson/secrets-api';
import { formatTime } from '../validity/domain/lifetime.ts';
import {
  type AutoTidySettings,
  DEFAULT_TIDY_SETTINGS,
  TIDY_OPERATIONS,
  type TidySettings,
} from './domain/tidy-settings.ts';
import type { TidyStatus } from './tidy-records.ts';

const settingsDocument = (settings: TidySettings): JsonObject => ({
  ...Object.fromEntries(
    TIDY_OPERATIONS.map((operation) => [operation, settings.operations.includes(operation)]),
  ),
  safety_buffer: settings.safetyBufferSeconds,
  issuer_safety_buffer: settings.issuerSafetyBufferSeconds,
  acme_account_safety_buffer: settings.acmeAccountSafetyBufferSeconds,
  revocation_queue_safety_buffer: settings.revocationQueueSafetyBufferSeconds,
  revoked_safety_buffer: settings.revokedSafetyBufferSeconds ?? settings.safetyBufferSeconds,
  pause_duration: settings.pauseDuration,
  page_size: settings.pageSize,
});

const NO_SETTINGS: JsonObject = Object.fromEntries(
  Object.keys(settingsDocument(DEFAULT_TIDY_SETTINGS)).map((name) => [name, null]),
);

export const autoTidyDocument = (settings: AutoTidySettings): JsonObject => ({
  enabled: settings.enabled,
  interval_duration: settings.intervalSeconds,
  maintain_stored_certificate_counts: settings.maintainsCounts,
  publish_stored_certificate_count_metrics: settings.publishesCounts,
  min_startup_backoff_duration: settings.minStartupBackoffSeconds,
  max_startup_backoff_duration: settings.maxStartupBackoffSeconds,
  ...settingsDocument(settings.tidy),
});

export interface StoredCounts {
  readonly certificates: number;
  readonly revocations: number;
}

const timeOrNull = (epochMs: number | undefined): string | null =>
  epochMs === undefined ? null : formatTime(epochMs);

/** Reference §6.5. `stored` is undefined where counts are not kept. */
export const tidyStatusDocument = (
  status: TidyStatus | undefined,
  stored: StoredCounts | undefined,
  mountUuid: string,
): JsonObject => ({
  ...(status === undefined ? NO_SETTINGS : settingsDocument(status.settings)),
  state: status?.state ?? 'Inactive',
  error: status?.error ?? null,
  message: status?.message ?? null,
  time_started: timeOrNull(status?.startedAtMs),
  time_finished: timeOrNull(status?.finishedAtMs),
  last_auto_tidy_finished: timeOrNull(status?.lastAutoFinishedAtMs),
  cert_store_deleted_count: status?.counts.certificates ?? null,
  revoked_cert_deleted_count: status?.counts.revocations ?? null,
  missing_issuer_cert_count: status?.counts.missingIssuers ?? null,
  cert_metadata_deleted_count: status?.counts.metadata ?? null,
  current_cert_store_count: stored?.certificates ?? null,
  current_revoked_cert_count: stored?.revocations ?? null,
  internal_backend_uuid: mountUuid,
  total_acme_account_count: status?.counts.acmeAccounts ?? 0,
  acme_account_deleted_count: status?.counts.acmeAccountsDeleted ?? 0,
  acme_account_revoked_count: status?.counts.acmeAccountsRevoked ?? 0,
  acme_orders_deleted_count: status?.counts.acmeOrders ?? 0,
  revocation_queue_deleted_count: status?.counts.requests ?? 0,
  cross_revoked_cert_deleted_count: status?.counts.clusterRevocations ?? 0,
  cmpv2_nonce_deleted_count: 0,
});
