/** The OpenAPI document of this service, at the path where client generators look for it. */
import { type EdgeService, edgeResponse, type Route, toOpenApiDocument } from '@keelson/edge';

const NAMES = ['stable', 'prerelease'] as const;

/**
 * @param describe returns the OpenAPI document; its content changes only with a release
 * @param sinceMs when this process started, sent as `Last-Modified`
 */
export const apiDescriptionRoutes = (
  describe: EdgeService['describe'],
  sinceMs: number,
): Route[] => {
  // The HTTP date format has a resolution of one second.
  const changedAtMs = Math.floor(sinceMs / 1000) * 1000;
  const load = async (): Promise<Uint8Array> =>
    Buffer.from(JSON.stringify(toOpenApiDocument(await describe())));
  let loaded: Promise<Uint8Array> | undefined;
  return NAMES.map((name) => ({
    method: 'GET',
    path: `/openapi/${name}.json`,
    operation: () => ({
      tags: ['API description'],
      summary: 'Describe the API as an OpenAPI document',
      security: [],
      responses: {
        200: { description: 'The document.', content: { 'application/json': {} } },
        304: { description: 'It is as it was at If-Modified-Since.' },
        '4XX': { $ref: '#/components/responses/Refused' },
      },
    }),
    handle: async ({ head }) => {
      const headers = { 'last-modified': new Date(changedAtMs).toUTCString() };
      const knownAtMs = Date.parse(head.headers['if-modified-since'] ?? '');
      if (knownAtMs >= changedAtMs) return edgeResponse(304, headers);
      loaded ??= load();
      return edgeResponse(200, { ...headers, 'content-type': 'application/json' }, await loaded);
    },
  }));
};
