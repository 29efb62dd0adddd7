/** Fetching certificates of issuers, without a token (reference §5.6). */

import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { type MountScope, requireMount } from '@keelson/engine';
import type { RequestHead } from '@keelson/proto/edge/v1/edge';
import { type DescribedAnswer, field, type Result, secretsRoutes } from '@keelson/secrets-api';
import { encodeCertsOnly } from '@keelson/x509';
import {
  CERTIFICATE_TYPE,
  CHAIN_TYPE,
  type Freshness,
  publicAnswer,
  rawAnswer,
  STORED_CERTIFICATE,
  unmodifiedAnswer,
} from '../certificates/raw-answer.ts';
import type { Authority, IssuerInUse } from './domain/authority.ts';
import type { Authorities } from './issuer-records.ts';

export interface IssuerFetchParts {
  readonly authorities: Authorities;
  readonly clock: Clock;
}

/** A client's request for issuers. */
interface Fetch {
  readonly authority: Authority;
  readonly freshness: Freshness;
}

/** Media type of `.p7b` files, which Windows and browsers offer to install. */
const CERTS_ONLY_TYPE = 'application/x-pkcs7-certificates';

const DER = { mediaType: CERTIFICATE_TYPE } as const;
const PEM = { mediaType: CHAIN_TYPE } as const;
const CERTS_ONLY = { mediaType: CERTS_ONLY_TYPE } as const;

const text = { type: 'string' } as const;
const CHAIN = { data: { certificate: text, ca_chain: text } } as const;
const ISSUER = {
  data: {
    ca_chain: { type: 'array', items: text },
    certificate: text,
    issuer_id: text,
    issuer_name: text,
    revocation_time: { type: 'number' },
  },
} as const;

const startFetch = async (
  { authorities, clock }: IssuerFetchParts,
  mount: MountScope,
  { headers }: RequestHead,
): Promise<Fetch> => {
  const authority = await authorities.of(mount);
  return { authority, freshness: { headers, nowMs: clock.nowMs() } };
};

const joinPems = (issuers: readonly IssuerInUse[]): string =>
  issuers.map(({ pem }) => pem).join('\n');

const toCertsOnly = (issuers: readonly IssuerInUse[]): Uint8Array =>
  encodeCertsOnly(issuers.map(({ certificate }) => certificate.der));

/** Certificates of issuers as bytes, unless the client has them already; nothing to show is 204. */
const issuerAnswer = async (
  { authority, freshness }: Fetch,
  contentType: string,
  content: Uint8Array | string | undefined,
): Promise<Result> =>
  content === undefined
    ? rawAnswer(contentType, undefined)
    : publicAnswer(freshness, {
        contentType,
        content,
        modifiedAtMs: authority.settings.issuersChangedAtMs,
      });

const defaultIssuerRoutes = (parts: IssuerFetchParts): Route[] => {
  const readDefault = (
    path: string,
    summary: string,
    answer: DescribedAnswer,
    handle: (fetch: Fetch) => Promise<Result>,
  ): Route[] =>
    secretsRoutes({
      path,
      tag: 'certificates',
      fields: {},
      operations: {
        read: {
          summary,
          answer,
          handle: async (context) =>
            handle(await startFetch(parts, requireMount(context), context.head)),
        },
      },
    });
  const chainPems = (authority: Authority): string | undefined =>
    authority.defaultIssuer && joinPems(authority.chainOf(authority.defaultIssuer));
  return [
    ...readDefault('/ca', 'Default issuer, DER', DER, (fetch) =>
      issuerAnswer(fetch, CERTIFICATE_TYPE, fetch.authority.defaultIssuer?.certificate.der),
    ),
    ...readDefault('/ca/pem', 'Default issuer, PEM', PEM, (fetch) =>
      issuerAnswer(fetch, CHAIN_TYPE, fetch.authority.defaultIssuer?.pem),
    ),
    ...readDefault('/ca/p7b', 'Default issuer and those above it, PKCS #7', CERTS_ONLY, (fetch) => {
      const { defaultIssuer } = fetch.authority;
      const chain = defaultIssuer && toCertsOnly(fetch.authority.chainOf(defaultIssuer));
      return issuerAnswer(fetch, CERTS_ONLY_TYPE, chain);
    }),
    // The content type is an old mistake that clients have come to expect.
    ...readDefault('/ca_chain', 'Default issuer and those above it, PEM', DER, (fetch) =>
      issuerAnswer(fetch, CERTIFICATE_TYPE, chainPems(fetch.authority)),
    ),
    ...readDefault(
      '/cert/ca',
      'Default issuer',
      STORED_CERTIFICATE,
      async ({ authority: { defaultIssuer } }) => {
        return (
          defaultIssuer && {
            data: {
              certificate: defaultIssuer.pem,
              revocation_time: 0,
              revocation_time_rfc3339: '',
            },
          }
        );
      },
    ),
    ...readDefault('/cert/ca/raw', 'Default issuer, DER', DER, (fetch) =>
      issuerAnswer(fetch, CERTIFICATE_TYPE, fetch.authority.defaultIssuer?.certificate.der),
    ),
    ...readDefault('/cert/ca/raw/pem', 'Default issuer, PEM', PEM, (fetch) =>
      issuerAnswer(fetch, CHAIN_TYPE, fetch.authority.defaultIssuer?.pem),
    ),
    ...readDefault(
      '/cert/ca_chain',
      'Default issuer and those above it',
      CHAIN,
      async ({ authority }) => {
        const chain = chainPems(authority);
        return chain === undefined ? undefined : { data: { certificate: chain, ca_chain: chain } };
      },
    ),
  ];
};

const ISSUER_FIELD = {
  issuer_ref: field.string({ default: '', description: 'Id or name of an issuer, or `default`.' }),
};

const namedIssuerRoutes = (parts: IssuerFetchParts): Route[] => {
  const read = (
    suffix: string,
    summary: string,
    answer: DescribedAnswer,
    handle: (issuer: IssuerInUse, fetch: Fetch) => Promise<Result>,
  ): Route[] =>
    secretsRoutes({
      path: `/issuer/:issuer_ref${suffix}`,
      tag: 'certificates',
      fields: ISSUER_FIELD,
      operations: {
        read: {
          summary,
          answer,
          handle: async (context) => {
            const fetch = await startFetch(parts, requireMount(context), context.head);
            return handle(fetch.authority.requireIssuer(context.fields.issuer_ref), fetch);
          },
        },
      },
    });
  return [
    ...read('/json', 'Certificate and chain of an issuer', ISSUER, async (found, fetch) => {
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
    ...read('/der', 'Certificate of an issuer, DER', DER, (found, fetch) =>
      issuerAnswer(fetch, CERTIFICATE_TYPE, found.certificate.der),
    ),
    ...read('/pem', 'Certificate of an issuer, PEM', PEM, (found, fetch) =>
      issuerAnswer(fetch, CHAIN_TYPE, found.pem),
    ),
    ...read('/p7b', 'An issuer and those above it, PKCS #7', CERTS_ONLY, (found, fetch) =>
      issuerAnswer(fetch, CERTS_ONLY_TYPE, toCertsOnly(fetch.authority.chainOf(found))),
    ),
  ];
};

export const issuerFetchRoutes = (parts: IssuerFetchParts): Route[] => [
  ...defaultIssuerRoutes(parts),
  ...namedIssuerRoutes(parts),
];
