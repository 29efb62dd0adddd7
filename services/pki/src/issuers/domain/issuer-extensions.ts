/** Extensions that describe the issuer of a certificate; those in a request are ignored. */
import { authorityKeyIdentifier, EXTENSION, type Extension } from '@keelson/x509';
import { type AuthorityUrls, urlExtensions } from '../../authority-urls/domain/authority-urls.ts';

const OF_THE_ISSUER: readonly string[] = [
  EXTENSION.authorityKeyIdentifier,
  EXTENSION.authorityInformationAccess,
  EXTENSION.crlDistributionPoints,
  EXTENSION.freshestCrl,
];

export const withoutIssuerExtensions = (extensions: readonly Extension[]): readonly Extension[] =>
  extensions.filter(({ oid }) => !OF_THE_ISSUER.includes(oid));

export const issuerExtensions = (
  issuerKeyIdentifier: Uint8Array,
  urls: AuthorityUrls,
): readonly Extension[] => [authorityKeyIdentifier(issuerKeyIdentifier), ...urlExtensions(urls)];
