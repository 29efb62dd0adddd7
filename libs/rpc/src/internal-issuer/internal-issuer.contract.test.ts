/** Enrolment, renewal and authorisation over real TLS. */

import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ManualClock } from '@keelson/clock';
import { messageOf } from '@keelson/proto/message';
import { ClusterDefinition, ClusterState } from '@keelson/proto/sys/v1/cluster';
import { InternalCertificatesDefinition } from '@keelson/proto/sys/v1/internal_certificates';
import { IdentifyResponse, IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import { findBinary, startRedis, stubService } from '@keelson/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { implementService } from '../registration.ts';
import { createRpcClient } from '../rpc-client.ts';
import { createRpcServer, type RpcServer } from '../rpc-server.ts';
import type { CallOptions, RpcService } from '../rpc-service.ts';
import type { TlsIdentity, TrustedAuthority } from '../tls-identity.ts';
import { enrolIdentity } from './enrolled-identity.ts';
import {
  type InternalIssuer,
  openInternalIssuer,
  SERVICE_NAMES,
  type ServiceName,
} from './internal-issuer.ts';
import type { RenewedIdentity } from './renewed-identity.ts';

const HOUR_MS = 3_600_000;
const run = promisify(execFile);

let folder: string;
let authorityPem: string;
let clock: ManualClock;
let issuer: InternalIssuer;
let sys: RenewedIdentity;
let server: RpcServer;
let calledBy: (string | undefined)[];
const clients: { close(): void }[] = [];

const newFolderWithAuthority = async (): Promise<string> => {
  const made = await mkdtemp(join(tmpdir(), 'keelson-internal-ca-'));
  await run(process.execPath, [join(import.meta.dirname, 'main.ts'), made]);
  return made;
};

beforeAll(async () => {
  folder = await newFolderWithAuthority();
  authorityPem = await readFile(join(folder, 'pki', 'internal-ca-certificate.pem'), 'utf8');
});
afterAll(() => rm(folder, { recursive: true }));

const rejectReport = (error: unknown): void => {
  throw error;
};

beforeEach(async () => {
  // TLS uses the real clock: both the first certificates and those renewed after half their lifetime are
  // valid now.
  clock = new ManualClock(Date.now() - 12 * HOUR_MS);
  issuer = await openInternalIssuer({
    file: join(folder, 'sys', 'internal-ca.pem'),
    clock,
    report: rejectReport,
  });
  sys = await issuer.identityOf('sys');
  calledBy = [];
  server = await createRpcServer({
    address: '127.0.0.1:0',
    tls: sys.identity,
    services: [
      implementService(InternalCertificatesDefinition, issuer.service, { callers: 'anyone' }),
      implementService(
        IdentityDefinition,
        stubService<RpcService<typeof IdentityDefinition>>({
          identify: (_: unknown, options?: CallOptions) => {
            calledBy.push(options?.peer);
            return Promise.resolve(messageOf(IdentifyResponse));
          },
        }),
        { callers: ['gateway'] },
      ),
      implementService(ClusterDefinition, {
        join: async function* (_, options) {
          yield messageOf(ClusterState, { clusterName: options?.peer ?? 'nobody' });
          await new Promise((resolve) => options?.signal?.addEventListener('abort', resolve));
        },
      }),
    ],
  });
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  sys.stop();
  await server.stop(0);
});

const address = (): string => `127.0.0.1:${server.port}`;
const joinTokenOf = async (service: ServiceName): Promise<string> =>
  (await readFile(join(folder, service, 'join-token'), 'utf8')).trim();

const enrol = async (service: ServiceName, token?: string): Promise<RenewedIdentity> =>
  enrolIdentity({
    service,
    sysAddress: address(),
    caCertificatesPem: authorityPem,
    joinToken: token ?? (await joinTokenOf(service)),
    clock,
    report: rejectReport,
  });

/** An enrolled identity that is not renewed. */
const enrolled = async (service: ServiceName): Promise<TlsIdentity> => {
  const kept = await enrol(service);
  kept.stop();
  return kept.identity;
};

const identityClient = (tls: TlsIdentity | TrustedAuthority, service = 'sys') => {
  const client = createRpcClient(IdentityDefinition, { address: address(), service, tls });
  clients.push(client);
  return client;
};

describe('keelson-internal-ca', () => {
  test('writes secrets for their owners only and keeps an existing CA', async () => {
    const before = await readFile(join(folder, 'sys', 'internal-ca.pem'), 'utf8');
    await run(process.execPath, [join(import.meta.dirname, 'main.ts'), folder]);
    expect(await readFile(join(folder, 'sys', 'internal-ca.pem'), 'utf8')).toBe(before);
    for (const file of ['sys/internal-ca.pem', 'pki/join-token', 'pki/settings.yaml'])
      expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect(authorityPem).not.toContain('PRIVATE');
  });

  test('gives each service passwords of its own for PostgreSQL and Redis, the same at every call', async () => {
    const read = (file: string): Promise<string> => readFile(join(folder, file), 'utf8');
    const services = SERVICE_NAMES;
    const settings = await Promise.all(services.map((name) => read(`${name}/settings.yaml`)));
    await run(process.execPath, [join(import.meta.dirname, 'main.ts'), folder]);
    expect(await Promise.all(services.map((name) => read(`${name}/settings.yaml`)))).toEqual(
      settings,
    );
    const passwords = settings.flatMap((text) =>
      Array.from(text.matchAll(/:([0-9a-f]{64})@/g), ([, password = '']) => password),
    );
    // Gateways have no database.
    expect([passwords.length, new Set(passwords).size]).toEqual([9, 9]);
    expect(settings[1]).toBe(
      `database_url: postgres://pki:${(await read('postgres/pki')).trim()}@postgres/pki\n` +
        `redis_url: redis://pki:${(await read('pki/redis-password')).trim()}@redis:6379\n`,
    );
    expect(await readdir(join(folder, 'redis'))).toEqual(['users.acl']);
    const admitted = await read('redis/users.acl');
    expect(passwords.filter((password) => admitted.includes(password))).toEqual([]);
  });

  test('admits services to Redis with their passwords, for their own keys, and nobody else', async () => {
    await using redis = await startRedis({ accessFile: join(folder, 'redis/users.acl') });
    const cli = await findBinary('redis-cli', 'redis-tools');
    const passwordOf = async (name: string): Promise<string> =>
      (await readFile(join(folder, name, 'redis-password'), 'utf8')).trim();
    const ask = async (name: string, ...command: readonly string[]): Promise<string> => {
      const user = name === '' ? [] : ['--user', name, '--pass', await passwordOf(name)];
      const args = ['-p', String(redis.port), '--no-auth-warning', ...user, ...command];
      return (await run(cli, args)).stdout.trim();
    };
    expect([
      await ask('', 'PING'),
      await ask('pki', 'SET', 'keelson:lease:a', 'me'),
      await ask('gateway', 'INCR', 'keelson:rate:a'),
      await ask('gateway', 'GET', 'keelson:lease:a'),
      await ask('pki', 'GET', 'keelson:rate:a'),
      await ask('pki', 'FLUSHALL'),
      await ask('pki', 'CONFIG', 'GET', 'dir'),
      await ask('pki', 'ACL', 'LIST'),
      await ask('pki', 'KEYS', '*'),
    ]).toEqual([
      expect.stringMatching(/^NOAUTH/),
      'OK',
      '1',
      ...Array.from({ length: 6 }, () => expect.stringMatching(/^NOPERM/)),
    ]);
  });
});

describe('enrolment', () => {
  test('gives a certificate of 24 hours that names the service', async () => {
    const identity = await enrolled('gateway');
    const leaf = new X509Certificate(identity.material.certificateChainPem);
    expect(leaf.verify(new X509Certificate(authorityPem).publicKey)).toBe(true);
    expect(leaf.subjectAltName).toBe('DNS:gateway.service.keelson');
    const lifeMs = leaf.validToDate.getTime() - clock.nowMs();
    expect(Math.abs(lifeMs - 24 * HOUR_MS)).toBeLessThan(1000);
  });

  test.for(['', 'wrong', 'A'.repeat(43)])('refuses the join token %j', async (token) => {
    await expect(enrol('gateway', token)).rejects.toMatchObject({ code: 'rpc.join_refused' });
  });

  test("refuses another service's join token", async () => {
    const token = await joinTokenOf('pki');
    await expect(enrol('gateway', token)).rejects.toMatchObject({ code: 'rpc.join_refused' });
  });

  test('refuses a service that proves itself with the certificate of another', async () => {
    const identity = await enrolled('pki');
    const client = createRpcClient(InternalCertificatesDefinition, {
      address: address(),
      service: 'sys',
      tls: identity,
    });
    clients.push(client);
    const forged = client.issue({ service: 'gateway', csr: Buffer.alloc(0), joinToken: '' });
    await expect(forged).rejects.toMatchObject({ code: 'rpc.join_refused' });
  });
});

describe('a caller', () => {
  test('is known to the implementation by its certificate', async () => {
    const identity = await enrolled('gateway');
    await identityClient(identity).identify({ token: '' });
    expect(calledBy).toEqual(['gateway']);
  });

  test('that is not on the list of a method is refused', async () => {
    const identity = await enrolled('pki');
    await expect(identityClient(identity).identify({ token: '' })).rejects.toMatchObject({
      code: 'rpc.caller_refused',
      params: { caller: 'pki', path: '/keelson.workspace.v1.Identity/Identify' },
    });
    expect(calledBy).toEqual([]);
  });

  test('without a certificate is refused', async () => {
    const client = identityClient({ caCertificatesPem: authorityPem });
    await expect(client.identify({ token: '' })).rejects.toMatchObject({
      code: 'rpc.caller_refused',
      params: { caller: 'unknown' },
    });
  });

  test('with a certificate of another CA is refused', async () => {
    const otherFolder = await newFolderWithAuthority();
    const other = await openInternalIssuer({
      file: join(otherFolder, 'sys', 'internal-ca.pem'),
      clock,
      report: rejectReport,
    });
    const forged = await other.identityOf('gateway');
    forged.stop();
    const { identity } = forged;
    identity.replace({ ...identity.material, caCertificatesPem: authorityPem });
    await expect(identityClient(identity).identify({ token: '' })).rejects.toMatchObject({
      code: 'rpc.caller_refused',
    });
    await rm(otherFolder, { recursive: true });
  });

  test('does not talk to a server that is another service than it expects', async () => {
    const identity = await enrolled('gateway');
    await expect(
      identityClient(identity, 'workspace').identify({ token: '' }, { timeoutMs: 2000 }),
    ).rejects.toMatchObject({ code: 'edge.backend_unavailable' });
  });
});

describe('renewal', () => {
  test('at half the life changes key and certificate while a stream goes on', async () => {
    const pki = await enrol('pki');
    const { identity } = pki;
    const client = createRpcClient(ClusterDefinition, {
      address: address(),
      service: 'sys',
      tls: identity,
    });
    clients.push(client);
    const controller = new AbortController();
    const states = client
      .join(
        { service: 'pki', instanceId: 'a', version: '1', storeId: '', engines: [] },
        { signal: controller.signal },
      )
      [Symbol.asyncIterator]();
    expect((await states.next()).value?.clusterName).toBe('pki');
    const next = states.next();
    const before = identity.material;
    const beforeAtServer = sys.identity.material;
    clock.advance(12 * HOUR_MS);
    await expect.poll(() => identity.material).not.toBe(before);
    await expect.poll(() => sys.identity.material).not.toBe(beforeAtServer);
    expect(identity.material.privateKeyPem).not.toBe(before.privateKeyPem);
    // The existing stream continues; a new connection presents and receives the new certificates.
    expect(await Promise.race([next, Promise.resolve('open')])).toBe('open');
    const refused = identityClient(identity).identify({ token: '' });
    await expect(refused).rejects.toMatchObject({ params: { caller: 'pki' } });
    controller.abort();
    await expect(next).rejects.toMatchObject({ code: 'request.cancelled' });
    pki.stop();
  });
});
