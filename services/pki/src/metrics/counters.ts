/** The counters of the certificate authority: for Prometheus (docs/metrics.md), and for the history of each mount. */
import { type Counter, createCounter, type MetricsRegistry } from '@keelson/metrics';
import type { MountHistory } from './mount-history.ts';

export interface MountCounter {
  /** @param mount its uuid */
  inc(mount: string): void;
}

export interface PkiCounters {
  readonly issued: MountCounter;
  readonly revoked: MountCounter;
  readonly acmeOrdersCreated: MountCounter;
  readonly acmeOrdersFinished: MountCounter;
  readonly acmeChallengesFailed: Pick<Counter, 'inc'>;
}

export const createPkiCounters = (
  registry: MetricsRegistry,
  history: Pick<MountHistory, 'note'>,
): PkiCounters => {
  const counted = (
    series: Parameters<MountHistory['note']>[1],
    name: string,
    help: string,
  ): MountCounter => {
    const counter = createCounter(registry, name, help);
    return {
      inc: (mount) => {
        counter.inc();
        history.note(mount, series);
      },
    };
  };
  return {
    issued: counted(
      'certificates_issued',
      'keelson_pki_certificates_issued_total',
      'Certificates issued or signed under a role, by any protocol.',
    ),
    revoked: counted(
      'certificates_revoked',
      'keelson_pki_certificates_revoked_total',
      'Certificates revoked.',
    ),
    acmeOrdersCreated: counted(
      'acme_orders_created',
      'keelson_pki_acme_orders_created_total',
      'ACME orders created.',
    ),
    acmeOrdersFinished: counted(
      'acme_orders_finished',
      'keelson_pki_acme_orders_finished_total',
      'ACME orders whose certificate was issued.',
    ),
    acmeChallengesFailed: createCounter(
      registry,
      'keelson_pki_acme_challenges_failed_total',
      'ACME challenges that became invalid, and their orders with them.',
    ),
  };
};
