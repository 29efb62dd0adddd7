/**
 * Upload and download of configuration files through signed URLs, because clients send no token with an
 * upload.
 */
import { edgeResponse, type Route } from '@keelson/edge';
import { notFound } from '../../base/not-found.ts';
import { signedRoute } from '../../base/signed-urls/signed-routes.ts';
import { signedDownload } from '../../workspaces/access/signed-downloads.ts';
import { readContent } from '../contents/state-content-operations.ts';
import type { StateContext } from '../seams/state-context.ts';
import {
  requireConfigurationVersion,
  uploadConfiguration,
} from './configuration-version-operations.ts';

export const configurationTransferRoutes = (context: StateContext): Route[] => [
  signedRoute(context, 'configuration versions', {
    method: 'PUT',
    path: `/uploads/configuration-versions/:configuration_version_id`,
    summary: 'Upload the files of an announced configuration version',
    handle: async ({ params, body }) => {
      await uploadConfiguration(context, params.configuration_version_id, body.chunks());
      return undefined;
    },
  }),
  signedDownload(context, 'configuration versions', {
    path: `/downloads/configuration-versions/:configuration_version_id`,
    summary: 'Download the files of a configuration version',
    mediaTypes: ['application/gzip'],
    handle: async ({ params }, reader) => {
      const id = params.configuration_version_id;
      const { version } = await requireConfigurationVersion(context.store, reader, id);
      if (version.status !== 'uploaded' || version.archive === null)
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
