/** Gauges of what expires: certificates, issuers, revocation lists. */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { type MetricsRegistry, registerSampled } from '@keelson/metrics';
import type { Barrier, Store } from '@keelson/storage';
import { countExpiring } from './certificates/expiring-certificates.ts';
import { crlRecords } from './crl/crl-records.ts';
import type { Authorities } from './issuers/issuer-records.ts';

export interface ExpiryParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly barrier: Pick<Barrier, 'isSealed'>;
  readonly clock: Clock;
  /** Mounts as of now; none while sealed. */
  readonly mounts: () => readonly MountScope[];
}

const DAY_MS = 86_400_000;
const WITHIN_DAYS = [1, 7, 30];

const toSeconds = (timeMs: number): number => Math.floor(timeMs / 1000);

/** The earliest of the times; undefined when there are none. */
const earliest = (timesMs: readonly number[]): number | undefined =>
  timesMs.length === 0 ? undefined : toSeconds(timesMs.reduce((a, b) => Math.min(a, b)));

const readExpiries = async ({ store, authorities, barrier, clock, mounts }: ExpiryParts) => {
  if (barrier.isSealed) throw new KeelsonError('sys.sealed');
  const nowMs = clock.nowMs();
  const expiring = new Map(WITHIN_DAYS.map((days) => [String(days), 0]));
  const issuers: number[] = [];
  const crls: number[] = [];
  for (const mount of mounts()) {
    for (const days of WITHIN_DAYS) {
      const found = await countExpiring(store, mount, {
        fromMs: nowMs,
        toMs: nowMs + days * DAY_MS,
      });
      expiring.set(String(days), (expiring.get(String(days)) ?? 0) + found);
    }
    const authority = await authorities.of(mount);
    issuers.push(...authority.issuers.map(({ certificate }) => certificate.notAfterMs));
    const { entries } = await crlRecords(mount).readableEntries(store);
    crls.push(...entries.map(([, { complete }]) => complete.nextUpdateMs));
  }
  const valid = issuers.filter((notAfterMs) => notAfterMs > nowMs);
  return {
    keelson_pki_certificates_expiring: expiring,
    keelson_pki_issuers: valid.length,
    keelson_pki_issuers_expired: issuers.length - valid.length,
    keelson_pki_issuer_next_expiry_timestamp_seconds: earliest(valid),
    keelson_pki_crl_next_update_timestamp_seconds: earliest(crls),
  };
};

export const registerExpiryMetrics = (registry: MetricsRegistry, parts: ExpiryParts): void =>
  registerSampled(
    registry,
    parts.clock,
    {
      keelson_pki_certificates_expiring: {
        help: 'Stored certificates that expire within so many days, at most 100,000 of each mount.',
        label: 'within_days',
      },
      keelson_pki_issuers: { help: 'Issuers that have not expired.' },
      keelson_pki_issuers_expired: { help: 'Issuers that have expired.' },
      keelson_pki_issuer_next_expiry_timestamp_seconds: {
        help: 'When the next of the issuers expires.',
      },
      keelson_pki_crl_next_update_timestamp_seconds: {
        help: 'The earliest time by which a revocation list must be replaced.',
      },
    },
    () => readExpiries(parts),
  );
