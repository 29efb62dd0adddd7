/** Names that no certificate could contain are refused before they are proven; all others get one. */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

const problem = ({ status, json }: AcmeAnswer) => [
  status,
  json.type?.replace('urn:ietf:params:acme:error:', ''),
];
const HOUR = 3600 * 1000;

describe('a new order (§7.4)', () => {
  test.for([
    ['ip', '0.0.0.0'],
    ['ip', '::'],
    ['ip', '169.254.169.254'],
    ['ip', 'fe80::1'],
    ['ip', '224.0.0.1'],
    ['ip', 'ff02::1'],
    ['dns', 'example.onion'],
    ['dns', '*.onion'],
  ] as const)('the %s "%s", which could never be validated, is refused', async ([type, value]) => {
    const answer = await client.post('new-order', { identifiers: [{ type, value }] });
    expect(problem(answer)).toEqual([400, 'rejectedIdentifier']);
    expect(answer.json.subproblems[0].detail).toContain('could never be validated');
  });

  test('a name of one label, or a wildcard below one, is proven as any other, unless the role refuses it', async () => {
    const names = ['router', '*.lan', 'com', '*.com'];
    for (const name of names) expect((await client.order(name)).status).toBe(201);
    await acme.post('roles/inside', {
      allowed_domains: 'example.com,lan',
      allow_subdomains: true,
      key_type: 'ec',
    });
    const limited = acme.client('roles/inside/acme/');
    await limited.register();
    const answer = await limited.order(...names);
    expect(problem(answer)).toEqual([400, 'rejectedIdentifier']);
    expect(
      answer.json.subproblems.map(({ identifier }: { identifier: object }) => identifier),
    ).toEqual(['router', 'com', '*.com'].map(toIdentifier));
  });

  test('names that the issuer’s name constraints exclude are refused, one subproblem each', async () => {
    const { data } = await acme.post('root/generate/internal', {
      common_name: 'Constrained',
      issuer_name: 'constrained',
      key_type: 'ec',
      permitted_dns_domains: ['in.example'],
      excluded_dns_domains: ['out.in.example'],
      excluded_ip_ranges: ['10.0.0.0/8'],
    });
    const limited = acme.client(`issuer/${data.issuer_id}/acme/`);
    await limited.register();
    expect((await limited.order('a.in.example', '192.0.2.1')).status).toBe(201);
    const answer = await limited.order(
      'a.in.example',
      'example.com',
      'b.out.in.example',
      '*.in.example',
      '10.0.0.1',
    );
    expect(problem(answer)).toEqual([400, 'rejectedIdentifier']);
    const refused = ['example.com', 'b.out.in.example', '*.in.example', '10.0.0.1'];
    expect(
      answer.json.subproblems.map(({ identifier }: { identifier: object }) => identifier),
    ).toEqual(refused.map(toIdentifier));
  });

  test('under an issuer that has expired says so', async () => {
    const { data } = await acme.post('root/generate/internal', {
      common_name: 'Short',
      key_type: 'ec',
      ttl: '1h',
    });
    acme.pki.clock.advance(2 * HOUR);
    const late = acme.client(`issuer/${data.issuer_id}/acme/`);
    await late.register();
    const answer = await late.order('a.example.com');
    expect(problem(answer)).toEqual([400, 'malformed']);
    expect(answer.json.detail).toMatch(/nothing can be issued: the issuer expired at \d{4}-/);
  });
});

test('names too long for a common name are in the SANs alone, also where the role requires one', async () => {
  await acme.post('roles/long', { allow_any_name: true, key_type: 'ec' });
  const owner = acme.client('roles/long/acme/');
  await owner.register();
  const long = `${'a'.repeat(60)}.${'b'.repeat(20)}.example.com`;
  for (const [names, commonName, inCertificate] of [
    [[long], undefined, undefined],
    [[long], long, undefined],
    [[long, 'a.example.com'], long, 'a.example.com'],
  ] as const) {
    const order = await owner.order(...names);
    for (const url of order.json.authorizations) await acme.pass(owner, url);
    const csr = await csrFor(names, commonName === undefined ? {} : { commonName });
    const { json } = await owner.post(order.json.finalize, { csr });
    expect(json).toMatchObject({ status: 'valid' });
    const leaf = new X509Certificate((await owner.post(json.certificate)).bytes);
    expect(leaf.subject).toBe(inCertificate && `CN=${inCertificate}`);
    expect(leaf.subjectAltName).toBe(names.map((name) => `DNS:${name}`).join(', '));
  }
});
