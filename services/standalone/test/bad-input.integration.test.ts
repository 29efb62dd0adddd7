/** Bad input and a sealed system, on both surfaces of a real process: the documented response, promptly. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KeelsonProcess, startKeelson } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const BODY_LIMIT_BYTES = 16_000_000;

let folder: string;
let keelson: KeelsonProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-bad-input-'));
  keelson = await startKeelson({
    dataFolder: join(folder, 'data'),
    env: {
      KEELSON_REQUEST_BODY_LIMIT_BYTES: String(BODY_LIMIT_BYTES),
      KEELSON_RATE_LIMIT: 'off',
    },
  });
});
afterAll(async () => {
  await keelson.stop();
  rmSync(folder, { recursive: true });
});

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly type?: string;
  readonly body?: string;
}

const ask = async ({ method, path, token, type, body }: Asked) => {
  const credentials: Record<string, string> = path.startsWith('/api/')
    ? { authorization: `Bearer ${token ?? keelson.apiToken}` }
    : { 'x-service-token': token ?? keelson.rootToken };
  const response = await fetch(keelson.http + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...credentials, ...(type === undefined ? {} : { 'content-type': type }) },
    ...(body === undefined ? {} : { body }),
  });
  return {
    status: response.status,
    text: await response.text(),
    allow: response.headers.get('allow'),
  };
};

const API = 'application/vnd.api+json';
const ORGANIZATIONS = '/api/v2/organizations';
const MOUNT = '/v1/sys/mounts/pki';

const nested = '['.repeat(10_000) + ']'.repeat(10_000);
const manyKeys = JSON.stringify(
  Object.fromEntries(Array.from({ length: 1_000_000 }, (_, index) => [`k${index}`, 1])),
);
const hugeString = JSON.stringify({ type: 'x'.repeat(15_000_000) });
const inDocument = (name: string): string =>
  `{"data":{"type":"organizations","attributes":{"name":${name},"email":"a@example.com"}}}`;

const CASES: readonly (readonly [string, Asked, number, string])[] = [
  [
    'a wrong token on /v1',
    { path: '/v1/sys/mounts', token: 'hvs.wrong' },
    403,
    'permission denied: a valid token of /v1 is required (X-Service-Token: TOKEN); tokens of /api/v2 are not known here',
  ],
  [
    'a wrong token on /api/v2',
    { path: ORGANIZATIONS, token: 'wrong' },
    401,
    'a valid API token of /api/v2 is required (Authorization: Bearer TOKEN); tokens of /v1 are not known here',
  ],
  [
    'a wrong media type',
    { path: ORGANIZATIONS, type: 'text/plain', body: inDocument('"a"') },
    415,
    'application/vnd.api+json',
  ],
  ['malformed JSON on /v1', { path: MOUNT, body: '{"type":' }, 400, 'JSON'],
  ['malformed JSON on /api/v2', { path: ORGANIZATIONS, type: API, body: '{"data":' }, 400, 'JSON'],
  ['no object on /v1', { path: MOUNT, body: '[1]' }, 400, 'not an object'],
  ['an unknown path of /v1', { path: '/v1/nowhere/x' }, 404, 'no handler for route'],
  ['an unknown path of sys', { path: '/v1/sys/nowhere' }, 404, 'unsupported path'],
  ['an unknown path of /api/v2', { path: '/api/v2/nowhere' }, 404, 'not found'],
  [
    'an unknown method on /v1',
    { path: '/v1/sys/mounts', method: 'PURGE' },
    405,
    'unsupported operation',
  ],
  [
    'an unknown method on /api/v2',
    { path: ORGANIZATIONS, method: 'PUT', body: '' },
    405,
    'unsupported operation',
  ],
  ['deep JSON on /v1', { path: MOUNT, body: `{"config":${nested}}` }, 400, 'nesting'],
  [
    'deep JSON on /api/v2',
    { path: ORGANIZATIONS, type: API, body: inDocument(nested) },
    400,
    'nesting',
  ],
  ['a million keys on /v1', { path: MOUNT, body: manyKeys }, 400, 'an object exceeds'],
  [
    'a million keys on /api/v2',
    { path: ORGANIZATIONS, type: API, body: inDocument(manyKeys) },
    413,
    'larger than',
  ],
  ['a huge string on /v1', { path: MOUNT, body: hugeString }, 400, 'a string exceeds'],
  [
    'a huge string on /api/v2',
    { path: ORGANIZATIONS, type: API, body: inDocument(hugeString) },
    413,
    'larger than',
  ],
  [
    'an oversized body on /v1',
    { path: MOUNT, body: 'x'.repeat(BODY_LIMIT_BYTES + 1) },
    413,
    'larger than',
  ],
  [
    'an oversized body on /api/v2',
    { path: ORGANIZATIONS, type: API, body: 'x'.repeat(BODY_LIMIT_BYTES + 1) },
    413,
    'larger than',
  ],
];

describe('bad input', () => {
  test.for(CASES)('%s', async ([, asked, status, text]) => {
    const answer = await ask(asked);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)]);
  });
});

describe('a method that is not served is answered with the served ones (RFC 9110 §15.5.6)', () => {
  const EVERY = 'GET, HEAD, LIST, POST, PUT, PATCH, DELETE';
  test.for([
    ['PUT', ORGANIZATIONS, 'GET, HEAD, POST'],
    ['LIST', '/v1/sys/health', 'GET, HEAD'],
    ['DELETE', '/v1/sys/seal-status', 'GET, HEAD'],
    ['PATCH', '/v1/pki/ca/pem', 'GET, HEAD'],
    ['DELETE', '/v1/pki/issue/web', 'POST, PUT'],
    ['OPTIONS', '/v1/sys/mounts', EVERY],
    ['PURGE', '/v1/sys/mounts', EVERY],
    ['GET', '/v1/pki/acme/new-order', 'POST'],
    ['DELETE', '/v1/pki/acme/directory', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/pki/acme/directory', 'GET, HEAD, POST'],
    ['GET', '/.well-known/est/simpleenroll', 'POST'],
    ['POST', '/.well-known/est/cacerts', 'GET, HEAD'],
  ] as const)('%s %s: %s', async ([method, path, allowed]) => {
    expect(await ask({ path, method })).toMatchObject({ status: 405, allow: allowed });
  });

  beforeAll(async () => {
    const write = async (path: string, body: object): Promise<void> => {
      const { status } = await ask({ path: `/v1/${path}`, body: JSON.stringify(body) });
      expect([200, 204]).toContain(status);
    };
    await write('sys/mounts/pki', { type: 'pki' });
    await write('pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
    await write('pki/config/cluster', { path: `${keelson.https}/v1/pki` });
    await write('pki/config/acme', { enabled: true });
    await write('pki/config/est', {
      enabled: true,
      default_mount: true,
      default_path_policy: 'sign-verbatim',
      authenticators: { userpass: {} },
    });
  });
});

test('a sealed system says so in each API, and can be unsealed', async () => {
  expect((await ask({ path: '/v1/sys/seal', method: 'PUT', body: '' })).status).toBe(204);
  expect(await ask({ path: '/v1/sys/mounts' })).toMatchObject({
    status: 503,
    text: '{"errors":["Keelson is sealed"]}',
  });
  const metrics = await ask({ path: '/metrics' });
  expect([metrics.status, metrics.text]).toEqual([
    200,
    expect.stringContaining('\nkeelson_sealed 1\n'),
  ]);
  const api = await ask({ path: ORGANIZATIONS });
  expect([api.status, JSON.parse(api.text)]).toEqual([
    503,
    { errors: [{ status: '503', title: 'service unavailable', detail: 'Keelson is sealed' }] },
  ]);
  const ready = await ask({ path: '/readyz' });
  expect([ready.status, JSON.parse(ready.text)]).toMatchObject([503, { seal: 'sealed' }]);
  expect((await ask({ path: '/healthz' })).status).toBe(200);

  await keelson.stop();
  keelson = await startKeelson({ dataFolder: join(folder, 'data') });
  expect((await ask({ path: '/readyz' })).status).toBe(200);
});
