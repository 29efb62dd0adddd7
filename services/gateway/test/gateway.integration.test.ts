import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@keelson/clock';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSelfIssuedCertificate } from '../src/compose.ts';
import {
  API_TOKEN,
  OTHER_API_TOKEN,
  SECOND_API_TOKEN,
  startGateway,
  TOKEN,
} from './stub-services.ts';

type Gateway = Awaited<ReturnType<typeof startGateway>>;
let gateway: Gateway;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-gateway-'));
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

const call = async (path: string, init: RequestInit = {}, to: Gateway = gateway) => {
  const response = await fetch(to.http + path, init);
  const text = await response.text();
  let document: unknown = text;
  if (/json/.test(response.headers.get('content-type') ?? '')) document = JSON.parse(text);
  // oxlint-disable-next-line typescript/no-explicit-any -- documents of many shapes, compared by tests
  return { status: response.status, headers: response.headers, document: document as any };
};
const withToken = { headers: { 'x-service-token': TOKEN } };
const asUser = { headers: { authorization: `Bearer ${API_TOKEN}` } };

describe('a request forwarded to a service', () => {
  test('has no credentials, and the dialect of its headers', async () => {
    const headers = { 'x-vault-token': TOKEN, authorization: 'Bearer x', 'x-presented-token': 'x' };
    const { document } = await call('/v1/pki/echo?a=1', { headers });
    expect(document.data.head).toMatchObject({ path: '/echo', query: 'a=1', dialect: 1 });
    expect(Object.keys(document.data.head.headers)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/token|authorization/)]),
    );
    expect((await call('/v1/pki/echo', withToken)).document.data.head.dialect).toBe(0);
  });

  test('accepts the token as bearer on /v1', async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect((await call('/v1/pki/echo', { headers })).status).toBe(200);
  });

  test('reads the scheme of a bearer token in any case', async () => {
    const principalOf = async (authorization: string) =>
      (await call('/api/v2/echo', { headers: { authorization } })).document.data.head.principal?.id;
    for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
      expect(await principalOf(`${scheme} ${API_TOKEN}`)).toBe('user-1');
    }
    for (const given of [API_TOKEN, `Basic ${API_TOKEN}`, `xBearer ${API_TOKEN}`, 'Bearer']) {
      expect(await principalOf(given)).toBeUndefined();
    }
  });

  test('is resolved again with its body when a policy examines it', async () => {
    const answer = await call('/v1/pki/body-rule', {
      method: 'POST',
      body: '{"a":1}',
      ...withToken,
    });
    expect(answer.document.data.byteLength).toBe(7);
  });

  test('carries the principal on /api/v2', async () => {
    const { document } = await call('/api/v2/echo', asUser);
    expect(document.data.head.principal).toMatchObject({ id: 'user-1' });
    expect((await call('/api/v2/echo')).document.data.head.principal).toBeUndefined();
  });

  test('names the address that clients use, as configured or as they sent it', async () => {
    const publicUrl = 'https://keelson.example';
    const behind = await startGateway({ KEELSON_PUBLIC_URL: publicUrl });
    for (const path of ['/api/v2/echo', '/v1/pki/echo']) {
      const baseUrlOf = async (to: Gateway) =>
        (await call(path, withToken, to)).document.data.head.baseUrl;
      expect([await baseUrlOf(gateway), await baseUrlOf(behind)]).toEqual([
        gateway.http,
        publicUrl,
      ]);
    }
    await behind.stop();
  });

  test('arrives complete when it is large, and so does its response', async () => {
    const body = Buffer.alloc(5_000_000, 'b');
    const { document } = await call('/v1/pki/echo', { method: 'PUT', body, ...withToken });
    expect(document.data.byteLength).toBe(5_000_000);
    expect((await call('/v1/pki/big', withToken)).document).toHaveLength(2_000_000);
  });
});

