/** `sys/storage/raft/snapshot`: the API by which existing tools back up and restore a cluster. */
import { edgeResponse, type Route } from '@keelson/edge';
import type { Snapshots } from './snapshot-operations.ts';

const PATH = '/sys/storage/raft/snapshot';
const TAG = 'snapshots';
const MEDIA_TYPE = 'application/gzip';

const binary = { schema: { type: 'string', contentMediaType: MEDIA_TYPE } };

const WARNINGS = {
  type: 'object',
  required: ['warnings'],
  properties: { warnings: { type: 'array', items: { type: 'string' } } },
};

const REFUSED = { $ref: '#/components/responses/Refused' };

const restoreRoutes = (snapshots: Snapshots, path: string, isForced: boolean): Route[] =>
  (['POST', 'PUT'] as const).map((method) => ({
    method,
    path,
    operation: () => ({
      summary: isForced
        ? 'Replace everything by a snapshot that other keys may have encrypted'
        : 'Replace everything by a snapshot of this cluster',
      description:
        'The whole snapshot is verified before anything is replaced. The cluster is sealed afterwards and is opened with the keys of the snapshot.',
      tags: [TAG],
      requestBody: { required: true, content: { [MEDIA_TYPE]: binary } },
      responses: {
        200: {
          description: 'Everything was replaced; `warnings` name what no longer applies.',
          content: { 'application/json': { schema: WARNINGS } },
        },
        204: { description: 'Everything was replaced.' },
        '4XX': REFUSED,
      },
    }),
    handle: async ({ body }) => {
      const warnings = await snapshots.restore({ chunks: body.chunks(), isForced });
      return warnings.length === 0
        ? edgeResponse(204)
        : edgeResponse(
            200,
            { 'content-type': 'application/json' },
            Buffer.from(JSON.stringify({ warnings })),
          );
    },
  }));

export const snapshotRoutes = (snapshots: Snapshots): Route[] => [
  {
    method: 'GET',
    path: PATH,
    operation: () => ({
      summary: 'A snapshot of all services of the cluster',
      tags: [TAG],
      responses: {
        200: { description: 'A tar archive under gzip.', content: { [MEDIA_TYPE]: binary } },
        '4XX': REFUSED,
      },
    }),
    handle: async ({ head, signal }) => {
      const headers = {
        'content-type': MEDIA_TYPE,
        'cache-control': 'no-store',
        'content-disposition': 'attachment; filename="keelson.snapshot"',
      };
      return head.method === 'HEAD'
        ? edgeResponse(200, headers)
        : edgeResponse(200, headers, await snapshots.take(signal));
    },
  },
  ...restoreRoutes(snapshots, PATH, false),
  ...restoreRoutes(snapshots, `${PATH}-force`, true),
];
