/** Gauges of tokens and leases, as `/metrics` shows them. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

/** The present value of a gauge. */
const gauge = async (name: string): Promise<number> => {
  // A sample is shown for 15 s.
  harness.clock.advance(15_000);
  const line = (await harness.registry.metrics()).match(new RegExp(`^${name} (\\S+)$`, 'm'));
  return Number(line?.[1]);
};

test('count stored tokens in all namespaces, until they are revoked', async () => {
  expect(await gauge('keelson_tokens')).toBe(1);
  const token = await harness.createToken(['default']);
  await harness.createNamespace('team');
  await harness.createToken(['default'], 'team');
  await harness.asRoot('POST', 'auth/token/create', { body: { type: 'batch' } });
  expect(await gauge('keelson_tokens')).toBe(3);
  await harness.asRoot('POST', 'auth/token/revoke', { body: { token } });
  expect(await gauge('keelson_tokens')).toBe(2);
  // The number says nothing about any of them, so it is shown while sealed.
  await harness.asRoot('PUT', 'sys/seal');
  expect(await gauge('keelson_sealed')).toBe(1);
  expect(await gauge('keelson_tokens')).toBe(2);
});

test('count leases, and those that could not be revoked', async () => {
  await harness.asRoot('POST', 'sys/mounts/pki', { body: { type: 'sample' } });
  const mountUuid = (await harness.asRoot('GET', 'sys/mounts/pki')).body.data.uuid;
  const token = await harness.createToken(['default']);
  const resolved = await harness.resolve('GET', 'auth/token/lookup-self', { token });
  for (let count = 0; count < 3; count += 1)
    await harness.sys.ledger.register({
      mountUuid,
      requestPath: '/issue/web',
      tokenHash: resolved.audit?.caller?.tokenHash ?? '',
      namespace: { id: 'root', path: '' },
      ttlSeconds: 600,
      maxTtlSeconds: 3600,
      renewable: true,
      engineData: Buffer.from('serial'),
      tokenType: 'service',
    });
  expect(await gauge('keelson_leases')).toBe(3);
  expect(await gauge('keelson_leases_irrevocable')).toBe(0);
  harness.engine.refusing = true;
  for (let attempt = 0; attempt < 12; attempt += 1) {
    harness.clock.advance(600_000);
    await harness.settle('lease-expiry');
  }
  expect(await gauge('keelson_leases_irrevocable')).toBe(3);
  expect(await gauge('keelson_leases')).toBe(3);
});
