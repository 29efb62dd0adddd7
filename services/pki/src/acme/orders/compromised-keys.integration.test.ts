/** Keys of certificates that were revoked as compromised are not certified again, nor taken for accounts. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { encodePem } from '@keelson/x509';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ACCOUNT_ALGORITHMS,
  type AccountKey,
  type AcmeAnswer,
  AcmeClient,
  csrFor,
  newAccountKey,
  signJws,
} from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';

let acme: OpenAcme;
beforeAll(async () => {
  acme = await openAcme();
  await acme.post('roles/any', { allow_any_name: true, key_type: 'any' });
}, 60_000);
afterAll(() => acme.close());

const outcome = ({ status, json }: AcmeAnswer) => [
  status,
  json?.type?.replace('urn:ietf:params:acme:error:', '') ?? json?.status,
];

type Key = { readonly privateKey: KeyObject };
const requestFor = ({ privateKey }: Key): Promise<string> =>
  csrFor(['localhost'], { key: { privateKey, publicKey: privateKey }, commonName: 'localhost' });

const readyOrder = async (client: AcmeClient): Promise<AcmeAnswer> => {
  const order = await client.order('localhost');
  await acme.prove(client, order);
  await acme.settle(client, order.header('location') ?? '', ['pending']);
  return order;
};

/** A certificate for the key, revoked by its account for this reason. */
const revoked = async (key: Key, reason: number): Promise<AcmeClient> => {
  const client = acme.client();
  await client.register();
  const { json } = await readyOrder(client);
  const finalized = await client.post(json.finalize, { csr: await requestFor(key) });
  const { bytes } = await client.post(finalized.json.certificate);
  const [, body = ''] = /BEGIN CERTIFICATE-----([^-]*)-/.exec(bytes.toString()) ?? [];
  const certificate = Buffer.from(body, 'base64').toString('base64url');
  expect((await client.post('revoke-cert', { certificate, reason })).status).toBe(200);
  return client;
};

const pemOf = async (key: Key): Promise<string> =>
  encodePem('CERTIFICATE REQUEST', Buffer.from(await requestFor(key), 'base64url'));

test.for(ACCOUNT_ALGORITHMS)('a key for %s is refused from then on', async (alg) => {
  const key = newAccountKey(alg);
  const client = await revoked(key, 1);
  const order = await readyOrder(client);
  const csr = await requestFor(key);
  expect(outcome(await client.post(order.json.finalize, { csr }))).toEqual([400, 'badCSR']);
  // The order is unchanged, so that it accepts another key.
  const other = await csrFor(['localhost']);
  expect(outcome(await client.post(order.json.finalize, { csr: other }))).toEqual([200, 'valid']);

  const stranger = new AcmeClient(acme.pki, 'acme/', key);
  expect(outcome(await stranger.register())).toEqual([400, 'badPublicKey']);
  const change = await changeTo(client, key);
  expect(outcome(change)).toEqual([400, 'badPublicKey']);

  for (const path of ['sign/any', 'sign-verbatim', 'root/sign-intermediate']) {
    const body = { csr: await pemOf(key), common_name: 'localhost' };
    const signed = await acme.pki.call('POST', path, body);
    expect([signed.status, signed.json.errors]).toEqual([
      400,
      ['the key is that of a certificate that was revoked because it is compromised'],
    ]);
  }
});

test('a compromised key is refused by EST too, with the reason', async () => {
  await acme.post('config/est', {
    enabled: true,
    default_mount: false,
    default_path_policy: 'role:any',
    authenticators: {},
  });
  const enroll = async (key: Key) => {
    const body = Buffer.from(Buffer.from(await requestFor(key), 'base64url').toString('base64'));
    const { status, bytes } = await acme.pki.call('POST', 'est/simpleenroll', body, {
      contentType: 'application/pkcs10',
    });
    return { status, text: bytes.toString() };
  };
  const key = newAccountKey();
  expect(await enroll(key)).toMatchObject({ status: 200 });
  await revoked(key, 1);
  expect(await enroll(key)).toMatchObject({
    status: 400,
    text: expect.stringContaining('revoked because it is compromised'),
  });
});

const changeTo = async (client: AcmeClient, key: AccountKey): Promise<AcmeAnswer> => {
  const url = client.url('key-change');
  const payload = { account: client.account, oldKey: client.key.jwk };
  return client.post('key-change', signJws(key, { jwk: key.jwk, url }, payload));
};

test('a key whose certificate was revoked for another reason is still accepted', async () => {
  const key = newAccountKey();
  const client = await revoked(key, 4);
  const { json } = await readyOrder(client);
  const finalized = await client.post(json.finalize, { csr: await requestFor(key) });
  expect(outcome(finalized)).toEqual([200, 'valid']);
  const signed = await acme.pki.call('POST', 'sign/any', {
    csr: await pemOf(key),
    common_name: 'localhost',
  });
  expect(signed.status).toBe(200);
  expect((await new AcmeClient(acme.pki, 'acme/', key).register()).status).toBe(201);
});

test('an account whose key is found compromised remains valid', async () => {
  const key = newAccountKey();
  const account = new AcmeClient(acme.pki, 'roles/any/acme/', key);
  await account.register();
  await revoked(key, 1);
  expect((await account.post('orders')).status).toBe(200);
  account.account = '';
  expect((await account.register()).status).toBe(200);
});

test('a key on a curve without a JSON Web Key name is recognized too', async () => {
  const key = generateKeyPairSync('ec', { namedCurve: 'secp224r1' });
  const client = await revoked(key, 1);
  const { json } = await readyOrder(client);
  const csr = await requestFor(key);
  expect(outcome(await client.post(json.finalize, { csr }))).toEqual([400, 'badCSR']);
});
