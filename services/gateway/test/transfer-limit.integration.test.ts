/** Uploads and downloads at signed URLs have a separate time limit. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createEdgeService, edgeResponse, type Route } from '@keelson/edge';
import { createErrorRenderer } from '@keelson/jsonapi';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway } from './stub-services.ts';

const counted = (path: string): Route => ({
  method: 'PUT',
  path,
  operation: () => ({ summary: path }),
  handle: async ({ body }) => {
    let count = 0;
    for await (const chunk of body.chunks()) count += chunk.byteLength;
    return edgeResponse(200, { 'content-type': 'text/plain' }, Buffer.from(String(count)));
  },
});

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  const workspace = createEdgeService({
    service: 'workspace',
    version: '1',
    pathPrefix: '/api/v2',
    routes: [counted('/plain'), counted('/uploads/thing')],
    renderError: createErrorRenderer(() => undefined),
  });
  gateway = await startGateway({ KEELSON_REQUEST_TIME_LIMIT_SECONDS: '1' }, undefined, {
    workspace,
  });
});
afterAll(() => gateway.stop());

/** A request that has started and is slow. */
const begin = (path: string) => {
  const request = httpRequest(`${gateway.http}/api/v2${path}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  request.write('first');
  return { request, answered };
};

const textOf = async (message: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of message) text += String(chunk);
  return text;
};

test('an upload continues after the time limit of other requests', async () => {
  const upload = begin('/uploads/thing');
  const other = begin('/plain');
  const refused = await other.answered;
  expect(refused.statusCode).toBe(504);
  expect(refused.headers['connection']).toBe('close');
  // The gateway may end the connection at any time from now on.
  other.request.on('error', () => undefined);
  other.request.destroy();

  upload.request.end(' and last');
  const taken = await upload.answered;
  expect([taken.statusCode, await textOf(taken)]).toEqual([200, '14']);
});
