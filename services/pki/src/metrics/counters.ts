/** The counters of the certificate authority for Prometheus; see docs/metrics.md. */
import { type Counter, createCounter, type MetricsRegistry } from '@keelson/metrics';

export interface PkiCounters {
  readonly issued: Counter;
  readonly revoked: Counter;
  readonly acmeOrdersCreated: Counter;
  readonly acmeOrdersFinished: Counter;
  readonly acmeChallengesFailed: Counter;
}

export const createPkiCounters = (registry: MetricsRegistry): PkiCounters => ({
  issued: createCounter(
    registry,
    'keelson_pki_certificates_issued_total',
    'Certificates issued or signed under a role, by any protocol.',
  ),
  revoked: createCounter(
    registry,
    'keelson_pki_certificates_revoked_total',
    'Certificates revoked.',
  ),
  acmeOrdersCreated: createCounter(
    registry,
    'keelson_pki_acme_orders_created_total',
    'ACME orders created.',
  ),
  acmeOrdersFinished: createCounter(
    registry,
    'keelson_pki_acme_orders_finished_total',
    'ACME orders whose certificate was issued.',
  ),
  acmeChallengesFailed: createCounter(
    registry,
    'keelson_pki_acme_challenges_failed_total',
    'ACME challenges that became invalid, and their orders with them.',
  ),
});
