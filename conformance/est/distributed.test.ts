/**
 * EST with gateway, sys and two replicas of pki in separate processes: what the client proves to the gateway
 * by TLS reaches the service that decides.
 */
import { join } from 'node:path';
import {
  findFreePort,
  startPostgres,
  startRedis,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { type DistributedCluster, startDistributed } from '@keelson/testkit/distributed-cluster';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Device, openDevice, openssl } from './device.ts';

const stack = new AsyncDisposableStack();
let folder: TemporaryDirectory;
let cluster: DistributedCluster;
let device: Device;
let token = '';

const inFolder = (name: string): string => join(folder.path, name);

const set = async (path: string, body: object) => {
  const answer = await cluster.v1('POST', path, body);
  expect([path, answer.status < 300, answer.body?.errors]).toEqual([path, true, undefined]);
  return answer.body;
};

beforeAll(async () => {
  folder = stack.use(await temporaryDirectory());
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  stack.use(postgres);
  stack.use(redis);
  const server = { key: inFolder('server.key'), certificate: inFolder('server.pem') };
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-keyout', server.key, '-out', server.certificate];
  await openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...names, ...files);
  const httpsPort = await findFreePort();
  cluster = await startDistributed({
    postgres,
    redisUrl: redis.url,
    name: 'est',
    replicas: { pki: 2 },
    settings: {
      gateway: {
        HTTPS_PORT: String(httpsPort),
        TLS_CERTIFICATE_FILE: server.certificate,
        TLS_KEY_FILE: server.key,
        REQUEST_CLIENT_CERTIFICATES: 'true',
      },
    },
  });
  stack.defer(() => cluster.stop());
  const https = `https://localhost:${httpsPort}`;
  device = openDevice({ folder: folder.path, https, caFile: server.certificate });

  await set('sys/mounts/devices', { type: 'pki', config: { max_lease_ttl: '87600h' } });
  await set('devices/root/generate/internal', { common_name: 'Devices', ttl: '87600h' });
  const anyName = { allow_any_name: true, enforce_hostnames: false };
  await set('devices/roles/device', { ...anyName, key_type: 'ec', ttl: '1h' });
  await set('devices/config/est', {
    enabled: true,
    default_mount: true,
    default_path_policy: 'role:device',
    authenticators: { userpass: {}, cert: {} },
  });
  const policy = 'path "devices/est/*" { capabilities = ["create", "update"] }';
  await set('sys/policies/acl/enrols', { policy });
  token = (await set('auth/token/create', { policies: ['enrols'] })).auth.client_token;
});
afterAll(() => stack.disposeAsync());

/** Requests go to the replicas in turn; this many reach all of them. */
const ROUNDS = 4;

test('a device enrolls by token, then renews by its certificate, through any replica', async () => {
  // One replica may receive the configuration a moment after the other.
  await expect
    .poll(
      async () => {
        const answers = await Promise.all(
          Array.from({ length: ROUNDS }, () => device.curl('csrattrs')),
        );
        return answers.map(({ status }) => status);
      },
      { timeout: 120_000 },
    )
    .toEqual(Array(ROUNDS).fill(200));
  const authorities = await device.curl('cacerts');
  expect(await device.certificatesOf(authorities, 'ca.pem')).toHaveLength(1);

  const request = await device.newRequest('/CN=device', 'round-0');
  const nobody = await device.curl('simpleenroll', ...device.post(request));
  expect(nobody.status).toBe(401);
  const basic = ['--user', `device:${token}`];
  const enrolled = await device.curl('simpleenroll', ...basic, ...device.post(request));
  expect([enrolled.status, enrolled.headers.includes('smime-type=certs-only')]).toEqual([
    200,
    true,
  ]);
  await device.certificatesOf(enrolled, 'round-0.pem');

  for (let round = 1; round <= ROUNDS; round++) {
    const shown = device.withCertificate(`round-${round - 1}`);
    const next = await device.newRequest('/CN=device', `round-${round}`);
    const renewed = await device.curl('simplereenroll', ...shown, ...device.post(next));
    expect([renewed.status, renewed.body.includes('\n\n')]).toEqual([200, false]);
    await device.certificatesOf(renewed, `round-${round}.pem`);
    const verified = await openssl(
      'verify',
      '-CAfile',
      inFolder('ca.pem'),
      inFolder(`round-${round}.pem`),
    );
    expect(verified).toContain('OK');
  }
  const other = await device.newRequest('/CN=another', 'another');
  const last = device.withCertificate(`round-${ROUNDS}`);
  const refused = await device.curl('simplereenroll', ...last, ...device.post(other));
  expect([refused.status, refused.body]).toEqual([
    400,
    'the subject is not that of the certificate that is renewed\n',
  ]);
});

test('a certificate of another authority, or one that is only sent in a header, proves nothing', async () => {
  const names = ['-subj', '/CN=device', '-keyout', inFolder('alien.key')];
  const out = ['-out', inFolder('alien.pem')];
  await openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...names, ...out);
  const request = await device.newRequest('/CN=device', 'forged');
  const shown = device.withCertificate('alien');
  expect((await device.curl('simpleenroll', ...shown, ...device.post(request))).status).toBe(403);
  const der = await openssl('x509', '-in', inFolder('round-0.pem'));
  const header = ['--header', `Client-Cert: :${der.replaceAll(/-----.*-----|\s/g, '')}:`];
  expect((await device.curl('simpleenroll', ...header, ...device.post(request))).status).toBe(401);
});
