import type { Clock } from '@keelson/clock';
import { hasCode } from '@keelson/errors';
import { InternalCertificatesDefinition } from '@keelson/proto/sys/v1/internal_certificates';
import { createRpcClient } from '../rpc-client.ts';
import type { TlsIdentity } from '../tls-identity.ts';
import type { IssuedCertificate } from './internal-authority.ts';
import type { ServiceName } from './internal-issuer.ts';
import { type RenewedIdentity, renewIdentity } from './renewed-identity.ts';

export interface EnrolmentOptions {
  readonly service: ServiceName;
  /** "host:port" of sys. */
  readonly sysAddress: string | readonly string[];
  /** Certificate of the internal CA, PEM. */
  readonly caCertificatesPem: string;
  /** Issued for this service by `keelson-internal-ca`. */
  readonly joinToken: string;
  readonly clock: Clock;
  /** Called with failed renewals, and with failed attempts to reach sys at the start. */
  readonly report: (error: unknown) => void;
  /** Cancels the first enrolment. */
  readonly signal?: AbortSignal;
}

const FIRST_BACK_OFF_MS = 200;
const LONGEST_BACK_OFF_MS = 5_000;

/**
 * The identity of a service that does not hold the CA. The first certificate is requested with the join
 * token, each renewal with the current certificate. Waits until sys is reachable.
 * @throws KeelsonError `rpc.join_refused` for a wrong token
 */
export const enrolIdentity = async (options: EnrolmentOptions): Promise<RenewedIdentity> => {
  const { service, caCertificatesPem, clock, report, signal } = options;

  const request = async (
    csr: Uint8Array,
    current: TlsIdentity | undefined,
  ): Promise<IssuedCertificate> => {
    const client = createRpcClient(InternalCertificatesDefinition, {
      address: options.sysAddress,
      service: 'sys',
      tls: current ?? { caCertificatesPem },
    });
    try {
      const { chain, notAfterEpochSeconds } = await client.issue(
        {
          service,
          csr: Buffer.from(csr),
          joinToken: current === undefined ? options.joinToken : '',
        },
        signal ? { signal } : {},
      );
      return { chain, notAfterMs: Number(notAfterEpochSeconds) * 1000 };
    } finally {
      client.close();
    }
  };

  const requestFirst = async (csr: Uint8Array): Promise<IssuedCertificate> => {
    for (let backOffMs = FIRST_BACK_OFF_MS; ; ) {
      try {
        return await request(csr, undefined);
      } catch (error) {
        if (!hasCode(error, 'edge.backend_unavailable', 'request.deadline_exceeded')) throw error;
        report(error);
        const waited = Promise.withResolvers<void>();
        clock.after(backOffMs, waited.resolve);
        await waited.promise;
        backOffMs = Math.min(backOffMs * 2, LONGEST_BACK_OFF_MS);
      }
    }
  };

  return renewIdentity({
    service,
    caCertificatesPem,
    clock,
    report,
    issue: (csr, current) => (current ? request(csr, current) : requestFirst(csr)),
  });
};
