/** A set whose NATS and API have certificates of a private CA. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type NatsServer, startNats, temporaryDirectory } from '@keelson/testkit';
import {
  type Cluster,
  generateRoot,
  startCluster,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 120_000;

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let nats: NatsServer;
let primary: Cluster;
let secondary: Cluster;
let caFile: string;
let caPath: string;

beforeAll(async () => {
  folder = await temporaryDirectory();
  caFile = join(folder.path, 'ca.pem');
  caPath = join(folder.path, 'roots');
  const keyFile = join(folder.path, 'key.pem');
  // It is its own authority.
  execFileSync(
    'openssl',
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${keyFile} -out ${caFile} -days 2 -subj /CN=nats -addext subjectAltName=DNS:localhost`.split(
      ' ',
    ),
    { stdio: 'pipe' },
  );
  mkdirSync(caPath);
  await copyFile(caFile, join(caPath, 'authority.pem'));
  nats = await startNats({ jetstream: true, tls: { certificateFile: caFile, keyFile } });
  [primary, secondary] = await Promise.all([
    startCluster(nats.url, { NODE_EXTRA_CA_CERTS: caFile }),
    startCluster(nats.url, { KEELSON_NATS_URL: '' }),
  ]);
  await primary.v1('POST', 'sys/replication/performance/primary/enable');
}, WITHIN_MS);
afterAll(async () => {
  await Promise.all([primary, secondary].map((cluster) => cluster.stop()));
  await nats[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
}, WITHIN_MS);

const enable = async (id: string, roots: object) => {
  const issued = await primary.v1('POST', 'sys/replication/performance/primary/secondary-token', {
    id,
  });
  const { token } = issued.body.wrap_info;
  return secondary.v1('POST', 'sys/replication/performance/secondary/enable', { token, ...roots });
};

describe('a secondary of a primary behind TLS', { timeout: WITHIN_MS }, () => {
  test('is refused, and not cleared, without the authority', async () => {
    const refused = await enable('without', {});
    expect(refused).toMatchObject({
      status: 503,
      body: { errors: [expect.stringContaining('error fetching secondary bootstrap package')] },
    });
    expect((await secondary.v1('GET', 'auth/token/lookup-self')).status).toBe(200);
  });

  test('does not use up its token when a file is missing', async () => {
    const refused = await enable('missing', { ca_file: '/nowhere/ca.pem' });
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: ['ca_file or ca_path cannot be read'] },
    });
  });

  test('follows with ca_file', async () => {
    expect((await enable('branch', { ca_file: caFile })).status).toBe(200);
    await untilEqual('performance', primary, secondary);
  });

  test('follows another address with ca_path, and after a restart', async () => {
    secondary.token = await generateRoot(secondary, primary.shares);
    const path = 'sys/replication/performance/secondary/update-primary';
    const moved = { update_primary_addrs: [nats.url], ca_path: caPath };
    expect((await secondary.v1('POST', path, moved)).status).toBe(200);
    await secondary.restart('SIGKILL');
    await untilStreaming('performance', secondary);
    await untilEqual('performance', primary, secondary);
  });
});
