/** Orders whose certificate a policy service decides (reference §7.1, §8.5). */
import { X509Certificate } from 'node:crypto';
import { encodePem } from '@keelson/x509';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { bindAccount, csrFor, newAccountKey } from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';
import { type Mounts, openMounts } from '../../../test/open-mounts.ts';
import {
  type Document,
  openScriptedService,
  openTrust,
  type Scripted,
  templateFor,
} from '../../../test/policy-neighbours.ts';

let acme: OpenAcme;
/** Only vouches for the two ends of the questions. */
let vouching: Mounts;
let service: Awaited<ReturnType<typeof openScriptedService>>;
const say: { current: (question: Document) => Promise<Scripted> | Scripted } = {
  current: () => ({ body: {} }),
};

beforeAll(async () => {
  acme = await openAcme();
  vouching = await openMounts();
  const trust = await openTrust(vouching);
  service = await openScriptedService(trust, say);
  await acme.post('config/external-policy', {
    enabled: true,
    external_service_url: service.url,
    trusted_ca: trust.ca,
    vault_client_cert_bundle: trust.client.certificate + trust.client.key,
    entity_jmespath: '@',
  });
}, 60_000);
afterAll(async () => {
  await service?.close();
  await vouching?.close();
  await acme?.close();
});
beforeEach(() => {
  say.current = async (question) => ({
    body: {
      request_uuid: question.request_uuid,
      certificate: await templateFor(question, acme.pki.clock.nowMs()),
      issuer_ref: question.vault_request_values.requested_issuer_id,
    },
  });
});

test.for([
  ['external-policy/acme/', ''],
  ['external-policy/web/acme/', 'web'],
  ['issuer/default/external-policy/acme/', ''],
  ['issuer/default/external-policy/web/acme/', 'web'],
] as const)('an order at %s is decided by the policy service', async ([directory, policy]) => {
  const client = acme.client(directory);
  const { certificate, order } = await acme.obtain(client, 'localhost');
  const [leaf = ''] = certificate.bytes.toString().split(/(?<=-----END CERTIFICATE-----\n)/);
  expect(new X509Certificate(leaf).subject).toBe('CN=leaf.example.com');
  const question = service.questions.at(-1);
  expect(question.vault_request_values).toMatchObject({
    policy_name: policy,
    issuance_mode: 'acme',
    vault_generated_private_key: false,
  });
  expect(Object.keys(question.user_request_key_values)).toEqual(['csr']);
  expect(question).not.toHaveProperty('identity_request_key_values');
  expect(question.acme_request_key_values).toEqual({
    account: {
      id: client.account.slice(client.account.lastIndexOf('/') + 1),
      directory,
      contact: [],
      created_date: expect.stringMatching(/^\d{4}-/),
    },
    authorizations: [
      {
        identifier: { type: 'dns', value: 'localhost' },
        wildcard: false,
        status: 'valid',
        expires: expect.stringMatching(/^\d{4}-/),
        challenges: expect.arrayContaining([
          { type: 'http-01', status: 'valid', validated: expect.stringMatching(/^\d{4}-/) },
        ]),
      },
    ],
  });
  // Kept, although the service did not ask for that: a client can come back for it.
  expect((await client.post(order.header('location') ?? '')).json.status).toBe('valid');
  const { serialNumber } = new X509Certificate(leaf);
  const serial = serialNumber.toLowerCase().replaceAll(/..(?!$)/g, '$&-');
  expect((await acme.pki.call('GET', `cert/${serial}`)).status).toBe(200);
});

test.for([
  ['external-policy', ''],
  ['external-policy:web', 'web'],
])('a default policy %s decides when no role is named', async ([policy, name]) => {
  await acme.post('config/acme', { default_directory_policy: policy });
  await acme.obtain(acme.client(), 'localhost');
  expect(service.questions.at(-1).vault_request_values.policy_name).toBe(name);
  await acme.post('config/acme', { default_directory_policy: 'sign-verbatim' });
});

test('a decided lifetime is cut to the maximum of ACME', async () => {
  await acme.post('config/acme', { max_ttl: '600s' });
  const client = acme.client('external-policy/acme/');
  const { certificate } = await acme.obtain(client, 'localhost');
  const { validTo } = new X509Certificate(certificate.bytes);
  expect(Date.parse(validTo)).toBe(acme.pki.clock.nowMs() + 600_000);
  await acme.post('config/acme', { max_ttl: '2160h' });
});

