import { KeelsonError } from '@keelson/errors';
import { RequestHead } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { expect, test } from 'vitest';
import { bufferedBody } from './edge-body.ts';
import { type EdgeRequest, edgeResponse } from './edge-service.ts';
import type { EdgeMethod } from './methods.ts';
import { createEdgeService } from './router.ts';

const PATHS: readonly (readonly [EdgeMethod, string])[] = [
  ['GET', '/mounts'],
  ['GET', '/mounts/*'],
  ['POST', '/mounts/*'],
  ['GET', '/mounts/*/tune'],
  ['GET', '/mounts/status/:id'],
  ['LIST', '/roles'],
  ['GET', '/roles/:name'],
];

const service = createEdgeService({
  service: 'sample',
  version: '1',
  pathPrefix: '/v1',
  routes: PATHS.map(([method, path]) => ({
    method,
    path,
    operation: () => ({}),
    handle: (exchange) =>
      Promise.resolve(edgeResponse(200, {}, Buffer.from(JSON.stringify([path, exchange.params])))),
  })),
  renderError: (error) => edgeResponse(KeelsonError.from(error).httpStatus),
});

const request = (method: string, path: string): EdgeRequest => ({
  head: messageOf(RequestHead, { method, path }),
  body: bufferedBody(new Uint8Array()),
  signal: new AbortController().signal,
});

const send = async (method: string, path: string): Promise<unknown> => {
  const response = await service.handle(request(method, path));
  return response.head.status === 200
    ? (JSON.parse(Buffer.from(response.body as Uint8Array).toString()) as unknown)
    : response.head.status;
};

test.for([
  ['GET', '/mounts', ['/mounts', {}]],
  ['GET', '/mounts/', ['/mounts', {}]],
  ['GET', '/mounts/pki', ['/mounts/*', { path: 'pki' }]],
  ['GET', '/mounts/team/pki/', ['/mounts/*', { path: 'team/pki' }]],
  ['GET', '/mounts/pki/tune', ['/mounts/*/tune', { path: 'pki' }]],
  ['GET', '/mounts/team/pki/tune/', ['/mounts/*/tune', { path: 'team/pki' }]],
  ['GET', '/mounts/tune', ['/mounts/*', { path: 'tune' }]],
  ['GET', '/mounts/a%20b', ['/mounts/*', { path: 'a b' }]],
  ['GET', '/mounts/status/7', ['/mounts/status/:id', { id: '7' }]],
  ['LIST', '/roles/', ['/roles', {}]],
  ['GET', '/roles', 405],
  ['POST', '/mounts', 405],
  ['DELETE', '/mounts/pki', 405],
  ['GET', '/other', 404],
  ['OPTIONS', '/mounts', 405],
  ['constructor', '/mounts', 405],
  ['HEAD', '/other', 404],
  ['GET', '/roles/__proto__', ['/roles/:name', { name: '__proto__' }]],
  ['GET', '/roles/a%2Fb', ['/roles/:name', { name: 'a/b' }]],
  // Decoded only once, so that policies see the path that is routed.
  ['GET', '/roles/%2561', ['/roles/:name', { name: '%61' }]],
  ['GET', '/roles/%', 400],
  ['GET', '/roles/%ff', 400],
  ['GET', '/roles/web#x', 400],
  ['GET', '/roles/web?x', 400],
  ['GET', '/roles/%00', 400],
] as const)('routes %s %s', async ([method, path, expected]) => {
  expect(await send(method, path)).toEqual(expected);
});

test('answers HEAD with the headers of GET and no content', async () => {
  const response = await service.handle(request('HEAD', '/mounts'));
  expect(response.head.status).toBe(200);
  expect(response.body).toHaveLength(0);
});

test('names the methods that a path has when it refuses one', async () => {
  const refusals: unknown[] = [];
  const strict = createEdgeService({
    service: 'sample',
    version: '1',
    pathPrefix: '/v1',
    routes: (['GET', 'PUT'] as const).map((method) => ({
      method,
      path: '/a',
      operation: () => ({}),
      handle: () => Promise.resolve(edgeResponse(204)),
    })),
    renderError: (error) => {
      refusals.push(error);
      return edgeResponse(405);
    },
  });
  await strict.handle(request('POST', '/a'));
  expect(refusals).toMatchObject([
    { code: 'request.unsupported_operation', params: { allowed: 'GET, HEAD, PUT' } },
  ]);
});

test('lets a route refuse methods with its own document', async () => {
  const own = createEdgeService({
    service: 'sample',
    version: '1',
    pathPrefix: '/v1',
    routes: [
      {
        method: 'POST',
        path: '/a/:id',
        operation: () => ({}),
        handle: () => Promise.resolve(edgeResponse(204)),
        refuse: (error, { params }) =>
          Promise.resolve(edgeResponse(error.httpStatus, { allow: `${params['id']}` })),
      },
    ],
    renderError: () => edgeResponse(500),
  });
  const { head } = await own.handle(request('DELETE', '/a/b'));
  expect(head).toMatchObject(edgeResponse(405, { allow: 'b' }).head);
});
