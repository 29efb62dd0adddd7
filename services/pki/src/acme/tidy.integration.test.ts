/** Tidying of what ACME clients leave (reference §7.13). */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AcmeClient } from '../../test/acme-client.ts';
import { openAcme } from '../../test/open-acme.ts';

const DAY = 24 * 3600 * 1000;

test('orders are removed after their certificates, accounts after their orders, bindings by age', async () => {
  const acme = await openAcme({}, { max_ttl: '48h' });
  const tidy = async () => {
    await acme.pki.call('POST', 'tidy', { tidy_acme: true, safety_buffer: '72h' });
    for (;;) {
      const { data } = await acme.pki.call('GET', 'tidy-status');
      if (data.state === 'Running') {
        await setImmediate();
        continue;
      }
      expect(data.state).toBe('Finished');
      return [
        data.total_acme_account_count,
        data.acme_orders_deleted_count,
        data.acme_account_revoked_count,
        data.acme_account_deleted_count,
      ];
    }
  };
  try {
    const client = acme.client();
    const { url } = await acme.obtain(client, 'localhost');
    const pending = await client.order('localhost');
    const [idle, closed] = [acme.client(), acme.client()];
    await idle.register();
    await closed.register();
    await closed.post(closed.account, { status: 'deactivated' });
    await acme.post('acme/new-eab');
    expect(await tidy()).toEqual([3, 0, 0, 0]);

    acme.pki.clock.advance(DAY);
    expect(await tidy()).toEqual([3, 1, 0, 0]);
    expect((await client.post(pending.header('location') ?? '')).status).toBe(404);
    expect((await client.post(url)).json.status).toBe('valid');

    acme.pki.clock.advance(5 * DAY);
    expect(await tidy()).toEqual([3, 1, 0, 0]);
    expect((await client.post(url)).status).toBe(404);

    acme.pki.clock.advance(25 * DAY);
    expect((await acme.pki.call('LIST', 'eab')).status).toBe(200);
    expect(await tidy()).toEqual([3, 0, 2, 1]);
    expect((await acme.pki.call('LIST', 'eab')).status).toBe(404);
    expect((await idle.post('orders')).json.type).toBe('urn:ietf:params:acme:error:unauthorized');
    const again = new AcmeClient(acme.pki, 'acme/', closed.key);
    expect((await again.register()).status).toBe(201);

    acme.pki.clock.advance(31 * DAY);
    expect(await tidy()).toEqual([3, 0, 1, 2]);
  } finally {
    await acme.close();
  }
}, 60_000);

test('accounts without orders are kept for the buffer that is given for them', async () => {
  const acme = await openAcme();
  const idle = acme.client();
  await idle.register();
  acme.pki.clock.advance(2 * DAY);
  const deactivatedAfter = async (buffer: string): Promise<number> => {
    const body = { tidy_acme: true, safety_buffer: '1h', acme_account_safety_buffer: buffer };
    await acme.post('tidy', body);
    const status = async () => (await acme.pki.call('GET', 'tidy-status')).data;
    await expect.poll(async () => (await status()).state).toBe('Finished');
    return (await status()).acme_account_revoked_count;
  };
  expect([await deactivatedAfter('72h'), await deactivatedAfter('24h')]).toEqual([0, 1]);
  await acme.close();
});
