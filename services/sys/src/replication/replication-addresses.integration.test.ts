/** Addresses of both sides: those given to secondaries, those in the status, and the one that answers. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ReplicationTransport } from '@keelson/cluster-member';
import { findBinary, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { advanceClockUntilSettled, joinSet, operationToken } from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { type Document, openSysHarness, type SysHarness } from '../../test/sys-harness.ts';
import { loadRoots } from './activation-token.ts';

const KINDS = ['performance', 'dr'] as const;
type Kind = (typeof KINDS)[number];

let shared: ReplicationTransport;
let primary: SysHarness;
let secondary: SysHarness;
let root: string;
let primaryKey: string;
let primaryRoot: string;
/** Addresses that the secondary tried, in order. */
let tried: string[];
const dead = new Set<string>();

beforeEach(async () => {
  shared = inProcessTransport();
  tried = [];
  dead.clear();
  primary = await openSysHarness({
    transport: { ...shared, apiAddress: 'https://primary.example', clusterAddress: 'configured' },
  });
  ({ key: primaryKey, rootToken: primaryRoot } = await primary.initialize());
  secondary = await openSysHarness({
    transport: {
      ...shared,
      apiAddress: 'https://secondary.example',
      clusterAddress: 'of the secondary',
      connect: async (addresses) => {
        tried.push(...addresses);
        const bus = await shared.connect(addresses);
        return addresses.some((address) => dead.has(address))
          ? { ...bus, request: () => Promise.reject(new Error('nobody there')) }
          : bus;
      },
    },
  });
  ({ rootToken: root } = await secondary.initialize());
});
afterEach(async () => {
  await secondary.close();
  await primary.close();
});

const statusOf = async (harness: SysHarness, kind: Kind): Promise<Document> =>
  (await harness.call('GET', `sys/replication/${kind}/status`)).body?.data;

