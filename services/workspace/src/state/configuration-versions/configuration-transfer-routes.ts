/**
 * Upload and download of configuration files through signed URLs, because clients send no token with an
 * upload.
 */
import { edgeResponse, type Route } from '@keelson/edge';
import { notFound } from '../../base/not-found.ts';
import { signedRoute } from '../../base/signed-urls/signed-routes.ts';
import { readContent } from '../contents/state-content-operations.ts';
import type { StateContext } from '../seams/state-context.ts';
import { uploadConfiguration } from './configuration-version-operations.ts';
import { configurationVersionRecords } from './configuration-version-records.ts';

const ID = 'configuration_version_id';

export const configurationTransferRoutes = (context: StateContext): Route[] => [
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
    mediaTypes: ['application/gzip'],
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
        await readContent(context, version.archive),
      );
    },
  }),
];
