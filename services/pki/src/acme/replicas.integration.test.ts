/** Two replicas on one store: an order goes through both, and nothing is lost or accepted twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AcmeClient, type AcmeTarget, csrFor } from '../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../test/open-acme.ts';
import { createStoredNonces } from './nonces/stored-nonces.ts';

let acme: OpenAcme;
let replicas: readonly [AcmeTarget, AcmeTarget];
beforeAll(async () => {
  acme = await openAcme({}, {}, { hasReplicas: true });
  replicas = [acme.pki, acme.pki.openReplica()];
}, 60_000);
afterAll(() => acme.close());

const on = (pki: AcmeTarget, like: AcmeClient): AcmeClient => {
  const client = new AcmeClient(pki, 'acme/', like.key);
  client.account = like.account;
  return client;
};

test('each step of an order may reach another replica', async () => {
  const client = new AcmeClient(replicas[0]);
  const nonceOf = (step: number): Promise<string> =>
    new AcmeClient(replicas[(step % 2) as 0 | 1]).nonce();
  const post = async (step: number, resource: string, payload?: unknown) => {
    const other = replicas[((step + 1) % 2) as 0 | 1];
    return on(other, client).post(resource, payload, { nonce: await nonceOf(step) });
  };
  const registered = await post(0, 'new-account', {});
  client.account = registered.header('location') ?? '';
  const order = await post(1, 'new-order', {
    identifiers: [{ type: 'dns', value: 'localhost' }],
  });
  const [authorization] = order.json.authorizations;
  const { json } = await post(2, authorization);
  const challenge = json.challenges.find(({ type }: { type: string }) => type === 'http-01');
  acme.files.set(challenge.token, `${challenge.token}.${client.key.thumbprint}`);
  await post(3, challenge.url, {});
  const url = order.header('location') ?? '';
  expect((await acme.settle(on(replicas[0], client), url, ['pending'])).json.status).toBe('ready');
  const finalized = await post(4, order.json.finalize, { csr: await csrFor(['localhost']) });
  expect(finalized.json.status).toBe('valid');
  const certificate = await post(5, finalized.json.certificate);
  expect(certificate.bytes.toString()).toContain('-----BEGIN CERTIFICATE-----');
});

test('a nonce is accepted once over all replicas', async () => {
  const client = new AcmeClient(replicas[0]);
  await client.register();
  for (let round = 0; round < 10; round++) {
    const nonce = await client.nonce();
    const answers = await Promise.all(
      [...replicas, ...replicas].map((pki) => on(pki, client).post('orders', undefined, { nonce })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 400, 400, 400,
    ]);
  }
});

test('nonces expire, and records of used ones are removed', async () => {
  const client = new AcmeClient(replicas[0]);
  await client.register();
  const [used, old] = [await client.nonce(), await client.nonce()];
  expect((await client.post('orders', undefined, { nonce: used })).status).toBe(200);
  acme.pki.clock.advance(16 * 60_000);
  const answer = await client.post('orders', undefined, { nonce: old });
  expect(answer.json.type).toBe('urn:ietf:params:acme:error:badNonce');
  expect((await acme.pki.store.list('node/acme-nonces/')).length).toBeGreaterThan(0);
  acme.pki.clock.advance(20 * 60_000);
  while (await createStoredNonces(acme.pki).removeEnded({}));
  expect(await acme.pki.store.list('node/acme-nonces/')).toEqual([]);
});
