/** Fetching certificates, without a token (reference §5.6). */
import type { Route } from '@keelson/edge';
import { field, type Result, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { encodePem, parseSerialText, toSerialKey } from '@keelson/x509';
import type { IssuerInUse } from '../issuers/domain/authority.ts';
import type { Authorities } from '../issuers/issuer-records.ts';
import { formatTime } from '../issuing/domain/lifetime.ts';
import type { MountScope } from '../mounts/mount-records.ts';
import { requireMount } from '../mounts/request-mount.ts';
import { findCertificate, revocationRecords } from './certificate-records.ts';
import { rawAnswer } from './raw-answer.ts';

export interface CertificateRouteParts {
  readonly store: Store;
  readonly authorities: Authorities;
}

const CERTIFICATE_TYPE = 'application/pkix-cert';
const CHAIN_TYPE = 'application/pem-certificate-chain';

const joinPems = (issuers: readonly IssuerInUse[]): string =>
  issuers.map(({ pem }) => pem).join('\n');

const SERIAL_FIELD = {
  serial: field.string({ default: '', description: 'Serial number in hexadecimal.' }),
};

interface StoredCertificate {
  readonly der: Uint8Array;
  readonly serialKey: string;
}

const findBySerial = async (
  store: Store,
  mount: MountScope,
  serialText: string,
): Promise<StoredCertificate | undefined> => {
  const serialKey = toSerialKey(parseSerialText(serialText));
  const der = await findCertificate(store, mount, serialKey);
  return der && { der, serialKey };
};

const certificateAnswer = async (
  store: Store,
  mount: MountScope,
  { der, serialKey }: StoredCertificate,
): Promise<Result> => {
  const revocation = await revocationRecords(mount).find(store, serialKey);
  return {
    data: {
      certificate: encodePem('CERTIFICATE', der),
      revocation_time: (revocation?.revokedAtMs ?? 0) / 1000,
      revocation_time_rfc3339: revocation ? formatTime(revocation.revokedAtMs) : '',
      ...(revocation && revocation.issuerId !== '' && { issuer_id: revocation.issuerId }),
    },
  };
};

const singleRoutes = ({ store, authorities }: CertificateRouteParts): Route[] => {
  const defaultIssuer = async (mount: MountScope): Promise<IssuerInUse | undefined> =>
    (await authorities.of(mount)).defaultIssuer;
  const read = (
    path: string,
    summary: string,
    handle: (mount: MountScope, serial: string) => Promise<Result>,
  ): Route[] =>
    secretsRoutes({
      path,
      tag: 'certificates',
      fields: path.includes(':serial') ? SERIAL_FIELD : {},
      operations: {
        read: {
          summary,
          handle: (context) => handle(requireMount(context), context.params['serial'] ?? ''),
        },
      },
    });
  const chainPems = async (mount: MountScope): Promise<string | undefined> => {
    const authority = await authorities.of(mount);
    return authority.defaultIssuer && joinPems(authority.chainOf(authority.defaultIssuer));
  };
  return [
    ...read('/ca', 'Default issuer, DER', async (mount) =>
      rawAnswer(CERTIFICATE_TYPE, (await defaultIssuer(mount))?.certificate.der),
    ),
    ...read('/ca/pem', 'Default issuer, PEM', async (mount) =>
      rawAnswer(CHAIN_TYPE, (await defaultIssuer(mount))?.pem),
    ),
    // The content type is an old mistake that clients have come to expect.
    ...read('/ca_chain', 'Default issuer and those above it, PEM', async (mount) =>
      rawAnswer(CERTIFICATE_TYPE, await chainPems(mount)),
    ),
    ...read('/cert/ca', 'Default issuer', async (mount) => {
      const issuer = await defaultIssuer(mount);
      return (
        issuer && {
          data: { certificate: issuer.pem, revocation_time: 0, revocation_time_rfc3339: '' },
        }
      );
    }),
    ...read('/cert/ca/raw', 'Default issuer, DER', async (mount) =>
      rawAnswer(CERTIFICATE_TYPE, (await defaultIssuer(mount))?.certificate.der),
    ),
    ...read('/cert/ca_chain', 'Default issuer and those above it', async (mount) => {
      const chain = await chainPems(mount);
      return chain === undefined ? undefined : { data: { certificate: chain, ca_chain: chain } };
    }),
    ...read('/cert/:serial', 'Read a certificate', async (mount, serial) => {
      const found = await findBySerial(store, mount, serial);
      return found && certificateAnswer(store, mount, found);
    }),
    ...read('/cert/:serial/raw', 'Read a certificate, DER', async (mount, serial) =>
      rawAnswer(CERTIFICATE_TYPE, (await findBySerial(store, mount, serial))?.der),
    ),
    ...read('/cert/:serial/raw/pem', 'Read a certificate, PEM', async (mount, serial) => {
      const found = await findBySerial(store, mount, serial);
      return rawAnswer(CHAIN_TYPE, found && encodePem('CERTIFICATE', found.der));
    }),
  ];
};

const ISSUER_FIELD = {
  issuer_ref: field.string({ default: '', description: 'Id or name of an issuer, or `default`.' }),
};

const issuerFetchRoutes = ({ authorities }: CertificateRouteParts): Route[] => {
  const read = (
    suffix: string,
    summary: string,
    handle: (issuer: IssuerInUse, mount: MountScope) => Promise<Result>,
  ): Route[] =>
    secretsRoutes({
      path: `/issuer/:issuer_ref${suffix}`,
      tag: 'certificates',
      fields: ISSUER_FIELD,
      operations: {
        read: {
          summary,
          handle: async (context) => {
            const mount = requireMount(context);
            const authority = await authorities.of(mount);
            return handle(authority.requireIssuer(context.fields.issuer_ref), mount);
          },
        },
      },
    });
  return [
    ...read('/json', 'Certificate and chain of an issuer', async (found, mount) => {
      const chain = (await authorities.of(mount)).chainOf(found);
      return {
        data: {
          ca_chain: chain.map(({ pem }) => pem),
          certificate: found.pem,
          issuer_id: found.issuer.id,
          issuer_name: found.issuer.name,
          revocation_time: (found.issuer.revokedAtMs ?? 0) / 1000,
        },
      };
    }),
    ...read('/der', 'Certificate of an issuer, DER', async (found) =>
      rawAnswer(CERTIFICATE_TYPE, found.certificate.der),
    ),
    ...read('/pem', 'Certificate of an issuer, PEM', async (found) =>
      rawAnswer(CHAIN_TYPE, found.pem),
    ),
  ];
};

export const certificateRoutes = (parts: CertificateRouteParts): Route[] => [
  ...singleRoutes(parts),
  ...issuerFetchRoutes(parts),
];
