/** Limits on the open orders of one account (RFC 8555 §6.6). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AcmeAnswer, AcmeClient } from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';

const DAY_SECONDS = 24 * 3600;

let acme: OpenAcme;
let client: AcmeClient;
beforeAll(async () => {
  acme = await openAcme(
    {
      KEELSON_ACME_TLS_ALPN_ADDRESSES: 'true',
      KEELSON_ACME_DNS_ACCOUNT_01: 'true',
    },
    {},
    { openOrderLimits: { orders: 3, pendingAuthorizations: 6 } },
  );
}, 60_000);
afterAll(() => acme.close());
beforeEach(async () => {
  client = acme.client();
  await client.register();
});

const expectRefusal = (answer: AcmeAnswer, retryAfter: number): void => {
  expect([answer.status, answer.json.type]).toEqual([
    429,
    'urn:ietf:params:acme:error:rateLimited',
  ]);
  expect(answer.header('content-type')).toBe('application/problem+json');
  expect(Number(answer.header('retry-after'))).toBe(retryAfter);
  expect(answer.header('replay-nonce')).toBeDefined();
};

test('a request may have at most 256 KiB', async () => {
  const answer = await client.post('new-order', { filler: 'a'.repeat(256 * 1024) });
  expect([answer.status, answer.json.type]).toEqual([413, 'urn:ietf:params:acme:error:malformed']);
  expect(answer.header('replay-nonce')).toBeDefined();
});

test('challenges beyond the specification are offered on request of the settings', async () => {
  const { json } = await client.order('*.example.com', 'www.example.com', '10.0.0.1');
  const typesOf = async (url: string): Promise<readonly string[]> =>
    (await client.post(url)).json.challenges.map(({ type }: { type: string }) => type);
  expect(await Promise.all(json.authorizations.map(typesOf))).toEqual([
    ['dns-01', 'dns-account-01'],
    ['http-01', 'dns-01', 'tls-alpn-01', 'dns-account-01'],
    ['http-01', 'tls-alpn-01'],
  ]);
});

describe('an account', () => {
  test('may have a limited number of open orders, until the first ends', async () => {
    for (const _ of [1, 2, 3]) expect((await client.order('localhost')).status).toBe(201);
    expectRefusal(await client.order('localhost'), DAY_SECONDS);
    acme.pki.clock.advance(3600 * 1000);
    expectRefusal(await client.order('localhost'), DAY_SECONDS - 3600);
    const other = acme.client();
    await other.register();
    expect((await other.order('localhost')).status).toBe(201);
    acme.pki.clock.advance((DAY_SECONDS - 3600) * 1000);
    expect((await client.order('localhost')).status).toBe(201);
  });

  test('may order again after it deactivated an authorization', async () => {
    const orders = [];
    for (const _ of [1, 2, 3]) orders.push(await client.order('localhost'));
    expectRefusal(await client.order('localhost'), DAY_SECONDS);
    await client.post(orders[1]?.json.authorizations[0], { status: 'deactivated' });
    acme.pki.clock.advance(1000);
    expect((await client.order('localhost')).status).toBe(201);
    expectRefusal(await client.order('localhost'), DAY_SECONDS - 1);
  });

  test('that finishes its orders may create any number', async () => {
    for (let made = 0; made < 7; made++) await acme.obtain(client, 'localhost');
    expect((await client.order('localhost')).status).toBe(201);
  });

  test('may have a limited number of pending authorizations, not counting proven ones', async () => {
    const first = await client.order('localhost', '127.0.0.1', '127.0.0.2', 'a.test', 'b.test');
    expect(first.status).toBe(201);
    expectRefusal(await client.order('localhost', '127.0.0.1'), DAY_SECONDS);
    expect((await client.order('localhost')).status).toBe(201);
    const [url = ''] = first.json.authorizations;
    const { json } = await client.post(url);
    const challenge = json.challenges.find(({ type }: { type: string }) => type === 'http-01');
    acme.files.set(challenge.token, `${challenge.token}.${client.key.thumbprint}`);
    await client.post(challenge.url, {});
    await acme.settle(client, url, ['pending']);
    acme.pki.clock.advance(1000);
    expect((await client.order('localhost')).status).toBe(201);
  });
});
