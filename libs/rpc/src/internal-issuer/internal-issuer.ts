import { readFile } from 'node:fs/promises';
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { InternalCertificatesDefinition } from '@keelson/proto/sys/v1/internal_certificates';
import { parseCsr } from '@keelson/x509';
import type { RpcService } from '../rpc-service.ts';
import {
  authorityCertificatePem,
  isJoinToken,
  issueServiceCertificate,
  parseInternalAuthority,
} from './internal-authority.ts';
import { type RenewedIdentity, renewIdentity } from './renewed-identity.ts';

/** Services with a store of their own. */
export const STORE_SERVICES = ['sys', 'pki', 'workspace', 'auth'] as const;
/** All service names; a certificate contains one of them. */
export const SERVICE_NAMES = [...STORE_SERVICES, 'gateway'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

export interface InternalIssuer {
  /** Register it with `callers: 'anyone'`: a new service has a join token instead of a certificate. */
  readonly service: RpcService<typeof InternalCertificatesDefinition>;
  /** The identity of the process that holds the CA. */
  identityOf(service: ServiceName): Promise<RenewedIdentity>;
}

export interface InternalIssuerOptions {
  /** KEELSON_INTERNAL_CA_FILE, created by `keelson-internal-ca`. */
  readonly file: string;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
}

/** The internal issuer of a sys process. */
export const openInternalIssuer = async (
  options: InternalIssuerOptions,
): Promise<InternalIssuer> => {
  const { clock, report } = options;
  const authority = parseInternalAuthority(await readFile(options.file, 'utf8'));
  return {
    service: {
      issue: async ({ service, csr, joinToken }, { peer } = {}) => {
        const isKnown = SERVICE_NAMES.some((name) => name === service);
        const isProven =
          joinToken === '' ? peer === service : isJoinToken(authority, service, joinToken);
        if (!isKnown || !isProven) throw new KeelsonError('rpc.join_refused', { service });
        // Verifies the CSR's signature, which proves that the caller has the key. The CSR's other contents
        // are ignored.
        const { publicKeyDer } = parseCsr(csr);
        const issued = await issueServiceCertificate(
          authority,
          service,
          publicKeyDer,
          clock.nowMs(),
        );
        return {
          chain: issued.chain.map((der) => Buffer.from(der)),
          notAfterEpochSeconds: BigInt(issued.notAfterMs / 1000),
        };
      },
    },
    identityOf: (service) =>
      renewIdentity({
        service,
        caCertificatesPem: authorityCertificatePem(authority),
        clock,
        report,
        issue: (csr) =>
          issueServiceCertificate(authority, service, parseCsr(csr).publicKeyDer, clock.nowMs()),
      }),
  };
};
