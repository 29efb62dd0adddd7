/** The files of configurations, under signed addresses: clients send no token with an upload. */
import { edgeResponse, type Route } from '@keelson/edge';
import { notFound } from '../access/access-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { signedRoute } from '../signed-urls/signed-routes.ts';
import { readContent } from '../states/state-content-operations.ts';
import { uploadConfiguration } from './configuration-version-operations.ts';
import { configurationVersionRecords } from './configuration-version-records.ts';

const ID = 'configuration_version_id';

export const configurationTransferRoutes = (context: ServiceContext): Route[] => [
  signedRoute(context, 'configuration versions', {
    method: 'PUT',
    path: `/uploads/configuration-versions/:${ID}`,
    summary: 'Upload the files of an announced configuration version',
    handle: async ({ params, body }) => {
      await uploadConfiguration(context, params[ID] ?? '', body.chunks());
      return undefined;
    },
  }),
  signedRoute(context, 'configuration versions', {
    method: 'GET',
    path: `/downloads/configuration-versions/:${ID}`,
    summary: 'Download the files of a configuration version',
    handle: async ({ params }) => {
      const version = await configurationVersionRecords.find(context.store, params[ID] ?? '');
      if (version?.status !== 'uploaded' || version.archive === null)
        throw notFound('configuration version');
      return edgeResponse(
        200,
        {
          'content-type': 'application/gzip',
          'content-length': String(version.archive.sizeBytes),
          'cache-control': 'no-store',
        },
        readContent(context.store, version.archive),
      );
    },
  }),
];
