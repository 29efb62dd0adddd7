import type { JsonObject } from '@keelson/secrets-api';
import type { AuthorityUrls, ClusterAddress } from './domain/authority-urls.ts';

/** The four lists of URLs, as issuers and mounts show them. */
export const urlListsDocument = (urls: AuthorityUrls): JsonObject => ({
  issuing_certificates: urls.issuingCertificates,
  crl_distribution_points: urls.crlDistributionPoints,
  delta_crl_distribution_points: urls.deltaCrlDistributionPoints,
  ocsp_servers: urls.ocspServers,
});

export const urlsDocument = (urls: AuthorityUrls): JsonObject => ({
  ...urlListsDocument(urls),
  enable_templating: urls.enableTemplating,
});

export const clusterDocument = ({ path, aiaPath }: ClusterAddress): JsonObject => ({
  path,
  aia_path: aiaPath,
});
