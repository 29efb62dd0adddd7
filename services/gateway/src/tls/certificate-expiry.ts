/** When the certificate of HTTPS ends, and the warning before it does. */
import { X509Certificate } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { Gauge, type MetricsRegistry, OF_PROCESS } from '@keelson/metrics';
import type { CertificateSource, ServerCertificate } from './self-issued-certificate.ts';

const DAY_MS = 86_400_000;
/** Time in which a person can renew a certificate by hand. */
const NOTICE_MS = 14 * DAY_MS;

export interface CertificatePeriod {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/**
 * The warning for a certificate that ends within 14 days and within the last third of its validity, when every
 * automatic renewal should have happened. Undefined before that.
 */
export const toExpiryFault = (
  { notBeforeMs, notAfterMs }: CertificatePeriod,
  nowMs: number,
): string | undefined => {
  const leftMs = notAfterMs - nowMs;
  const at = new Date(notAfterMs).toISOString();
  if (leftMs <= 0)
    return `the certificate of HTTPS expired at ${at}: clients refuse it. Replace it; the files are read again by themselves`;
  const noticeMs = Math.min(NOTICE_MS, (notAfterMs - notBeforeMs) / 3);
  return leftMs > noticeMs
    ? undefined
    : `the certificate of HTTPS expires at ${at}: renew it; the files are read again by themselves`;
};

/** Reads the validity of a certificate: the first of its PEM chain. */
export const periodOf = ({ cert }: Pick<ServerCertificate, 'cert'>): CertificatePeriod => {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  return { notBeforeMs: validFromDate.getTime(), notAfterMs: validToDate.getTime() };
};

/** Registers the gauge of the expiry. @returns the present warnings about it, for readiness */
export const watchCertificateExpiry = (
  source: CertificateSource,
  clock: Clock,
  registry: MetricsRegistry,
): (() => readonly string[]) => {
  new Gauge({
    name: 'keelson_edge_certificate_expiry_timestamp_seconds',
    help: 'When the certificate of HTTPS expires.',
    ...OF_PROCESS,
    registers: [registry],
    collect() {
      this.set(periodOf(source.current()).notAfterMs / 1000);
    },
  });
  return () => {
    const refusal = source.refusal();
    return [
      refusal && `the renewed certificate of HTTPS is not used: ${refusal}`,
      toExpiryFault(periodOf(source.current()), clock.nowMs()),
    ].filter((fault) => fault !== undefined);
  };
};