describe('request ids', () => {
  test('are taken from the client when valid, else made', async () => {
    const given = { headers: { ...withToken.headers, 'x-request-id': 'abc-1' } };
    expect((await call('/v1/pki/echo', given)).headers.get('x-request-id')).toBe('abc-1');
    const bad = { headers: { ...withToken.headers, 'x-request-id': 'a b' } };
    expect((await call('/v1/pki/echo', bad)).headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  });
});

describe('refusals', () => {
  test.for([
    ['a wrong token', '/v1/pki/echo', {}, 403, 'permission denied'],
    ['no route', '/v1/nowhere/x', withToken, 404, 'no handler for route "nowhere/x"'],
    ['an unknown path of a service', '/v1/pki/nowhere', withToken, 404, 'unsupported path'],
    ['a parent reference', '/v1/pki/a%2F..%2Fsys', withToken, 400, 'parent references'],
    ['broken encoding', '/v1/pki/%zz', withToken, 400, 'percent-encoding'],
    [
      'an unknown method',
      '/v1/pki/echo',
      { method: 'PURGE', ...withToken },
      405,
      'unsupported operation',
    ],
    ['an unknown surface', '/elsewhere', {}, 404, 'described at /docs'],
    ['a file that the console lacks', '/ui/nothing', {}, 404, 'described at /docs'],
  ] as const)('of %s is a helpful document', async ([, path, init, status, text]) => {
    const answer = await call(path, init);
    expect(answer.status).toBe(status);
    expect(answer.document.errors[0]).toContain(text);
  });

  test('caused by a bug reveals nothing of it', async () => {
    const headers = { ...withToken.headers, 'x-request-id': 'r-1' };
    const { status, document } = await call('/v1/pki/break', { ...withToken, headers });
    expect([status, document]).toEqual([500, { errors: ['internal error, request id r-1'] }]);
  });

  test('of a sealed system is 503 in the document of each surface', async () => {
    gateway.state.isSealed = true;
    const [v1, api] = [await call('/v1/pki/echo', withToken), await call('/api/v2/echo', asUser)];
    const ready = await call('/readyz');
    gateway.state.isSealed = false;
    expect([ready.status, ready.document.seal]).toEqual([503, 'sealed']);
    expect([v1.status, v1.document]).toEqual([503, { errors: ['Keelson is sealed'] }]);
    expect(api.document).toEqual({
      errors: [{ status: '503', title: 'service unavailable', detail: 'Keelson is sealed' }],
    });
  });

  test('of an oversized body is 413, with or without a declared length', async () => {
    const small = await startGateway({ KEELSON_REQUEST_BODY_LIMIT_BYTES: '1024' });
    const body = 'x'.repeat(2000);
    const announced = await call('/v1/pki/echo', { method: 'POST', body, ...withToken }, small);
    const stream = new Blob([body]).stream();
    const init = { method: 'POST', body: stream, duplex: 'half', ...withToken } as RequestInit;
    const chunked = await call('/v1/pki/echo', init, small);
    expect([announced.status, chunked.status]).toEqual([413, 413]);
    await small.stop();
  });

  test('follows when the time limit passes', async () => {
    const quick = await startGateway({ KEELSON_REQUEST_TIME_LIMIT_SECONDS: '1' });
    const { status, document } = await call('/v1/pki/forever', withToken, quick);
    expect([status, document.errors[0]]).toEqual([504, expect.stringContaining('time limit')]);
    await quick.stop();
  });
});

describe('response wrapping', () => {
  test('stores the response and returns a token', async () => {
    const headers = { ...withToken.headers, 'x-vault-wrap-ttl': '2m' };
    const { document } = await call('/v1/pki/echo', { headers });
    expect(document).toMatchObject({
      data: null,
      wrap_info: { token: 'hvs.wrapping', ttl: 120, creation_path: 'pki/echo' },
    });
    const order = gateway.state.wrapped.get('hvs.wrapping');
    expect(order?.response.toString()).toContain('"method":"GET"');
    expect(order?.wrapFormat).toBe('');
  });

  test.for(['x-service-wrap-format', 'x-vault-wrap-format'])(
    'returns a JWT on request: %s',
    async (name) => {
      const headers = { ...withToken.headers, 'x-service-wrap-ttl': '60' };
      await call('/v1/pki/echo', { headers: { ...headers, [name]: 'jwt' } });
      expect(gateway.state.wrapped.get('hvs.wrapping')).toMatchObject({
        wrapFormat: 'jwt',
        ttlSeconds: 60,
      });
      await call('/v1/pki/echo', { headers: { ...headers, [name]: 'uuid' } });
      expect(gateway.state.wrapped.get('hvs.wrapping')?.wrapFormat).toBe('');
    },
  );

  test('never applies to an error, and an invalid duration is refused', async () => {
    const wrapped = (ttl: string) => ({
      headers: { ...withToken.headers, 'x-service-wrap-ttl': ttl },
    });
    expect((await call('/v1/pki/gone', wrapped('60'))).document).toEqual({ errors: [] });
    expect((await call('/v1/pki/echo', wrapped('soon'))).status).toBe(400);
  });
});

describe('the workspace surface', () => {
  test('is found by provisioning clients under the names of its services', async () => {
    const { headers, document } = await call('/.well-known/terraform.json');
    // Clients accept no other form.
    expect(headers.get('content-type')).toMatch(/^application\/json(;|$)/);
    expect(document).toEqual({
      'tfe.v2': '/api/v2/',
      'tfe.v2.1': '/api/v2/',
      'tfe.v2.2': '/api/v2/',
      'state.v2': '/api/v2/',
      'login.v1': {
        client: 'terraform-cli',
        grant_types: ['authz_code'],
        authz: '/app/command-login',
        token: '/api/v2/command-logins/token',
        ports: [10_000, 10_010],
      },
    });
  });

  test('answers ping with what provisioning clients look for, sealed or not', async () => {
    for (const isSealed of [false, true]) {
      gateway.state.isSealed = isSealed;
      const { status, headers } = await call('/api/v2/ping');
      gateway.state.isSealed = false;
      expect(status).toBe(204);
      expect(Object.fromEntries(headers)).toMatchObject({
        'tfp-api-version': '2.6',
        'tfp-appname': 'Keelson',
      });
      // A limit that does not exist must not be announced, since clients would obey it.
      expect(headers.has('x-ratelimit-limit')).toBe(false);
    }
    expect((await call('/api/v2/nothing', asUser)).headers.get('tfp-api-version')).toBe('2.6');
  });

  test('counts the requests of a user whatever the token, and of an address without one', async () => {
    const limited = await startGateway({ KEELSON_RATE_LIMIT: '10' });
    const remaining = (path: string, token?: string, localAddress = '127.0.0.1') =>
      new Promise<number>((resolve, reject) => {
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        const sent = httpRequest(
          `${limited.http}/api/v2${path}`,
          { headers, localAddress },
          (response) => {
            response.resume();
            resolve(Number(response.headers['x-ratelimit-remaining']));
          },
        );
        sent.on('error', reject);
        sent.end();
      });
    // Counts restart every second; all of these requests have to arrive within one.
    await vi.waitFor(
      async () => {
        const counted: number[] = [];
        for (const token of [API_TOKEN, SECOND_API_TOKEN, OTHER_API_TOKEN])
          counted.push(await remaining('/echo', token));
        counted.push(await remaining('/echo'), await remaining('/echo', 'unknown'));
        await remaining('/ping');
        counted.push(await remaining('/echo'), await remaining('/echo', undefined, '127.0.0.2'));
        expect(counted).toEqual([9, 8, 9, 9, 8, 7, 9]);
      },
      { timeout: 20_000, interval: 1_100 },
    );
    const { headers } = await call('/api/v2/echo', asUser, limited);
    expect(headers.get('x-ratelimit-limit')).toBe('10');
    expect(Number(headers.get('x-ratelimit-reset'))).toBeLessThanOrEqual(1);
    await limited.stop();
  });

  test('limits the requests of one user and reports the limit', async () => {
    const limited = await startGateway({ KEELSON_RATE_LIMIT: '4' });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => call('/api/v2/echo', asUser, limited)),
    );
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.document.errors[0]).toMatchObject({
      status: '429',
      title: 'Too many requests',
    });
    expect(Number(refused?.headers.get('x-ratelimit-reset'))).toBeLessThanOrEqual(1);
    expect((await call('/api/v2/ping', {}, limited)).headers.get('x-ratelimit-limit')).toBe('4');
    expect((await call('/api/v2/echo', {}, limited)).status).toBe(200);
    await limited.stop();
  });
});

