/**
 * Compression and validators:
 *
 * | answer | compressed | ETag |
 * | --- | --- | --- |
 * | JSON of 8 KiB or more to GET and LIST, status 200, /v1, /api/v2, /openapi | br or gzip as accepted, `Vary` | |
 * | any JSON to a GET of /api/v2 and /openapi, status 200 | | weak; 304 for `If-None-Match` |
 * | `Cache-Control: no-store`, errors, other types, smaller | unchanged | none |
 */
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_TOKEN, OTHER_API_TOKEN, startGateway, TOKEN } from '../../test/stub-services.ts';

type Gateway = Awaited<ReturnType<typeof startGateway>>;
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({});
});
afterAll(() => gateway.stop());

/** The answer as its bytes are on the wire. */
const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
  const { promise, resolve, reject } = Promise.withResolvers<{
    readonly status: number;
    readonly headers: Record<string, string | string[] | undefined>;
    readonly body: Buffer;
  }>();
  const sent = request(
    gateway.http + path,
    {
      method,
      headers: { 'x-service-token': TOKEN, authorization: `Bearer ${API_TOKEN}`, ...headers },
    },
    (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
    },
  );
  sent.on('error', reject).end();
  return promise;
};

test.for([
  ['br', 'gzip, deflate, br', brotliDecompressSync],
  ['gzip', 'gzip', gunzipSync],
  ['gzip', 'br;q=0.1, gzip;q=0.9', gunzipSync],
] as const)('%s is sent to a client that accepts %s', async ([encoding, accepted, decompress]) => {
  for (const path of ['/api/v2/page', '/api/v2/page/in-pieces', '/v1/pki/page']) {
    const plain = await get(path);
    const packed = await get(path, { 'accept-encoding': accepted });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    for (const { headers } of [plain, packed]) expect(headers['vary']).toBe('accept-encoding');
    expect(packed.headers).toMatchObject({
      'content-encoding': encoding,
      'content-length': String(packed.body.byteLength),
    });
    expect(packed.body.byteLength).toBeLessThan(plain.body.byteLength / 2);
    expect(decompress(packed.body)).toEqual(plain.body);
  }
});

test.for([
  ['identity', '/api/v2/page'],
  ['gzip;q=0', '/api/v2/page'],
  ['gzip', '/api/v2/echo'],
  ['gzip', '/v1/pki/gone'],
  ['gzip', '/api/v2/page/unstored'],
  ['gzip', '/v1/pki/page/issued', 'POST'],
] as const)('%s leaves %s as it is', async ([accepted, path, method = 'GET']) => {
  const { headers, body } = await get(path, { 'accept-encoding': accepted }, method);
  expect(headers).not.toHaveProperty('content-encoding');
  expect(() => JSON.parse(body.toString())).not.toThrow();
});

test('a client that has the answer is told so, in any content coding', async () => {
  const { headers } = await get('/api/v2/page');
  expect(headers).toMatchObject({
    etag: expect.stringMatching(/^W\/"[\w-]{27}"$/),
    'cache-control': 'private, no-cache',
  });
  const etag = String(headers['etag']);
  for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
    const again = await get('/api/v2/page', { 'if-none-match': known, 'accept-encoding': 'br' });
    expect([again.status, again.body.byteLength, again.headers['etag']]).toEqual([304, 0, etag]);
    expect(again.headers).not.toHaveProperty('content-length');
    expect(again.headers).not.toHaveProperty('content-encoding');
  }
  expect((await get('/api/v2/page', { 'if-none-match': 'W/"other"' })).status).toBe(200);
});

test('an OpenAPI document is sent again only if it has changed', async () => {
  const { headers } = await get('/openapi/sys.json', { 'accept-encoding': 'br' });
  const again = await get('/openapi/sys.json', { 'if-none-match': String(headers['etag']) });
  expect([again.status, again.body.byteLength]).toEqual([304, 0]);
});

test('another caller is told so only of its own answer', async () => {
  const { headers } = await get('/api/v2/echo', { 'x-request-id': 'same' });
  const other = await get('/api/v2/echo', {
    'x-request-id': 'same',
    authorization: `Bearer ${OTHER_API_TOKEN}`,
    'if-none-match': String(headers['etag']),
  });
  expect(other.status).toBe(200);
});

test.for([
  ['GET', '/api/v2/page/unstored'],
  ['POST', '/api/v2/echo'],
  ['GET', '/api/v2/gone'],
  ['GET', '/v1/pki/page'],
] as const)('%s %s has no validator', async ([method, path]) => {
  const { headers } = await get(path, { 'if-none-match': '*' }, method);
  expect(headers).not.toHaveProperty('etag');
});

test('an answer of /v1 is not stored unless its service says so', async () => {
  const shown = async (path: string) => {
    const { headers } = await get(path);
    return [headers['cache-control'], headers['etag']];
  };
  expect(await shown('/v1/pki/page/public')).toEqual(['max-age=300', '"1"']);
  for (const path of ['page', 'page/unstored', 'gone', 'echo'])
    expect(await shown(`/v1/pki/${path}`)).toEqual(['no-store', undefined]);
});
