/** Where relying parties find the issuer, its lists and its responder (reference §2.8, §6.1). */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import {
  authorityInformationAccess,
  crlDistributionPoints,
  type Extension,
  freshestCrl,
} from '@keelson/x509';
import { Type } from 'typebox';

export const authorityUrlsShape = Type.Object({
  issuingCertificates: Type.Array(Type.String()),
  crlDistributionPoints: Type.Array(Type.String()),
  deltaCrlDistributionPoints: Type.Array(Type.String()),
  ocspServers: Type.Array(Type.String()),
  enableTemplating: Type.Boolean(),
});
export type AuthorityUrls = Shaped<typeof authorityUrlsShape>;

export const NO_URLS: AuthorityUrls = {
  issuingCertificates: [],
  crlDistributionPoints: [],
  deltaCrlDistributionPoints: [],
  ocspServers: [],
  enableTemplating: false,
};

/** This cluster's own addresses. */
export const clusterAddressShape = Type.Object({
  /** URL of the mount for ACME clients, "" when not set. */
  path: Type.String(),
  /** URL of the mount for AIA and CRL fetchers, "" when not set. */
  aiaPath: Type.String(),
});
export type ClusterAddress = Shaped<typeof clusterAddressShape>;

export const isUrlWithHost = (text: string): boolean =>
  URL.canParse(text) && new URL(text).host !== '';

const WIRE_NAMES = {
  issuingCertificates: 'issuing_certificates',
  crlDistributionPoints: 'crl_distribution_points',
  deltaCrlDistributionPoints: 'delta_crl_distribution_points',
  ocspServers: 'ocsp_servers',
} as const;
type UrlKind = keyof typeof WIRE_NAMES;
const URL_KINDS = Object.keys(WIRE_NAMES) as readonly UrlKind[];

const TEMPLATE = /\{\{[^{}]*\}\}/g;

const checkUrl = (kind: UrlKind, url: string): void => {
  if (!isUrlWithHost(url))
    throw new KeelsonError('request.invalid', {
      text: `invalid URL found in Authority Information Access (AIA) parameter ${WIRE_NAMES[kind]}: ${url}`,
    });
};

/**
 * Refuses texts that cannot become URLs. With templating, a template counts as a host.
 * @throws KeelsonError `request.invalid`
 */
export const checkUrls = (urls: AuthorityUrls): void => {
  for (const kind of URL_KINDS)
    for (const url of urls[kind])
      if (!urls.enableTemplating) checkUrl(kind, url.includes('{{') ? '' : url);
      else if (!url.startsWith('{{')) checkUrl(kind, url.replaceAll(TEMPLATE, 'x'));
};

const needed = (value: string, what: string): string => {
  if (value === '')
    throw new KeelsonError('request.invalid', { text: `unable to template AIA URLs as ${what}` });
  return value;
};

/**
 * The URLs for certificates of one issuer, with templates resolved.
 * @param issuerId "" for a root that is being made
 * @throws KeelsonError `request.invalid` when a value for a template is missing
 */
export const resolveUrls = (
  urls: AuthorityUrls,
  issuerId: string,
  cluster: ClusterAddress,
): AuthorityUrls => {
  if (!urls.enableTemplating) return urls;
  const lacking =
    'we lack local cluster address information, which each cluster has for itself in config/cluster';
  const resolve = (kind: UrlKind): readonly string[] =>
    urls[kind].map((url) => {
      const filled = url
        .replaceAll('{{issuer_id}}', () =>
          needed(issuerId, 'we lack an issuer_id for this operation'),
        )
        .replaceAll('{{cluster_path}}', () => needed(cluster.path, `${lacking} (path)`))
        .replaceAll('{{cluster_aia_path}}', () => needed(cluster.aiaPath, `${lacking} (aia_path)`));
      checkUrl(kind, filled);
      return filled;
    });
  return {
    issuingCertificates: resolve('issuingCertificates'),
    crlDistributionPoints: resolve('crlDistributionPoints'),
    deltaCrlDistributionPoints: resolve('deltaCrlDistributionPoints'),
    ocspServers: resolve('ocspServers'),
    enableTemplating: false,
  };
};

/** The reason why certificates of an issuer cannot have these URLs; undefined if they can. */
export const templateObstacle = (
  urls: AuthorityUrls,
  cluster: ClusterAddress,
): string | undefined => {
  try {
    resolveUrls(urls, 'any', cluster);
    return undefined;
  } catch (error) {
    if (error instanceof KeelsonError) return error.message;
    throw error;
  }
};

/** The extensions that carry these URLs. */
export const urlExtensions = (urls: AuthorityUrls): readonly Extension[] => [
  ...(urls.ocspServers.length + urls.issuingCertificates.length > 0
    ? [authorityInformationAccess(urls.ocspServers, urls.issuingCertificates)]
    : []),
  ...(urls.crlDistributionPoints.length > 0
    ? [crlDistributionPoints(urls.crlDistributionPoints)]
    : []),
  ...(urls.deltaCrlDistributionPoints.length > 0
    ? [freshestCrl(urls.deltaCrlDistributionPoints)]
    : []),
];

export const hasUrls = (urls: AuthorityUrls): boolean =>
  URL_KINDS.some((kind) => urls[kind].length > 0);

export const NO_URLS_WARNING =
  "This mount hasn't configured any authority information access (AIA) fields; this may make it harder for systems to find missing certificates in the chain or to validate revocation status of certificates. Consider updating /config/urls or the newly generated issuer with this information.";
