/** Fetching certificates, without a token (reference §5.6). */
import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import type { RequestHead } from '@keelson/proto/edge/v1/edge';
import { field, type Result, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { encodeCertsOnly, encodePem, parseSerialText, toSerialKey } from '@keelson/x509';
import type { Authority, IssuerInUse } from '../issuers/domain/authority.ts';
import type { Authorities } from '../issuers/issuer-records.ts';
import { formatTime } from '../issuing/domain/lifetime.ts';
import type { MountScope } from '../mounts/mount-records.ts';
import { requireMount } from '../mounts/request-mount.ts';
import { findCertificate, revocationRecords } from './certificate-records.ts';
import {
  type Freshness,
  rawAnswer,
  rawUnlessUnmodified,
  unmodifiedAnswer,
  whileInForce,
} from './raw-answer.ts';

export interface CertificateRouteParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly clock: Clock;
}

/** How a client fetches issuers. */
interface Fetch {
  readonly authority: Authority;
  readonly freshness: Freshness;
}

const CERTIFICATE_TYPE = 'application/pkix-cert';
const CHAIN_TYPE = 'application/pem-certificate-chain';
/** Media type of `.p7b` files, which Windows and browsers offer to install. */
const CERTS_ONLY_TYPE = 'application/x-pkcs7-certificates';

const startFetch = async (
  { authorities, clock }: CertificateRouteParts,
  mount: MountScope,
  { headers }: RequestHead,
): Promise<Fetch> => {
  const authority = await authorities.of(mount);
  const stands = whileInForce(authorities, mount, authority);
  return { authority, freshness: { headers, nowMs: clock.nowMs(), stands } };
};

const joinPems = (issuers: readonly IssuerInUse[]): string =>
  issuers.map(({ pem }) => pem).join('\n');

const toCertsOnly = (issuers: readonly IssuerInUse[]): Uint8Array =>
  encodeCertsOnly(issuers.map(({ certificate }) => certificate.der));

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

/** Certificates of issuers as bytes, unless the client has them already; nothing to show is 204. */
const issuerAnswer = async (
  { authority, freshness }: Fetch,
  contentType: string,
  content: Uint8Array | string | undefined,
): Promise<Result> =>
  content === undefined
    ? rawAnswer(contentType, undefined)
    : rawUnlessUnmodified(
        freshness,
        authority.settings.issuersChangedAtMs,
        contentType,
        () => content,
      );

const singleRoutes = (parts: CertificateRouteParts): Route[] => {
  const { store } = parts;
  const read = (
    path: string,
    summary: string,
    handle: (mount: MountScope, serial: string, head: RequestHead) => Promise<Result>,
  ): Route[] =>
    secretsRoutes({
      path,
      tag: 'certificates',
      fields: path.includes(':serial') ? SERIAL_FIELD : {},
      operations: {
        read: {
          summary,
          handle: (context) =>
            handle(requireMount(context), context.params['serial'] ?? '', context.head),
        },
      },
    });
  const readDefault = (
    path: string,
    summary: string,
    handle: (fetch: Fetch) => Promise<Result>,
  ): Route[] =>
    read(path, summary, async (mount, _, head) => handle(await startFetch(parts, mount, head)));
  const chainPems = (authority: Authority): string | undefined =>
    authority.defaultIssuer && joinPems(authority.chainOf(authority.defaultIssuer));
  return [
    ...readDefault('/ca', 'Default issuer, DER', (fetch) =>
      issuerAnswer(fetch, CERTIFICATE_TYPE, fetch.authority.defaultIssuer?.certificate.der),
    ),
    ...readDefault('/ca/pem', 'Default issuer, PEM', (fetch) =>
      issuerAnswer(fetch, CHAIN_TYPE, fetch.authority.defaultIssuer?.pem),
    ),
    ...readDefault('/ca/p7b', 'Default issuer and those above it, PKCS #7', (fetch) => {
      const { defaultIssuer } = fetch.authority;
      const chain = defaultIssuer && toCertsOnly(fetch.authority.chainOf(defaultIssuer));
      return issuerAnswer(fetch, CERTS_ONLY_TYPE, chain);
    }),
    // The content type is an old mistake that clients have come to expect.
    ...readDefault('/ca_chain', 'Default issuer and those above it, PEM', (fetch) =>
      issuerAnswer(fetch, CERTIFICATE_TYPE, chainPems(fetch.authority)),
    ),
    ...readDefault('/cert/ca', 'Default issuer', async ({ authority: { defaultIssuer } }) => {
      return (
        defaultIssuer && {
          data: { certificate: defaultIssuer.pem, revocation_time: 0, revocation_time_rfc3339: '' },
        }
      );
    }),
    ...readDefault('/cert/ca/raw', 'Default issuer, DER', (fetch) =>
      issuerAnswer(fetch, CERTIFICATE_TYPE, fetch.authority.defaultIssuer?.certificate.der),
    ),
    ...readDefault('/cert/ca/raw/pem', 'Default issuer, PEM', (fetch) =>
      issuerAnswer(fetch, CHAIN_TYPE, fetch.authority.defaultIssuer?.pem),
    ),
    ...readDefault('/cert/ca_chain', 'Default issuer and those above it', async ({ authority }) => {
      const chain = chainPems(authority);
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

const issuerFetchRoutes = (parts: CertificateRouteParts): Route[] => {
  const read = (
    suffix: string,
    summary: string,
    handle: (issuer: IssuerInUse, fetch: Fetch) => Promise<Result>,
  ): Route[] =>
    secretsRoutes({
      path: `/issuer/:issuer_ref${suffix}`,
      tag: 'certificates',
      fields: ISSUER_FIELD,
      operations: {
        read: {
          summary,
          handle: async (context) => {
            const fetch = await startFetch(parts, requireMount(context), context.head);
            return handle(fetch.authority.requireIssuer(context.fields.issuer_ref), fetch);
          },
        },
      },
    });
  return [
    ...read('/json', 'Certificate and chain of an issuer', async (found, fetch) => {
      const { authority, freshness } = fetch;
      return (
        unmodifiedAnswer(freshness, authority.settings.issuersChangedAtMs) ?? {
          data: {
            ca_chain: authority.chainOf(found).map(({ pem }) => pem),
            certificate: found.pem,
            issuer_id: found.issuer.id,
            issuer_name: found.issuer.name,
            revocation_time: (found.issuer.revokedAtMs ?? 0) / 1000,
          },
        }
      );
    }),
    ...read('/der', 'Certificate of an issuer, DER', (found, fetch) =>
      issuerAnswer(fetch, CERTIFICATE_TYPE, found.certificate.der),
    ),
    ...read('/pem', 'Certificate of an issuer, PEM', (found, fetch) =>
      issuerAnswer(fetch, CHAIN_TYPE, found.pem),
    ),
    ...read('/p7b', 'An issuer and those above it, PKCS #7', (found, fetch) =>
      issuerAnswer(fetch, CERTS_ONLY_TYPE, toCertsOnly(fetch.authority.chainOf(found))),
    ),
  ];
};

export const certificateRoutes = (parts: CertificateRouteParts): Route[] => [
  ...singleRoutes(parts),
  ...issuerFetchRoutes(parts),
];
