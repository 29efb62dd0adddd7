/** Requests of deployed clients that RFC 8555 leaves open or leaves to the server. */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AcmeAnswer,
  type AcmeClient,
  csrFor,
  toIdentifier,
} from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';

let acme: OpenAcme;
let client: AcmeClient;
beforeAll(async () => {
  acme = await openAcme();
  client = acme.client();
  await client.register();
}, 60_000);
afterAll(() => acme.close());

const HOUR = 3600 * 1000;
const time = (ms: number): string => new Date(ms).toISOString();
const problem = ({ status, json }: AcmeAnswer) => [
  status,
  json.type?.replace('urn:ietf:params:acme:error:', ''),
];

test('null and the zero time of Go count as absent members', async () => {
  const identifiers = [toIdentifier('localhost')];
  const given = [
    { notBefore: '0001-01-01T00:00:00Z', notAfter: '0001-01-01T00:00:00Z' },
    { notBefore: null, notAfter: null, profile: null, replaces: null },
  ];
  for (const members of given) {
    const { status, json } = await client.post('new-order', { identifiers, ...members });
    expect(status).toBe(201);
    expect(Object.keys(json)).toEqual([
      'status',
      'expires',
      'identifiers',
      'authorizations',
      'finalize',
    ]);
  }
});

test('a validity that starts up to five minutes before the order is accepted, however long the proof takes', async () => {
  const orderedAtMs = Math.floor(acme.pki.clock.nowMs() / 1000) * 1000;
  const notBefore = time(orderedAtMs - 300 * 1000);
  const order = await client.post('new-order', {
    identifiers: [toIdentifier('localhost')],
    notBefore,
  });
  expect(order.status).toBe(201);
  await acme.prove(client, order);
  await acme.settle(client, order.header('location') ?? '', ['pending']);
  acme.pki.clock.advance(HOUR);
  const done = await client.post(order.json.finalize, { csr: await csrFor(['localhost']) });
  const leaf = new X509Certificate((await client.post(done.json.certificate)).bytes);
  expect(Date.parse(leaf.validFrom)).toBe(Date.parse(notBefore));
});

test('a CSR that asks for must-staple (RFC 7633) is refused', async () => {
  const order = await client.order('localhost');
  await acme.prove(client, order);
  await acme.settle(client, order.header('location') ?? '', ['pending']);
  // Features ::= SEQUENCE OF INTEGER, of which 5 is status_request.
  const value = Buffer.from('3003020105', 'hex');
  const feature = { oid: '1.3.6.1.5.5.7.1.24', critical: false, value };
  const csr = await csrFor(['localhost'], { extensions: [feature] });
  const refused = await client.post(order.json.finalize, { csr });
  expect(problem(refused)).toEqual([400, 'badCSR']);
  expect(refused.json.detail).toContain('must-staple');
  const without = await csrFor(['localhost']);
  expect((await client.post(order.json.finalize, { csr: without })).json.status).toBe('valid');
});
