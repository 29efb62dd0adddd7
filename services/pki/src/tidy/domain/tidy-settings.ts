/** Settings of tidying (reference §6.3). Times in seconds. */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const TIDY_OPERATIONS = [
  'tidy_cert_store',
  'tidy_revoked_certs',
  'tidy_revoked_cert_issuer_associations',
  'tidy_expired_issuers',
  'tidy_move_legacy_ca_bundle',
  'tidy_acme',
  'tidy_revocation_queue',
  'tidy_cross_cluster_revoked_certs',
  'tidy_cert_metadata',
  'tidy_cmpv2_nonce_store',
  'tidy_invalid_certs',
] as const;

export const tidyOperationShape = Type.Enum(TIDY_OPERATIONS);
export type TidyOperation = Shaped<typeof tidyOperationShape>;

export const tidySettingsShape = Type.Object({
  operations: Type.Array(tidyOperationShape),
  safetyBufferSeconds: Type.Number(),
  issuerSafetyBufferSeconds: Type.Number(),
  acmeAccountSafetyBufferSeconds: Type.Number(),
  revocationQueueSafetyBufferSeconds: Type.Number(),
  /** Undefined means `safetyBufferSeconds`. */
  revokedSafetyBufferSeconds: Type.Optional(Type.Number()),
  /** As written. */
  pauseDuration: Type.String(),
  pauseMs: Type.Number(),
  /** Records of one commit, where there are no pauses. */
  pageSize: Type.Number(),
});
export type TidySettings = Shaped<typeof tidySettingsShape>;

/** Why operations that compatible products have find nothing here. */
const IDLE_OPERATIONS: Partial<Readonly<Record<TidyOperation, string>>> = {
  tidy_move_legacy_ca_bundle: 'no version of this service stored such a bundle',
  tidy_cmpv2_nonce_store: 'CMPv2 is not served',
  tidy_invalid_certs: 'certificates that cannot be parsed are not stored',
};

/** Warnings about requested operations that find nothing. */
export const tidyWarnings = ({ operations }: TidySettings): readonly string[] =>
  operations.flatMap((operation) => {
    const reason = IDLE_OPERATIONS[operation];
    return reason === undefined ? [] : [`${operation} has no effect: ${reason}`];
  });

/** Records of one step, which is one commit: a single record if a pause follows each step. */
export const stepSize = ({ pauseMs, pageSize }: TidySettings): number =>
  pauseMs > 0 ? 1 : pageSize;

const HOUR = 3600;

export const DEFAULT_TIDY_SETTINGS: TidySettings = {
  operations: [],
  safetyBufferSeconds: 72 * HOUR,
  issuerSafetyBufferSeconds: 8760 * HOUR,
  acmeAccountSafetyBufferSeconds: 720 * HOUR,
  revocationQueueSafetyBufferSeconds: 48 * HOUR,
  pauseDuration: '0s',
  pauseMs: 0,
  pageSize: 1000,
};

const MIN_PAGE_SIZE = 5;
const MAX_PAGE_SIZE = 5000;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @throws KeelsonError `request.invalid` */
export const checkTidySettings = (settings: TidySettings): TidySettings => {
  const buffers: Readonly<Record<string, number | undefined>> = {
    safety_buffer: settings.safetyBufferSeconds,
    issuer_safety_buffer: settings.issuerSafetyBufferSeconds,
    acme_account_safety_buffer: settings.acmeAccountSafetyBufferSeconds,
    revocation_queue_safety_buffer: settings.revocationQueueSafetyBufferSeconds,
    revoked_safety_buffer: settings.revokedSafetyBufferSeconds,
  };
  for (const [name, seconds] of Object.entries(buffers))
    if (seconds !== undefined && seconds <= 0) refuse(`${name} must be greater than zero`);
  if (settings.pauseMs < 0) refuse('received invalid, negative pause_duration');
  if (settings.pageSize < MIN_PAGE_SIZE || settings.pageSize > MAX_PAGE_SIZE)
    refuse(`page_size must be between ${MIN_PAGE_SIZE} and ${MAX_PAGE_SIZE}`);
  return settings;
};

export const autoTidySettingsShape = Type.Object({
  enabled: Type.Boolean(),
  /** From the end of one run to the start of the next. */
  intervalSeconds: Type.Number(),
  maintainsCounts: Type.Boolean(),
  publishesCounts: Type.Boolean(),
  /** Bounds of the time after the start of the service in which no run begins. */
  minStartupBackoffSeconds: Type.Number(),
  maxStartupBackoffSeconds: Type.Number(),
  tidy: tidySettingsShape,
});
export type AutoTidySettings = Shaped<typeof autoTidySettingsShape>;

export const DEFAULT_AUTO_TIDY: AutoTidySettings = {
  enabled: false,
  intervalSeconds: 12 * HOUR,
  maintainsCounts: false,
  publishesCounts: false,
  minStartupBackoffSeconds: 300,
  maxStartupBackoffSeconds: 900,
  tidy: DEFAULT_TIDY_SETTINGS,
};

const operationList = TIDY_OPERATIONS.join('; ');

export const NO_OPERATIONS = `Manual tidy requested but no tidy operations were set. Enable at least one tidy operation to be run (${operationList}).`;

/** @throws KeelsonError `request.invalid` */
export const checkAutoTidy = (settings: AutoTidySettings): AutoTidySettings => {
  checkTidySettings(settings.tidy);
  if (settings.enabled && settings.tidy.operations.length === 0)
    refuse(
      `Auto-tidy enabled but no tidy operations were requested. Enable at least one tidy operation to be run (${operationList}).`,
    );
  if (settings.intervalSeconds <= 0) refuse('interval_duration must be greater than zero');
  if (settings.publishesCounts && !settings.maintainsCounts)
    refuse(
      'Can not publish a running storage metrics count to metrics without first maintaining that count. Enable `maintain_stored_certificate_counts` to enable `publish_stored_certificate_count_metrics`.',
    );
  if (
    settings.minStartupBackoffSeconds < 0 ||
    settings.maxStartupBackoffSeconds < settings.minStartupBackoffSeconds
  )
    refuse('max_startup_backoff_duration must not be less than min_startup_backoff_duration');
  return settings;
};

/** Warnings about settings without effect. */
export const autoTidyWarnings = ({
  tidy,
  publishesCounts,
}: AutoTidySettings): readonly string[] => [
  ...tidyWarnings(tidy),
  ...(publishesCounts
    ? [
        'publish_stored_certificate_count_metrics has no effect: the counts are in tidy-status, not among the metrics',
      ]
    : []),
];
