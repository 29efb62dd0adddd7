/** Redis over TLS: the server proves its name by a certificate of the authority in the settings. */
import { ManualClock } from '@keelson/clock';
import { startRedis, temporaryDirectory, writeCertificates } from '@keelson/testkit';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { type RedisAddress, RedisLeaseStore, toRedisConnection } from './redis-lease-store.ts';

const folder = await temporaryDirectory();
const other = await temporaryDirectory();
const tls = await writeCertificates(folder.path);
const strange = await writeCertificates(other.path);
const server = await startRedis({ tls });
afterAll(async () => {
  for (const part of [server, folder, other]) await part[Symbol.asyncDispose]();
});

const acquire = async (address: Partial<RedisAddress>) => {
  const leases = new RedisLeaseStore({
    connection: toRedisConnection({
      redisUrl: `redis://localhost:${server.port}`,
      redisSentinels: [],
      ...address,
    }),
    clock: new ManualClock(),
  });
  onTestFinished(() => leases.close());
  return await leases.tryAcquire('work', { ttlMs: 10_000 }).then(
    (lease) => lease !== undefined,
    () => false,
  );
};

test.for([
  ['the authority of the server', { redisAuthorityFile: tls.authorityFile }, true],
  ['an authority that the server is not of', { redisAuthorityFile: strange.authorityFile }, false],
  ['rediss:// and public authorities', { redisUrl: `rediss://localhost:${server.port}` }, false],
  ['no TLS', {}, false],
] as const)('with %s: %o, reached: %s', async ([, address, isReached]) => {
  expect(await acquire(address)).toBe(isReached);
});

test('a name that is not in the certificate is refused', async () => {
  const redisUrl = `redis://127.0.0.2:${server.port}`;
  expect(await acquire({ redisUrl, redisAuthorityFile: tls.authorityFile })).toBe(false);
});
