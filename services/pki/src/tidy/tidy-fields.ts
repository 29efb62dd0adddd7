/** Parameters of tidying as requests give them. */
import { KeelsonError } from '@keelson/errors';
import { type FieldValues, field, parseDurationMs } from '@keelson/secrets-api';
import { TIDY_OPERATIONS, type TidyOperation, type TidySettings } from './domain/tidy-settings.ts';

const flag = (description: string) => field.bool({ description });
const buffer = (description: string) => field.durationSeconds({ description });

export const TIDY_FIELDS = {
  tidy_cert_store: flag('Delete expired certificates.'),
  tidy_revoked_certs: flag('Delete expired revocations with their certificates.'),
  tidy_revocation_list: flag('Older name of tidy_revoked_certs.'),
  tidy_revoked_cert_issuer_associations: flag('Add the issuer to revocations that lack it.'),
  tidy_expired_issuers: flag('Delete expired issuers, never the default one.'),
  tidy_move_legacy_ca_bundle: flag('No effect: there is nothing to move.'),
  tidy_acme: flag('Delete ACME orders and accounts that are no longer needed.'),
  tidy_revocation_queue: flag('Delete old requests between clusters.'),
  tidy_cross_cluster_revoked_certs: flag('Delete expired revocations of all clusters.'),
  tidy_cert_metadata: flag('Delete metadata of expired certificates.'),
  tidy_cmpv2_nonce_store: flag('No effect: CMPv2 is not served.'),
  tidy_invalid_certs: flag('No effect: what cannot be parsed is not stored.'),
  safety_buffer: buffer('How long after expiry records are kept.'),
  issuer_safety_buffer: buffer('The same for issuers.'),
  acme_account_safety_buffer: buffer('The same for ACME accounts.'),
  revocation_queue_safety_buffer: buffer('The same for requests between clusters.'),
  revoked_safety_buffer: buffer('The same for revocations; safety_buffer when not given.'),
  pause_duration: field.string({ description: 'Pause after each record, to the millisecond.' }),
  page_size: field.integer({ description: 'Records of one commit, where there are no pauses.' }),
};

type TidyValues = FieldValues<typeof TIDY_FIELDS>;

const pauseMsOf = (text: string): number => {
  const durationMs = parseDurationMs(text);
  if (durationMs === undefined)
    throw new KeelsonError('request.invalid', {
      text: `Error parsing pause_duration: "${text}" is not a duration`,
    });
  return durationMs;
};

/** The settings with the changes of a request. */
export const readTidySettings = (values: TidyValues, before: TidySettings): TidySettings => {
  const isOn = (operation: TidyOperation): boolean => {
    const given =
      operation === 'tidy_revoked_certs'
        ? (values.tidy_revoked_certs ?? values.tidy_revocation_list)
        : values[operation];
    return given ?? before.operations.includes(operation);
  };
  const pauseDuration = values.pause_duration ?? before.pauseDuration;
  return {
    operations: TIDY_OPERATIONS.filter(isOn),
    safetyBufferSeconds: values.safety_buffer ?? before.safetyBufferSeconds,
    issuerSafetyBufferSeconds: values.issuer_safety_buffer ?? before.issuerSafetyBufferSeconds,
    acmeAccountSafetyBufferSeconds:
      values.acme_account_safety_buffer ?? before.acmeAccountSafetyBufferSeconds,
    revocationQueueSafetyBufferSeconds:
      values.revocation_queue_safety_buffer ?? before.revocationQueueSafetyBufferSeconds,
    revokedSafetyBufferSeconds: values.revoked_safety_buffer ?? before.revokedSafetyBufferSeconds,
    pauseDuration,
    pauseMs: pauseMsOf(pauseDuration),
    pageSize: values.page_size ?? before.pageSize,
  };
};
