import { bufferedBody, createEdgeService, type EdgeResponse } from '@keelson/edge';
import { Dialect, type Principal, type RequestHead } from '@keelson/proto/edge/v1/edge';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { one, pageOf } from './answer-schema.ts';
import { endpoint, openEndpoint } from './endpoint.ts';
import { createErrorRenderer } from './error-document.ts';
import { parsePage, toPaginatedDocument } from './pagination.ts';
import { resourceBody } from './request-body.ts';
import { jsonApiRoutes } from './routes.ts';

const unexpected: unknown[] = [];

const service = createEdgeService({
  service: 'sample',
  version: '1',
  pathPrefix: '/api/v2',
  routes: jsonApiRoutes('samples', [
    endpoint({
      method: 'POST',
      path: '/things/:thing_id',
      summary: 'Make a thing',
      answers: one('projects'),
      body: { schema: resourceBody('things', Type.Object({ name: Type.String() })) },
      success: 201,
      handle: ({ params, body }) =>
        Promise.resolve({
          document: {
            data: {
              id: params['thing_id'] ?? '',
              type: 'projects' as const,
              attributes: body.data.attributes,
            },
          },
        }),
    }),
    endpoint({
      method: 'PATCH',
      path: '/things/:thing_id',
      summary: 'Change a thing',
      body: { schema: resourceBody('things') },
      success: 204,
      handle: () => Promise.resolve(undefined),
    }),
    endpoint({
      method: 'GET',
      path: '/things',
      summary: 'List things',
      answers: pageOf('projects'),
      handle: ({ head, query }) =>
        Promise.resolve({
          document: toPaginatedDocument(head, { data: [], page: parsePage(query), totalCount: 45 }),
        }),
    }),
    openEndpoint({
      method: 'POST',
      path: '/doors',
      summary: 'Open a door',
      body: { schema: resourceBody('things', Type.Object({ name: Type.String() })) },
      success: 204,
      handle: () => Promise.resolve(undefined),
    }),
    endpoint({
      method: 'DELETE',
      path: '/things/:thing_id',
      summary: 'Fail',
      handle: () => Promise.reject(new Error('password=hunter2')),
    }),
  ]),
  renderError: createErrorRenderer((error) => unexpected.push(error)),
});

const principal: Principal = {
  kind: 'user',
  id: 'user-1',
  organization: '',
  tokenId: 'at-1',
  displayName: 'ann',
  siteAdmin: false,
};

const call = async (
  method: string,
  target: string,
  options: { body?: string; contentType?: string | null; anonymous?: boolean } = {},
): Promise<{ status: number; document: unknown; response: EdgeResponse }> => {
  const [path = '', query = ''] = target.split('?');
  const { contentType = 'application/vnd.api+json' } = options;
  const isSent = method !== 'GET' && contentType !== null;
  const head: RequestHead = {
    requestId: 'req-1',
    method,
    path,
    query,
    headers: isSent ? { 'content-type': contentType } : {},
    dialect: Dialect.SPECIFICATION,
    remoteAddress: '127.0.0.1',
    baseUrl: 'https://keelson.example',
    traceparent: '',
    namespace: undefined,
    mount: undefined,
    caller: undefined,
    principal: options.anonymous === true ? undefined : principal,
  };
  const response = await service.handle({
    head,
    body: bufferedBody(Buffer.from(options.body ?? '')),
    signal: new AbortController().signal,
  });
  const bytes = response.body as Uint8Array;
  return {
    status: response.head.status,
    document: bytes.length === 0 ? undefined : JSON.parse(Buffer.from(bytes).toString()),
    response,
  };
};

const thing = JSON.stringify({ data: { type: 'things', attributes: { name: 'n' } } });