const until = async (harness: SysHarness, kind: Kind, isSo: (status: Document) => boolean) => {
  for (;;) {
    const status = await statusOf(harness, kind);
    if (status !== undefined && isSo(status)) return status;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

const attach = (kind: Kind, primaryClusterAddress: string): Promise<void> =>
  joinSet(kind, primary, { cluster: secondary, root }, primaryClusterAddress);

describe.for(KINDS)('a %s secondary', { timeout: 60_000 }, (kind) => {
  test.for([
    ['', 'configured'],
    ['another.example', 'another.example'],
  ] as const)('is given the address "%s" of the primary as "%s"', async ([given, address]) => {
    await attach(kind, given);
    expect((await statusOf(primary, kind)).primary_cluster_addr).toBe(given);
    const status = await until(secondary, kind, ({ primaries }) => primaries?.length === 1);
    expect(status).toMatchObject({ primary_cluster_addr: address, secondary_id: 'two' });
    expect(status.known_primary_cluster_addrs).toContain(address);
    expect(new Set(tried)).toEqual(new Set([address]));
  });

  test('and its primary show the addresses for clients and clusters', async () => {
    await attach(kind, '');
    const seen = await until(secondary, kind, ({ primaries }) => primaries?.length === 1);
    expect(seen.primaries).toEqual([
      {
        api_address: 'https://primary.example',
        cluster_address: expect.any(String),
        connection_status: 'connected',
        clock_skew_ms: expect.stringMatching(/^-?\d+$/),
        last_heartbeat: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+Z$/),
        last_heartbeat_duration_ms: expect.stringMatching(/^\d+$/),
        replication_primary_canary_age_ms: expect.stringMatching(/^\d*$/),
      },
    ]);
    const { secondaries } = await until(primary, kind, (status) => status.secondaries.length === 1);
    expect(secondaries[0]).toMatchObject({
      api_address: 'https://secondary.example',
      cluster_address: 'of the secondary',
      node_id: 'two',
    });
  });
});

test('of several addresses the first that answers is the primary', {
  timeout: 60_000,
}, async () => {
  await attach('dr', '');
  const operation = await operationToken(secondary, primaryKey);
  dead.add('down.example').add('gone.example');
  tried = [];
  const follow = (addresses: readonly string[]) =>
    secondary.call('POST', 'sys/replication/dr/secondary/update-primary', {
      body: { dr_operation_token: operation, update_primary_addrs: addresses },
    });
  expect(await follow(['down.example', 'gone.example'])).toMatchObject({
    status: 400,
    body: { errors: ['none of update_primary_addrs answers as the primary'] },
  });
  expect(tried).toEqual(['down.example', 'gone.example']);
  tried = [];
  expect((await follow(['down.example', 'up.example', 'unasked.example'])).status).toBe(200);
  expect(tried.slice(0, 2)).toEqual(['down.example', 'up.example']);
  expect(tried).not.toContain('unasked.example');
  expect((await statusOf(secondary, 'dr')).primary_cluster_addr).toBe('up.example');
});

describe.for([
  ['of the successor', 'of the successor'],
  ['', 'of the secondary'],
] as const)('after the promotion of a DR secondary with the address "%s"', ([given, expected]) => {
  test('a token for a performance secondary leads to "%s"', { timeout: 60_000 }, async () => {
    await primary.asRoot('POST', 'sys/replication/performance/primary/enable', {
      body: { primary_cluster_addr: 'of the lost cluster' },
    });
    await attach('dr', 'of the lost cluster');
    await until(secondary, 'dr', ({ state }) => state === 'stream-wals');
    const demoted = primary.asRoot('POST', 'sys/replication/dr/primary/demote');
    expect((await advanceClockUntilSettled(primary, demoted)).status).toBe(200);
    const operation = await operationToken(secondary, primaryKey);
    const promoted = await secondary.call('POST', 'sys/replication/dr/secondary/promote', {
      body: { dr_operation_token: operation, primary_cluster_addr: given, force: true },
    });
    expect(promoted.status).toBe(200);
    for (const kind of KINDS)
      expect(await until(secondary, kind, ({ mode }) => mode === 'primary')).toMatchObject({
        primary_cluster_addr: given,
      });

    const asked: string[] = [];
    const branch = await openSysHarness({
      transport: {
        ...shared,
        connect: (addresses) => {
          asked.push(...addresses);
          return shared.connect(addresses);
        },
      },
    });
    try {
      const { rootToken: token } = await branch.initialize();
      const base = 'sys/replication/performance';
      const made = await branch.call('POST', `${base}/secondary/generate-public-key`, { token });
      const issued = await secondary.call('POST', `${base}/primary/secondary-token`, {
        token: primaryRoot,
        body: { id: 'branch', secondary_public_key: made.body.data.secondary_public_key },
      });
      const enable = (body: object) =>
        branch.call('POST', `${base}/secondary/enable`, {
          token,
          body: { token: issued.body.data.token, ...body },
        });
      // An encrypted token is opened here; the address would have no effect.
      expect(await enable({ primary_api_addr: 'https://other.example' })).toMatchObject({
        status: 400,
        body: { errors: [expect.stringContaining('primary_api_addr cannot be used')] },
      });
      const enabled = await enable({});
      expect(enabled.status).toBe(200);
      expect(new Set(asked)).toEqual(new Set([expected]));
    } finally {
      await branch.close();
    }
  });
});

test('an address with a password in it is refused, because the status would show it', async () => {
  await attach('dr', '');
  const operation = await operationToken(secondary, primaryKey);
  const secret = 'nats://user:s3cret@nats.example:4222';
  const refused = await Promise.all([
    primary.asRoot('POST', 'sys/replication/performance/primary/enable', {
      body: { primary_cluster_addr: secret },
    }),
    secondary.call('POST', 'sys/replication/dr/secondary/promote', {
      body: { dr_operation_token: operation, primary_cluster_addr: secret, dry_run: true },
    }),
    secondary.call('POST', 'sys/replication/dr/secondary/update-primary', {
      body: { dr_operation_token: operation, update_primary_addrs: [secret] },
    }),
    secondary.call('POST', 'sys/replication/dr/secondary/update-primary', {
      body: {
        dr_operation_token: operation,
        token: 'a.b.c',
        primary_api_addr: 'https://user:s3cret@keelson.example',
      },
    }),
  ]);
  for (const { status, body } of refused) {
    expect(status).toBe(400);
    expect(body.errors[0]).toMatch(/must not contain a user/);
    expect(body.errors[0]).not.toContain('s3cret');
  }
});

/** A server at the API address that a token names. */
const answering = async (status: number, body: string) => {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
const BUNDLE = { format: 1, kind: 'dr', version: '0.1.0', expiresAtMs: 9e15, clusterId: 'a' };
const NEWER = {
  ...BUNDLE,
  version: '99.0.0',
  secondaryId: 'two',
  primaryClusterAddress: 'nats://primary.example:4222',
  primaryPublicKey: 'key',
  secondaryKeys: { publicKey: 'public', privateKey: 'private' },
  seal: { type: 'shamir', shares: 1, threshold: 1, wrappedForShares: 'root' },
};

test('a token that another server answers changes nothing, and the error gives the reason', {
  timeout: 60_000,
}, async () => {
  const noToken = 'the token is not a secondary activation token';
  for (const [status, body, refused, text] of [
    [200, '<html></html>', 400, noToken],
    [200, 'null', 400, noToken],
    [200, JSON.stringify({ data: { word: 'wrapped' } }), 400, noToken],
    [200, JSON.stringify({ data: BUNDLE }), 400, noToken],
    [200, JSON.stringify({ data: NEWER }), 400, 'upgrade the secondary first'],
    [200, JSON.stringify({ data: { ...NEWER, format: 2 } }), 400, 'has format 2, this version'],
    [400, '{"errors":[]}', 400, 'status code is 400, message is "400 Bad Request"'],
    [503, '{"errors":[]}', 503, '/v1/sys/wrapping/unwrap": 503 Service Unavailable'],
  ] as const) {
    await using server = await answering(status, body);
    expect(
      await secondary.call('POST', 'sys/replication/dr/secondary/enable', {
        token: root,
        body: { token: 'a.b.c', primary_api_addr: server.address },
      }),
    ).toEqual({ status: refused, body: { errors: [expect.stringContaining(text)] } });
  }
  expect(await statusOf(secondary, 'dr')).toEqual({ mode: 'disabled' });
  expect((await secondary.call('GET', 'auth/token/lookup-self', { token: root })).status).toBe(200);
});

test('authorities are the certificates of a file or folder, ignoring keys', async () => {
  await using folder = await temporaryDirectory();
  const pem = (type: string, text: string) =>
    `-----BEGIN ${type}-----\n${text}\n-----END ${type}-----\n`;
  const [one, two] = [pem('CERTIFICATE', 'MIIB'), pem('CERTIFICATE', 'MIIC')];
  await writeFile(join(folder.path, 'a.pem'), `text\n${one}${two}`);
  await writeFile(join(folder.path, 'key.pem'), pem('PRIVATE KEY', 'MIIE'));
  await writeFile(join(folder.path, 'README'), 'text');
  await mkdir(join(folder.path, 'java'));
  const roots = [one.trim(), two.trim()];
  expect(await loadRoots({ caFile: '', caPath: folder.path })).toEqual(roots);
  expect(await loadRoots({ caFile: join(folder.path, 'a.pem'), caPath: '/none' })).toEqual(roots);
  expect(await loadRoots({ caFile: '', caPath: '' })).toBeUndefined();
  for (const [caFile, text] of [
    [join(folder.path, 'key.pem'), 'holds no certificate'],
    [join(folder.path, 'absent.pem'), 'cannot be read'],
    [folder.path, 'cannot be read'],
    ['/dev/zero', 'cannot be read'],
  ] as const)
    await expect(loadRoots({ caFile, caPath: '' })).rejects.toThrow(text);
});

test('an id that is not a valid path segment is refused', async () => {
  await primary.asRoot('POST', 'sys/replication/dr/primary/enable', { body: {} });
  for (const id of ['', '.', '..', 'a/b', 'a\nb', 'a'.repeat(129)])
    expect(
      await primary.asRoot('POST', 'sys/replication/dr/primary/secondary-token', { body: { id } }),
    ).toEqual({ status: 400, body: { errors: ['invalid secondary id'] } });
});

test('a primary with an untrusted certificate is refused, naming the setting that could trust it', async () => {
  await using folder = await temporaryDirectory();
  const [keyFile, certFile] = [join(folder.path, 'key.pem'), join(folder.path, 'cert.pem')];
  const request = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
  ];
  const files = ['-keyout', keyFile, '-out', certFile];
  const openssl = await findBinary('openssl', 'openssl');
  execFileSync(openssl, [...request, ...files, '-subj', '/CN=localhost'], { stdio: 'ignore' });
  const server = createSecureServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const body = { token: 'a.b.c', primary_api_addr: `https://127.0.0.1:${port}` };
    const path = 'sys/replication/dr/secondary/enable';
    const refused = await secondary.call('POST', path, { token: root, body });
    expect(refused).toEqual({
      status: 503,
      body: {
        errors: [
          `error unwrapping secondary token: Post "https://127.0.0.1:${port}/v1/sys/wrapping/unwrap": no authority of the system, of ca_file or ca_path vouches for its certificate`,
        ],
      },
    });
  } finally {
    server.close();
  }
});
