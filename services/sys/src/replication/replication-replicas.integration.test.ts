/** Two replicas of sys on one database become one secondary; the bus is shared within the process. */
import { openPostgresStore } from '@keelson/storage/postgres';
import { type PostgresServer, startPostgres } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { type Document, openSysHarness, type SysHarness } from '../../test/sys-harness.ts';

const SET = 'sys/replication/performance';
const POLICY = 'path "sys/mounts" { capabilities = ["read"] }';

let postgres: PostgresServer;
let primary: SysHarness;
let first: SysHarness;
let second: SysHarness;
let key: string;
let token = '';

beforeAll(async () => {
  postgres = await startPostgres();
  const connectionString = await postgres.createDatabase('sys');
  const transport = inProcessTransport();
  const openReplica = () =>
    openSysHarness({
      transport,
      openStore: (barrier, _folder, clock) =>
        openPostgresStore({ connectionString, barrier, clock }),
    });
  primary = await openSysHarness({ transport });
  ({ key } = await primary.initialize());
  [first, second] = [await openReplica(), await openReplica()];
  const { key: formerKey } = await first.initialize();
  await second.sys.seal.unseal(formerKey);
  for (const replica of [first, second]) await replica.sys.start();
}, 60_000);
afterAll(async () => {
  for (const harness of [second, first, primary]) await harness.close();
  await postgres[Symbol.asyncDispose]();
}, 60_000);

const modeOf = async (replica: SysHarness): Promise<string> => {
  const { body } = await replica.call('GET', `${SET}/status`);
  return body?.data?.mode ?? 'sealed';
};

const until = async (ask: () => Promise<Document>, isWanted: (found: Document) => boolean) => {
  for (;;) {
    const found = await ask();
    if (isWanted(found)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

describe('two replicas of a secondary', { timeout: 60_000 }, () => {
  test('are sealed, except the one that was activated, and are unsealed with the share of the primary', async () => {
    await primary.asRoot('POST', `${SET}/primary/enable`);
    await primary.asRoot('POST', 'sys/policies/acl/before', { body: { policy: POLICY } });
    const asked = await first.asRoot('POST', `${SET}/secondary/generate-public-key`);
    const issued = await primary.asRoot('POST', `${SET}/primary/secondary-token`, {
      body: { id: 'two', secondary_public_key: asked.body.data.secondary_public_key },
    });
    const enabled = await first.asRoot('POST', `${SET}/secondary/enable`, {
      body: { token: issued.body.data.token },
    });
    expect(enabled.status).toBe(200);
    await until(
      () => modeOf(first),
      (mode) => mode === 'secondary',
    );
    await until(
      async () => (await second.sys.seal.status()).sealed,
      (sealed) => sealed,
    );
    await second.sys.seal.unseal(key);
    expect(await modeOf(second)).not.toBe('disabled');
  });

  test('both forward writes, and read them at once', async () => {
    const started = (await first.call('POST', 'sys/generate-root/attempt', { body: {} })).body;
    const { body } = await first.call('POST', 'sys/generate-root/update', {
      body: { key, nonce: started.nonce },
    });
    const decoded = await first.call('POST', 'sys/decode-token', {
      body: { encoded_token: body.encoded_token, otp: started.otp },
    });
    token = decoded.body.data.token;
    for (const [index, replica] of [first, second, first, second].entries()) {
      const path = `sys/policies/acl/p${index}`;
      const written = await replica.call('POST', path, { token, body: { policy: POLICY } });
      expect(written.status).toBe(204);
      expect((await replica.call('GET', path, { token })).status).toBe(200);
      expect((await primary.asRoot('GET', path)).status).toBe(200);
    }
    expect((await second.call('GET', 'sys/policies/acl/before', { token })).status).toBe(200);
  });

  test('follow a role that was given to the other', async () => {
    const promoted = await second.call('POST', `${SET}/secondary/promote`, {
      token,
      body: { force: true },
    });
    expect(promoted.status).toBe(200);
    // The response was sent after both replicas had applied the role.
    const body = { policy: POLICY };
    const written = await first.call('POST', 'sys/policies/acl/own', { token, body });
    expect(written.status).toBe(204);
    expect(await modeOf(first)).toBe('primary');
    expect((await primary.asRoot('GET', 'sys/policies/acl/own')).status).toBe(404);
  });
});