test('refusals and errors of the policy service become problem documents', async () => {
  const finalizeWith = async (answer: (question: Document) => Scripted) => {
    const client = acme.client('external-policy/acme/');
    await client.register();
    const order = await client.order('localhost');
    await acme.prove(client, order);
    await acme.settle(client, order.header('location') ?? '', ['pending']);
    say.current = answer;
    return client.post(order.json.finalize, { csr: await csrFor(['localhost']) });
  };
  const refused = await finalizeWith(({ request_uuid }) => ({
    body: { request_uuid, error: 'not on a Saturday' },
  }));
  expect(refused.json).toMatchObject({
    type: 'urn:ietf:params:acme:error:rejectedIdentifier',
    detail: 'the external policy service refused the request: not on a Saturday',
  });
  const wrong = await finalizeWith(() => ({ status: 500, body: 'secret' }));
  expect(wrong.json.type).toBe('urn:ietf:params:acme:error:serverInternal');
  expect(wrong.bytes.toString()).not.toContain('secret');
});

test('a key that was revoked as compromised is refused before the policy service is asked', async () => {
  const key = newAccountKey();
  const request = { key: { ...key, publicKey: key.privateKey }, commonName: 'localhost' };
  const csr = await csrFor(['localhost'], request);
  const client = acme.client('external-policy/acme/');
  await client.register();
  const order = await client.order('localhost');
  await acme.prove(client, order);
  await acme.settle(client, order.header('location') ?? '', ['pending']);
  const finalized = await client.post(order.json.finalize, { csr });
  const { bytes } = await client.post(finalized.json.certificate);
  const [, body = ''] = /BEGIN CERTIFICATE-----([^-]*)-/.exec(bytes.toString()) ?? [];
  const revoked = { certificate: Buffer.from(body, 'base64').toString('base64url'), reason: 1 };
  expect((await client.post('revoke-cert', revoked)).status).toBe(200);
  const asked = service.questions.length;
  for (const kind of ['sign', 'sign-intermediate'])
    for (const path of [kind, `${kind}/web`])
      for (const before of ['', 'issuer/default/']) {
        const pem = encodePem('CERTIFICATE REQUEST', Buffer.from(csr, 'base64url'));
        const answer = await acme.pki.call('POST', `${before}external-policy/${path}`, {
          csr: pem,
        });
        expect([answer.status, answer.json.errors]).toEqual([
          400,
          ['the key is that of a certificate that was revoked because it is compromised'],
        ]);
      }
  expect(service.questions.length).toBe(asked);
});

test('the policy service receives the identity behind an external account binding', async () => {
  const client = acme.client('external-policy/acme/');
  const caller = {
    accessor: 'a',
    tokenHash: 'h',
    displayName: 'token-fleet',
    policies: ['fleet'],
    metadata: { team: 'fleet' },
    entityId: 'e-7',
    namespace: { id: 'root', path: '' },
    root: false,
    sudo: false,
    tokenType: 'service',
    expiresAtEpochSeconds: 0n,
  };
  const path = 'external-policy/acme/new-eab';
  const { data: eab } = await acme.pki.call('POST', path, {}, { caller });
  await client.register({
    externalAccountBinding: bindAccount(client.key, eab, client.url('new-account')),
  });
  await acme.obtain(client, 'localhost');
  const question = service.questions.at(-1);
  expect(question.identity_request_key_values).toEqual({
    entity_id: 'e-7',
    entity: { id: 'e-7', name: 'token-fleet', metadata: { team: 'fleet' } },
  });
  expect(question.acme_request_key_values.account.eab).toEqual({
    key_id: eab.id,
    key_type: 'hs',
    created_date: expect.stringMatching(/^\d{4}-/),
  });
});

test('the directories do not exist without an enabled policy service', async () => {
  const directory = async () =>
    (await acme.client('external-policy/web/acme/').get('directory')).status;
  expect(await directory()).toBe(200);
  await acme.post('config/external-policy', { enabled: false });
  expect(await directory()).toBe(404);
  await acme.post('config/external-policy', { enabled: true });
});
