/** HTTP/1.1 as bytes, with something wrong in the framing, the request line, the headers or the body. */
import type { Random } from '../random.ts';

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'LIST',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PRI',
  'X',
  'get',
  '',
];
const TARGETS = [
  '/v1/sys/health',
  '/v1/sys/policies/acl/a',
  '/v1/pki/issue/a',
  '/v1/auth/token/lookup-self',
  '/v1/sys/../sys/mounts',
  '/v1/sys/%2e%2e/%00',
  '/v1//sys//mounts',
  '/v1/sys/mounts?list=true&list=%zz',
  '/api/v2/organizations',
  '/api/v2/organizations/a/workspaces?page[size]=x&filter[a][b]=c',
  '/api/v2/%ff%fe',
  '/ui/',
  '/ui/../../etc/passwd',
  '/healthz',
  '/readyz',
  '/docs',
  '/.well-known/est/simpleenroll',
  'http://other.example/v1/sys/health',
  '*',
  'other.example:443',
  '/',
  '',
];
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

const header = (random: Random): string => {
  if (!random.once(40)) return random.pick(HEADERS);
  return random.once(2)
    ? `X-Long: ${'x'.repeat(random.pick(LONG))}`
    : Array.from({ length: random.pick([50, 3000]) }, (_, index) => `X-${index}: y`).join('\r\n');
};

const damaged = (bytes: Buffer, random: Random): Buffer => {
  const at = random.below(bytes.length + 1);
  switch (random.below(4)) {
    case 0: {
      const changed = Buffer.from(bytes);
      for (let changes = 1 + random.below(4); changes > 0; changes -= 1)
        changed[random.below(changed.length)] = random.below(256);
      return changed;
    }
    case 1:
      return bytes.subarray(0, at);
    case 2:
      return Buffer.concat([
        bytes.subarray(0, at),
        random.bytes(1 + random.below(20)),
        bytes.subarray(at),
      ]);
    default:
      return Buffer.from(random.bytes(1 + random.below(400)));
  }
};

/** One to three requests in a row. @param token of a caller who may do everything, used now and then */
export const rawRequest = (token: string, random: Random): Buffer => {
  const parts: Buffer[] = [];
  for (let requests = random.once(6) ? 3 : 1; requests > 0; requests -= 1) {
    const body = random.pick(BODIES);
    const headers = Array.from({ length: random.below(5) }, () => header(random));
    if (!random.once(10)) headers.push('Host: localhost');
    if (random.once(3)) headers.push(`X-Service-Token: ${token}`);
    if (!random.once(3)) headers.push(`Content-Length: ${body.length}`);
    const target = random.once(50) ? `/v1/${'x'.repeat(random.pick(LONG))}` : random.pick(TARGETS);
    const version = random.once(5) ? random.pick(VERSIONS) : 'HTTP/1.1';
    const end = random.once(20) ? '\n' : '\r\n';
    const text = [`${random.pick(METHODS)} ${target} ${version}`, ...headers, '', body].join(end);
    parts.push(Buffer.from(text, 'latin1'));
  }
  const whole = Buffer.concat(parts);
  return random.once(2) && whole.length > 0 ? damaged(whole, random) : whole;
};