describe('JSON:API route', () => {
  test('decodes, calls and answers a document', async () => {
    const { status, document } = await call('POST', '/things/x', { body: thing });
    expect(status).toBe(201);
    expect(document).toEqual({ data: { id: 'x', type: 'projects', attributes: { name: 'n' } } });
  });

  test('that is open needs no token', async () => {
    for (const anonymous of [true, false])
      expect((await call('POST', '/doors', { anonymous, body: thing })).status).toBe(204);
    const { pathsJson } = await service.describe();
    const { post } =
      (JSON.parse(pathsJson) as Record<string, Record<string, unknown>>)['/doors'] ?? {};
    expect(post).toMatchObject({ security: [] });
  });

  test.for([
    ['no token', '/things/x', { anonymous: true, body: thing }, 401],
    ['another content type', '/things/x', { contentType: 'application/json', body: thing }, 415],
    ['no JSON', '/things/x', { body: '{"data":' }, 400],
    ['bytes that are not UTF-8', '/things/x', { body: '\uD800{' }, 400],
    ['deep nesting', '/things/x', { body: '['.repeat(100_000) }, 400],
    ['many entries', '/things/x', { body: `[${'0,'.repeat(10_000)}0]` }, 400],
    ['an empty body', '/things/x', {}, 400],
    ['a missing field', '/things/x', { body: '{"data":{"type":"things"}}' }, 422],
    ['an unknown path', '/nothing', { body: thing }, 404],
  ] as const)('refuses %s', async ([, target, options, status]) => {
    const answer = await call('POST', target, options);
    expect(answer.status).toBe(status);
    expect(answer.document).toMatchObject({ errors: [{ status: String(status) }] });
  });

  test.for([
    ['application/vnd.api+json', 201],
    ['application/vnd.api+json; charset=utf-8', 201],
    ['application/vnd.api+json;charset=UTF-8', 201],
    ['Application/VND.api+JSON', 201],
    ['application/json', 415],
    ['application/vnd.api+jsonx', 415],
    ['text/plain; charset=utf-8', 415],
    ['', 415],
    [null, 415],
  ] as const)('accepts a body of the media type %j: %i', async ([contentType, status]) => {
    const { response } = await call('POST', '/things/x', { body: thing, contentType });
    expect(response.head.status).toBe(status);
    const sent = response.head.headers.find(({ name }) => name === 'content-type');
    expect(sent?.value).toBe('application/vnd.api+json');
    // The media type is checked before anything is done, also where the body is not read. Nothing has none.
    const ignored = await call('DELETE', '/things/x', { body: '{}', contentType });
    expect(ignored.status).toBe(status === 415 ? 415 : 500);
    const empty = await call('DELETE', '/things/x', { contentType });
    expect(empty.status).toBe(500);
  });

  test('names the scheme of a missing token, and the existing methods', async () => {
    const headersOf = async (method: string, target: string, anonymous: boolean) => {
      const { response } = await call(method, target, { body: thing, anonymous });
      return response.head.headers.map(({ name, value }) => `${name}: ${value}`);
    };
    expect(await headersOf('POST', '/things/x', true)).toContain('www-authenticate: Bearer');
    expect(await headersOf('PUT', '/things/x', false)).toContain('allow: POST, PATCH, DELETE');
  });

  test.for([
    [{}, 204],
    [{ id: 'x' }, 204],
    [{ id: null }, 204],
    [{ id: '' }, 204],
    [{ id: 'y' }, 409],
  ] as const)(
    'accepts a document only for the resource of its URL: %j',
    async ([given, status]) => {
      const body = JSON.stringify({ data: { type: 'things', ...given } });
      const answer = await call('PATCH', '/things/x', { body });
      expect(answer.status).toBe(status);
    },
  );

  test('reports the id of another resource', async () => {
    const body = JSON.stringify({ data: { type: 'things', id: 'y' } });
    const { document } = await call('PATCH', '/things/x', { body });
    expect(document).toMatchObject({ errors: [{ source: { pointer: '/data/id' } }] });
  });

  test('refuses a body over its limit', async () => {
    const answer = await call('POST', '/things/x', { body: ' '.repeat(1024 * 1024 + 1) });
    expect(answer.status).toBe(413);
  });

  test('reveals only the request id of an unexpected failure', async () => {
    const answer = await call('DELETE', '/things/x');
    expect(answer.status).toBe(500);
    expect(JSON.stringify(answer.document)).toContain('req-1');
    expect(JSON.stringify(answer.document)).not.toContain('hunter2');
    expect(unexpected.at(-1)).toMatchObject({ message: 'password=hunter2' });
  });

  test('links the pages and keeps the other parameters', async () => {
    const { document } = await call('GET', '/things?q=a%20b&page%5Bnumber%5D=2&page[size]=20');
    expect(document).toMatchObject({
      links: {
        self: expect.stringContaining('page%5Bnumber%5D=2'),
        prev: expect.stringContaining('q=a+b'),
        next: expect.stringContaining('page%5Bnumber%5D=3'),
        last: expect.stringContaining('page%5Bnumber%5D=3'),
      },
      meta: { pagination: { 'current-page': 2, 'total-pages': 3, 'total-count': 45 } },
    });
  });

  test('describes itself', async () => {
    const description = await service.describe();
    const paths = JSON.parse(description.pathsJson) as Record<string, Record<string, unknown>>;
    expect(Object.keys(paths)).toEqual(['/things/{thing_id}', '/things', '/doors']);
    expect(paths['/things/{thing_id}']).toHaveProperty('post.requestBody.required', true);
  });
});
