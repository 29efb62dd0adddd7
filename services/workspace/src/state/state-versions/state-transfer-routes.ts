/** Upload and download of states through signed URLs, because clients send no token with an upload. */
import { edgeResponse, type Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { signedRoute } from '../../base/signed-urls/signed-routes.ts';
import { signedDownload } from '../../workspaces/access/signed-downloads.ts';
import { readContent } from '../contents/state-content-operations.ts';
import type { StateVersion } from '../model/domain/state-version.ts';
import type { StateContext } from '../seams/state-context.ts';
import { uploadJsonState, uploadState } from './state-upload-operations.ts';
import { requireStateVersion } from './state-version-operations.ts';

export const stateTransferRoutes = (context: StateContext): Route[] => {
  const { store } = context;
  const upload = (kind: 'state' | 'json-state', receive: typeof uploadState) =>
    signedRoute(context, 'state versions', {
      method: 'PUT',
      path: `/uploads/state-versions/:state_version_id/${kind}`,
      summary: `Upload the ${kind} of an announced state version`,
      handle: async ({ params, body }) => {
        await receive(context, params.state_version_id, body.chunks());
        return undefined;
      },
    });
  const download = (
    kind: 'state' | 'json-state',
    contentOf: (version: StateVersion) => StateVersion['state'],
  ) =>
    signedDownload(context, 'state versions', {
      path: `/downloads/state-versions/:state_version_id/${kind}`,
      summary: `Download the ${kind} of a state version`,
      mediaTypes: ['application/json'],
      handle: async ({ params }, reader) => {
        const id = params.state_version_id;
        const { version } = await requireStateVersion(store, reader, id, 'canReadStateVersions');
        const content = version.status === 'finalized' ? contentOf(version) : null;
        if (content === null) throw new KeelsonError('workspace.not_found', { resource: kind });
        return edgeResponse(
          200,
          {
            'content-type': 'application/json',
            'content-length': String(content.sizeBytes),
            'cache-control': 'no-store',
          },
          await readContent(context, content),
        );
      },
    });
  return [
    upload('state', uploadState),
    upload('json-state', uploadJsonState),
    download('state', ({ state }) => state),
    download('json-state', ({ jsonState }) => jsonState),
  ];
};
