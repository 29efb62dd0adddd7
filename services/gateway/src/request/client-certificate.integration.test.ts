/** The certificates of clients as services receive them: from TLS, and from proxies that terminate it. */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { systemClock } from '@keelson/clock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, TOKEN } from '../../test/stub-services.ts';
import { openSelfIssuedCertificate } from '../compose.ts';

type Gateway = Awaited<ReturnType<typeof startGateway>>;
let folder: string;
let server: Awaited<ReturnType<typeof openSelfIssuedCertificate>>;

const pemOf = (name: string): string => readFileSync(join(folder, `${name}.pem`), 'utf8');
/** A certificate as its header has it. */
const headerOf = (name: string): string =>
  `:${new X509Certificate(pemOf(name)).raw.toString('base64')}:`;

const make = (name: string, signer: string): void => {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`];
  const ca = signer === name ? [] : ['-CA', `${signer}.pem`, '-CAkey', `${signer}.key`];
  execFileSync('openssl', ['req', '-x509', ...curve, ...files, ...ca], {
    cwd: folder,
    stdio: 'ignore',
  });
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-certificates-'));
  server = await openSelfIssuedCertificate({ folder, names: ['127.0.0.1'], clock: systemClock });
  make('root', 'root');
  make('upper', 'root');
  make('lower', 'upper');
  make('alice', 'lower');
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

interface Received {
  readonly status: number;
  readonly errors?: readonly string[];
  readonly certificate?: string;
  readonly chain?: string;
}

const toReceived = (status: number, body: string): Received => {
  const { data, errors } = JSON.parse(body) as {
    readonly data?: { readonly head: { readonly headers: Readonly<Record<string, string>> } };
    readonly errors?: readonly string[];
  };
  const { 'client-cert': certificate, 'client-cert-chain': chain } = data?.head.headers ?? {};
  return {
    status,
    ...(errors && { errors }),
    ...(certificate && { certificate }),
    ...(chain && { chain }),
  };
};

/** The part of a request over plain HTTP that the service receives. */
const call = (
  gateway: Gateway,
  headers: Readonly<Record<string, string | readonly string[]>>,
  { from = '127.0.0.1', path = '/v1/pki/mounted/echo' } = {},
): Promise<Received> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest(
      gateway.http + path,
      {
        headers: { 'x-service-token': TOKEN, ...headers } as Record<string, string>,
        localAddress: from,
        agent: false,
      },
      (response) => {
        text(response).then((body) => resolve(toReceived(response.statusCode ?? 0, body)), reject);
      },
    );
    sent.on('error', reject);
    sent.end();
  });

/** The same of requests on one connection of TLS. */
const callTls = async (
  gateway: Gateway,
  chain: readonly string[],
  times = 1,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly Received[]> => {
  const session = connect(gateway.https, {
    rejectUnauthorized: false,
    ...(chain.length > 0 && {
      key: readFileSync(join(folder, `${chain[0]}.key`)),
      cert: chain.map(pemOf).join(''),
    }),
  });
  const received: Received[] = [];
  for (let time = 0; time < times; time += 1) {
    const path = '/v1/pki/mounted/echo';
    const stream = session.request({ ':path': path, 'x-service-token': TOKEN, ...headers });
    received.push(toReceived(200, await text(stream)));
  }
  session.close();
  return received;
};

describe('a client of TLS', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({ KEELSON_REQUEST_CLIENT_CERTIFICATES: 'true' }, server);
  });
  afterAll(() => gateway.stop());

  test('has its certificate and those that it sent with it, in each request of its connection', async () => {
    const chain = `${headerOf('lower')}, ${headerOf('upper')}`;
    const one = { status: 200, certificate: headerOf('alice'), chain };
    expect(await callTls(gateway, ['alice', 'lower', 'upper'], 2)).toEqual([one, one]);
    expect(await callTls(gateway, ['alice'])).toEqual([
      { status: 200, certificate: headerOf('alice') },
    ]);
    expect(await callTls(gateway, [])).toEqual([{ status: 200 }]);
  });

  test('has the first eight of a longer chain', async () => {
    const [received] = await callTls(gateway, ['alice', ...Array<string>(20).fill('lower')]);
    expect(received?.chain).toBe(Array<string>(8).fill(headerOf('lower')).join(', '));
  });

  test('has no others by headers of its own', async () => {
    const headers = { 'client-cert': headerOf('root'), 'client-cert-chain': headerOf('root') };
    expect(await callTls(gateway, [], 1, headers)).toEqual([{ status: 200 }]);
    expect(await callTls(gateway, ['alice'], 1, headers)).toEqual([
      { status: 200, certificate: headerOf('alice') },
    ]);
  });
});

describe('without the setting', () => {
  test('a client of TLS is asked for a certificate where some mount signs in by them, without a restart', async () => {
    const gateway = await startGateway({}, server);
    const without = [{ status: 200 }];
    try {
      expect(await callTls(gateway, ['alice'])).toEqual(without);
      gateway.state.requestsCertificates = true;
      expect(await callTls(gateway, ['alice'])).toEqual([
        { status: 200, certificate: headerOf('alice') },
      ]);
      expect(await callTls(gateway, [])).toEqual(without);
      gateway.state.requestsCertificates = false;
      expect(await callTls(gateway, ['alice'])).toEqual(without);
    } finally {
      await gateway.stop();
    }
  });

  test('connections are accepted while sys cannot say so', async () => {
    const gateway = await startGateway({}, server);
    try {
      gateway.state.isSealed = true;
      const session = connect(gateway.https, { rejectUnauthorized: false });
      const stream = session.request({ ':path': '/healthz' });
      expect(await text(stream)).toContain('alive');
      session.close();
    } finally {
      await gateway.stop();
    }
  });
});

describe('behind a proxy', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway(
      {
        KEELSON_REQUEST_CLIENT_CERTIFICATES: 'true',
        KEELSON_CLIENT_CERTIFICATES_FROM: '127.0.0.1, 10.0.0.0/8',
      },
      server,
    );
  });
  afterAll(() => gateway.stop());

  test('a client has the certificates that the proxy names', async () => {
    const certificate = headerOf('alice');
    expect(await call(gateway, { 'Client-Cert': certificate })).toEqual({
      status: 200,
      certificate,
    });
    const chain = `${headerOf('lower')};x=1 ,${headerOf('upper')}`;
    const several = [headerOf('lower'), headerOf('upper')];
    for (const given of [chain, several])
      expect(
        await call(gateway, { 'Client-Cert': certificate, 'Client-Cert-Chain': given }),
      ).toEqual({ status: 200, certificate, chain: several.join(', ') });
    expect(await call(gateway, {})).toEqual({ status: 200 });
  });

  test('nobody else says which certificates a client has', async () => {
    const headers = { 'client-cert': headerOf('alice'), 'client-cert-chain': headerOf('lower') };
    expect(await call(gateway, headers, { from: '127.0.0.2' })).toEqual({ status: 200 });
    const off = await startGateway({ KEELSON_TRUSTED_PROXIES: '127.0.0.1' });
    try {
      expect(await call(off, headers)).toEqual({ status: 200 });
    } finally {
      await off.stop();
    }
  });

  test('the certificate of the proxy itself is not that of a client', async () => {
    expect(await callTls(gateway, ['alice'])).toEqual([{ status: 200 }]);
  });

  test('services that have no use for certificates get none', async () => {
    const headers = { 'client-cert': headerOf('alice') };
    expect(await call(gateway, headers, { path: '/v1/pki/echo' })).toEqual({ status: 200 });
  });

  test.for([
    { 'client-cert': '-----BEGIN CERTIFICATE-----' },
    { 'client-cert': ':AAAA:, :AAAA:' },
    { 'client-cert': [':AAAA:', ':AAAA:'] },
    { 'client-cert': ':AAAA:', 'client-cert-chain': ':AAAA:, x' },
    { 'client-cert': ':AAAA:', 'client-cert-chain': ':AAAA:,,:AAAA:' },
  ])('malformed headers are refused: %j', async (headers) => {
    expect(await call(gateway, headers)).toEqual({
      status: 400,
      errors: ['the headers Client-Cert and Client-Cert-Chain must be byte sequences (RFC 9440)'],
    });
  });
});
