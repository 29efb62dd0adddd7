import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { field, propertiesOf, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { clusterDocument, urlsDocument } from './authority-url-document.ts';
import { updateClusterAddress, updateUrls } from './authority-url-operations.ts';
import { loadClusterAddress, loadUrls } from './authority-url-records.ts';

const urlList = (description: string) => field.commaList({ description });

const URL_FIELDS = {
  issuing_certificates: urlList('URLs of the issuer certificate.'),
  crl_distribution_points: urlList('URLs of revocation lists.'),
  delta_crl_distribution_points: urlList('URLs of delta lists.'),
  ocsp_servers: urlList('URLs of OCSP responders.'),
  enable_templating: field.bool({ description: 'Resolve templates in the URLs.' }),
};

const CLUSTER_FIELDS = {
  path: field.string({ description: 'URL of this mount for ACME clients.' }),
  aia_path: field.string({ description: 'URL of this mount for those who fetch lists.' }),
};

export const authorityUrlRoutes = (store: Store): Route[] => [
  ...secretsRoutes({
    path: '/config/urls',
    tag: 'configuration',
    hasSettings: true,
    fields: URL_FIELDS,
    operations: {
      read: {
        summary: 'Read the URLs written into certificates',
        answer: { data: propertiesOf(URL_FIELDS) },
        handle: async (context) => ({
          data: urlsDocument(await loadUrls(store, requireMount(context))),
        }),
      },
      update: {
        summary: 'Change the URLs written into certificates',
        handle: async (context) => {
          const { fields } = context;
          const { urls, warnings } = await updateUrls(store, requireMount(context), (before) => ({
            issuingCertificates: fields.issuing_certificates ?? before.issuingCertificates,
            crlDistributionPoints: fields.crl_distribution_points ?? before.crlDistributionPoints,
            deltaCrlDistributionPoints:
              fields.delta_crl_distribution_points ?? before.deltaCrlDistributionPoints,
            ocspServers: fields.ocsp_servers ?? before.ocspServers,
            enableTemplating: fields.enable_templating ?? before.enableTemplating,
          }));
          return { data: urlsDocument(urls), warnings };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/config/cluster',
    tag: 'configuration',
    hasSettings: true,
    fields: CLUSTER_FIELDS,
    operations: {
      read: {
        summary: "Read this cluster's addresses",
        answer: { data: propertiesOf(CLUSTER_FIELDS) },
        handle: async (context) => ({
          data: clusterDocument(await loadClusterAddress(store, requireMount(context))),
        }),
      },
      update: {
        summary: "Change this cluster's addresses",
        handle: async (context) => {
          const { path, aia_path: aiaPath } = context.fields;
          const mount = requireMount(context);
          const { address, warnings } = await updateClusterAddress(store, mount, (before) => ({
            path: path ?? before.path,
            aiaPath: aiaPath ?? before.aiaPath,
          }));
          return { data: clusterDocument(address), warnings };
        },
      },
    },
  }),
];
