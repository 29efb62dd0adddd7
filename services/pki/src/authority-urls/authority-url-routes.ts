import type { Route } from '@keelson/edge';
import { field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { urlsDocument } from '../issuers/issuer-document.ts';
import type { Authorities } from '../issuers/issuer-records.ts';
import { requireMount } from '../mounts/request-mount.ts';
import { updateClusterAddress, updateUrls } from './authority-url-operations.ts';
import type { AuthorityUrls, ClusterAddress } from './domain/authority-urls.ts';

const urlList = (description: string) => field.commaList({ description });

const URL_FIELDS = {
  issuing_certificates: urlList('Where the issuer can be fetched.'),
  crl_distribution_points: urlList('Where lists can be fetched.'),
  delta_crl_distribution_points: urlList('Where delta lists can be fetched.'),
  ocsp_servers: urlList('OCSP responders.'),
  enable_templating: field.bool({ description: 'Fill templates in the URLs.' }),
};

const CLUSTER_FIELDS = {
  path: field.string({ description: 'URL of this mount for ACME clients.' }),
  aia_path: field.string({ description: 'URL of this mount for those who fetch lists.' }),
};

const document = (urls: AuthorityUrls): JsonObject => ({
  ...urlsDocument(urls),
  enable_templating: urls.enableTemplating,
});

const clusterDocument = ({ path, aiaPath }: ClusterAddress): JsonObject => ({
  path,
  aia_path: aiaPath,
});

export const authorityUrlRoutes = (store: Store, authorities: Authorities): Route[] => [
  ...secretsRoutes({
    path: '/config/urls',
    tag: 'configuration',
    fields: URL_FIELDS,
    operations: {
      read: {
        summary: 'Read the URLs written into certificates',
        handle: async (context) => ({
          data: document((await authorities.of(requireMount(context))).settings.urls),
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
          return { data: document(urls), warnings };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/config/cluster',
    tag: 'configuration',
    fields: CLUSTER_FIELDS,
    operations: {
      read: {
        summary: "Read this cluster's addresses",
        handle: async (context) => ({
          data: clusterDocument((await authorities.of(requireMount(context))).settings.cluster),
        }),
      },
      update: {
        summary: "Change this cluster's addresses",
        handle: async (context) => {
          const { path, aia_path: aiaPath } = context.fields;
          const address = await updateClusterAddress(store, requireMount(context), (before) => ({
            path: path ?? before.path,
            aiaPath: aiaPath ?? before.aiaPath,
          }));
          return { data: clusterDocument(address) };
        },
      },
    },
  }),
];
