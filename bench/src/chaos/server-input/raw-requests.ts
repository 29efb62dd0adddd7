/** HTTP/1.1 as bytes, with something wrong in the framing, the request line, the headers or the body. */
import fc from 'fast-check';
import { byteDamage, damaged, once, oneIn, usually } from '../malformed.ts';

const METHODS = 'GET POST PUT PATCH DELETE LIST HEAD OPTIONS TRACE CONNECT PRI X get '.split(' ');
/** The first is empty. */
const TARGETS = `
  /v1/sys/health /v1/sys/policies/acl/a /v1/pki/issue/a /v1/auth/token/lookup-self
  /v1/sys/../sys/mounts /v1/sys/%2e%2e/%00 /v1//sys//mounts /v1/sys/mounts?list=true&list=%zz
  /api/v2/organizations /api/v2/organizations/a/workspaces?page[size]=x&filter[a][b]=c
  /api/v2/%ff%fe /ui/ /ui/../../etc/passwd /healthz /readyz /docs /.well-known/est/simpleenroll
  http://other.example/v1/sys/health * other.example:443 /`.split(/\s+/);
const VERSIONS = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/9.9', 'HTTP', ''];
const HEADERS = [
  'Host: x',
  'Host: x\r\nHost: y',
  'X-Service-Token: hvs.x',
  'X-Service-Namespace: ../..',
  'X-Service-Index: eyJ9,,,',
  'X-Service-Wrap-TTL: 99999999999h',
  'Authorization: Bearer',
  'Authorization: Bearer a.b.c',
  'Content-Type: application/vnd.api+json',
  'Content-Type: application/json; charset=\xff',
  'Expect: 100-continue',
  'Expect: nothing',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings',
  'Upgrade: websocket\r\nConnection: upgrade',
  'Connection: close',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 3',
  'Content-Length: 3\r\nContent-Length: 4',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Content-Length: 0x10',
  'Content-Encoding: gzip',
  'Traceparent: 00-0-0-00',
  'X-Forwarded-For: 1.2.3.4, ::1, x',
  'Range: bytes=0-,-1',
  'If-None-Match: *',
  'Cookie: a=b',
  ' folded: x',
  'no colon',
  ': no name',
  'Name : x',
  'Null: \0',
];
const BODIES = [
  '',
  '{}',
  '{"policy":',
  '{"data":{"type":"x"}}',
  '[1]',
  '3\r\nabc\r\n0\r\n\r\n',
  'zz\r\n',
  'ffffffff\r\n',
  '1;x=y\r\na\r\n0\r\nA: b\r\n\r\n',
  '\0\0',
];
const LONG = [100, 5000, 20_000];

const HEADER = oneIn(
  40,
  fc.oneof(
    fc.constantFrom(...LONG).map((length) => `X-Long: ${'x'.repeat(length)}`),
    fc
      .constantFrom(50, 3000)
      .map((length) => Array.from({ length }, (_, index) => `X-${index}: y`).join('\r\n')),
  ),
  fc.constantFrom(...HEADERS),
);
const TARGET = oneIn(
  50,
  fc.constantFrom(...LONG).map((length) => `/v1/${'x'.repeat(length)}`),
  fc.constantFrom(...TARGETS),
);

/** One to three requests in a row. @param token of a caller who may do everything, used now and then */
export const rawRequests = (token: string): fc.Arbitrary<Uint8Array> => {
  const request = fc
    .record({
      method: fc.constantFrom(...METHODS),
      target: TARGET,
      version: usually('HTTP/1.1', 5, VERSIONS),
      headers: fc.array(HEADER, { maxLength: 4 }),
      isHostless: once(10),
      isAuthorized: once(3),
      isOfUnknownLength: once(3),
      body: fc.constantFrom(...BODIES),
      end: usually('\r\n', 20, ['\n']),
    })
    .map(({ method, target, version, headers, body, end, ...given }) =>
      [
        `${method} ${target} ${version}`,
        ...headers,
        ...(given.isHostless ? [] : ['Host: localhost']),
        ...(given.isAuthorized ? [`X-Service-Token: ${token}`] : []),
        ...(given.isOfUnknownLength ? [] : [`Content-Length: ${body.length}`]),
        '',
        body,
      ].join(end),
    );
  const requests = oneIn(6, fc.tuple(request, request, request), fc.tuple(request));
  return damaged(
    requests.map((texts): Uint8Array => Buffer.from(texts.join(''), 'latin1')),
    byteDamage,
    2,
  );
};
