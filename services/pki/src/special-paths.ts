/** Paths of a mount that need no token, and those that need `sudo` (reference §0.6). */
import type { EngineDescription } from '@keelson/proto/sys/v1/cluster';
import { DIRECTORY_FORMS, UNAUTHENTICATED_RESOURCES } from './acme/directories/domain/directory.ts';

export const PKI_ENGINE: EngineDescription = {
  type: 'pki',
  unauthenticatedPaths: [
    'cert/*',
    'ca',
    'ca/pem',
    'ca/p7b',
    'ca_chain',
    'crl',
    'crl/pem',
    'crl/delta',
    'crl/delta/pem',
    'issuer/+/json',
    'issuer/+/der',
    'issuer/+/pem',
    'issuer/+/p7b',
    'issuer/+/crl',
    'issuer/+/crl/der',
    'issuer/+/crl/pem',
    'issuer/+/crl/delta',
    'issuer/+/crl/delta/der',
    'issuer/+/crl/delta/pem',
    'issuers',
    'ocsp',
    'ocsp/*',
    'unified-crl',
    'unified-crl/*',
    'issuer/+/unified-crl',
    'issuer/+/unified-crl/*',
    'unified-ocsp',
    'unified-ocsp/*',
    // RFC 7030 §4.1.2, §4.5.1; requests with a client certificate are authenticated by it.
    'est/cacerts',
    'est/csrattrs',
    'roles/+/est/cacerts',
    'roles/+/est/csrattrs',
    'sign-verbatim/est/cacerts',
    'sign-verbatim/est/csrattrs',
    'est/by-certificate/*',
    ...DIRECTORY_FORMS.flatMap(({ pattern }) =>
      UNAUTHENTICATED_RESOURCES.map((resource) => pattern + resource),
    ),
  ],
  rootPaths: ['root', 'root/sign-self-issued', 'keys/compromised/+'],
};

/** @param path of a route, with `+` in place of each parameter */
export const isUnauthenticated = (path: string): boolean =>
  PKI_ENGINE.unauthenticatedPaths.some((pattern) =>
    pattern.endsWith('*') ? path.startsWith(`/${pattern.slice(0, -1)}`) : path === `/${pattern}`,
  );
