/** The OpenAPI document of this service, at the path where client generators look for it. */
import { type EdgeService, edgeResponse, type Route } from '@keelson/edge';

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
  const load = async (): Promise<Uint8Array> => {
    const { pathsJson, schemasJson, pathPrefix, version } = await describe();
    const document = {
      openapi: '3.1.0',
      info: { title: 'Keelson workspace API', version },
      servers: [{ url: pathPrefix }],
      paths: JSON.parse(pathsJson) as unknown,
      components: { schemas: JSON.parse(schemasJson) as unknown },
    };
    return Buffer.from(JSON.stringify(document));
  };
  let loaded: Promise<Uint8Array> | undefined;
  return NAMES.map((name) => ({
    method: 'GET',
    path: `/openapi/${name}.json`,
    operation: {
      tags: ['API description'],
      summary: 'Describe the API as an OpenAPI document',
      security: [],
      responses: {
        200: { description: 'The document.', content: { 'application/json': {} } },
        304: { description: 'It is as it was at If-Modified-Since.' },
      },
    },
    handle: async ({ head }) => {
      const headers = { 'last-modified': new Date(changedAtMs).toUTCString() };
      const knownAtMs = Date.parse(head.headers['if-modified-since'] ?? '');
      if (knownAtMs >= changedAtMs) return edgeResponse(304, headers);
      loaded ??= load();
      return edgeResponse(200, { ...headers, 'content-type': 'application/json' }, await loaded);
    },
  }));
};