describe('responses of the gateway itself', () => {
  test.for([
    ['/healthz', 'alive'],
    ['/readyz', 'ready'],
    ['/metrics', 'keelson_http_requests_total'],
    ['/openapi/pki.json', '/{mount}/echo'],
    ['/docs', '<title>Keelson API</title>'],
    ['/app/settings/tokens?source=terraform-login', '<!doctype html>'],
    ['/app/acme/web/runs/run-CZcmD7eagjhyX0vN', '<!doctype html>'],
    ['/app/acme/workspaces/%3Cb%3E', '<!doctype html>'],
  ] as const)('%s', async ([path, text]) => {
    const { status, document } = await call(path);
    expect(status).toBe(200);
    expect(typeof document === 'string' ? document : JSON.stringify(document)).toContain(text);
  });

  test('its pages run no foreign scripts and may not be framed', async () => {
    for (const path of ['/docs', '/ui/', '/app/settings/tokens']) {
      const { headers } = await call(path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

describe('files of the console', () => {
  const scriptOf = async (): Promise<string> => {
    const page = await (await fetch(`${gateway.http}/ui/`)).text();
    return /\/ui\/assets\/[^"]+\.js/.exec(page)?.[0] ?? '';
  };

  test('are cacheable for ever by the hash in their names, the page is not', async () => {
    const { headers } = await fetch(gateway.http + (await scriptOf()));
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await fetch(`${gateway.http}/ui/`)).headers.get('cache-control')).toBe('no-cache');
  });

  test.for([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, br', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', null],
  ] as const)('answers %s with %s', async ([accepted, encoding]) => {
    const { headers } = await fetch(gateway.http + (await scriptOf()), {
      headers: { 'accept-encoding': accepted },
    });
    expect(headers.get('content-encoding')).toBe(encoding);
    expect(headers.get('vary')).toBe('accept-encoding');
  });

  test('any URL that a person follows is one of its pages', async () => {
    const asPerson = { headers: { accept: 'text/html,*/*;q=0.8' } };
    const answer = await fetch(`${gateway.http}/ui/certificates/pki`, asPerson);
    expect(await answer.text()).toContain('<!doctype html>');
    expect((await fetch(`${gateway.http}/ui/certificates/pki`)).status).toBe(404);
  });
});

describe('HTTPS', () => {
  test('serves the same, LIST included', async () => {
    const tls = await openSelfIssuedCertificate({
      folder,
      names: ['127.0.0.1'],
      clock: systemClock,
    });
    const secure = await startGateway({}, tls);
    const body = await new Promise<string>((resolve, reject) => {
      const { port } = new URL(secure.https);
      const ca = readFileSync(tls.authorityFile);
      const sent = httpsRequest(
        { host: '127.0.0.1', port, path: '/v1/pki/echo?list=1', ca, ...withToken },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => {
            text += chunk.toString();
          });
          response.on('end', () => resolve(text));
        },
      );
      sent.on('error', reject);
      sent.end();
    });
    expect(JSON.parse(body)).toMatchObject({
      data: { method: 'LIST', head: { baseUrl: expect.stringMatching(/^https:/) as unknown } },
    });
    await secure.stop();
    tls.close();
  });
});

describe('audit devices', () => {
  const device = (path: string) => ({
    path: 'file/',
    type: 'file',
    options: { file_path: path },
    salt: Buffer.from('salt'),
    accessor: 'audit_1',
  });
  const secretly = { method: 'POST', body: '{"key":"sent-SECRET","n":1}', ...withToken };

  test('record request and response with secrets replaced, and block when none accepts', async () => {
    const file = join(folder, 'audit.log');
    gateway.state.devices = [device(file)];
    gateway.state.auditGeneration = 1;
    expect((await call('/v1/pki/secret', secretly)).document.data.password).toBe('pass-SECRET');
    const entries = readFileSync(file, 'utf8');
    const [request, response] = entries
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(request).toMatchObject({
      type: 'request',
      request: { path: 'pki/secret', operation: 'update', data: { n: 1 } },
    });
    expect(response.response.data.data.password).toMatch(/^hmac-sha256:[\da-f]{64}$/);
    expect(entries).not.toMatch(/SECRET|TOKEN/);

    gateway.state.devices = [device(join(folder, 'absent', 'audit.log'))];
    gateway.state.auditGeneration = 2;
    const blocked = await call('/v1/pki/secret', secretly);
    expect([blocked.status, blocked.document.errors[0]]).toEqual([
      500,
      'no audit backend succeeded in logging the request',
    ]);
    gateway.state.devices = [];
    gateway.state.auditGeneration = 3;
    expect((await call('/v1/pki/secret', secretly)).status).toBe(200);
  });
});

describe('stopping', () => {
  test('finishes open requests', async () => {
    const stopping = await startGateway();
    const response = await fetch(`${stopping.http}/v1/pki/big`, withToken);
    const stopped = stopping.stop();
    expect((await response.text()).length).toBe(2_000_000);
    await stopped;
    await expect(fetch(`${stopping.http}/healthz`)).rejects.toThrow('fetch failed');
  });
});

describe('the log', () => {
  test('has a line per request and no secret', () => {
    const lines = gateway.lines.join('');
    expect(lines).toContain('"path":"/v1/pki/echo"');
    expect(lines).not.toMatch(/TOKEN|SECRET/);
  });
});
