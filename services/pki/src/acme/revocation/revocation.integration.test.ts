/** Revocation (RFC 8555 §7.6) and renewal information (RFC 9773). */
import { X509Certificate } from 'node:crypto';
import { DerReader, EXTENSION, findExtension, parseCertificate } from '@keelson/x509';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AcmeAnswer,
  AcmeClient,
  csrFor,
  newAccountKey,
  toIdentifier,
} from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';

let acme: OpenAcme;
beforeAll(async () => {
  acme = await openAcme();
}, 60_000);
afterAll(() => acme.close());

const problem = ({ status, json }: AcmeAnswer) => [
  status,
  json?.type?.replace('urn:ietf:params:acme:error:', ''),
];
const leafOf = (certificate: AcmeAnswer): X509Certificate => new X509Certificate(certificate.bytes);
const toText = (leaf: X509Certificate): string => leaf.raw.toString('base64url');

describe('revocation', () => {
  test('by the account that ordered the certificate', async () => {
    const client = acme.client();
    const leaf = leafOf((await acme.obtain(client, 'localhost')).certificate);
    const answer = await client.post('revoke-cert', { certificate: toText(leaf) });
    expect([answer.status, answer.bytes.byteLength]).toEqual([200, 0]);
    expect(answer.header('replay-nonce')).toBeDefined();
    const serial = leaf.serialNumber.toLowerCase().replaceAll(/(..)(?=.)/g, '$1:');
    const shown = await acme.pki.call('GET', `cert/${serial}`);
    expect(shown.data.revocation_time).toBeGreaterThan(0);
    const again = await client.post('revoke-cert', { certificate: toText(leaf), reason: 0 });
    expect(problem(again)).toEqual([400, 'alreadyRevoked']);
  });

  test('asked for eight times at once happens once', async () => {
    const client = acme.client();
    const leaf = leafOf((await acme.obtain(client, 'localhost')).certificate);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => client.post('revoke-cert', { certificate: toText(leaf) })),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 7 }, () => 400)]);
    expect(answers.filter(({ status }) => status === 400).map(problem)).toEqual(
      Array.from({ length: 7 }, () => [400, 'alreadyRevoked']),
    );
  });

  test('by the key of the certificate', async () => {
    const client = acme.client();
    await client.register();
    const order = await client.order('localhost');
    await acme.prove(client, order);
    await acme.settle(client, order.header('location') ?? '', ['pending']);
    const key = newAccountKey('ES384');
    const csr = await csrFor(['localhost'], {
      key: { privateKey: key.privateKey, publicKey: key.privateKey },
    });
    const { json } = await client.post(order.json.finalize, { csr });
    const certificate = toText(leafOf(await client.post(json.certificate)));
    const holder = new AcmeClient(acme.pki, 'acme/', key);
    const stranger = acme.client();
    expect(problem(await stranger.post('revoke-cert', { certificate }))).toEqual([
      403,
      'unauthorized',
    ]);
    expect((await holder.post('revoke-cert', { certificate })).status).toBe(200);
  });

  test('by an account that holds authorizations for all names', async () => {
    const [owner, other] = [acme.client(), acme.client()];
    const leaf = leafOf((await acme.obtain(owner, 'localhost', '127.0.0.1')).certificate);
    await acme.obtain(other, 'localhost');
    const revoke = () => other.post('revoke-cert', { certificate: toText(leaf) });
    expect(problem(await revoke())).toEqual([403, 'unauthorized']);
    const { order } = await acme.obtain(other, '127.0.0.1');
    const [authorization] = order.json.authorizations;
    await other.post(authorization, { status: 'deactivated' });
    expect(problem(await revoke())).toEqual([403, 'unauthorized']);
    await acme.obtain(other, '127.0.0.1');
    expect((await revoke()).status).toBe(200);
  });

  test('is refused for a certificate that was not issued here', async () => {
    const client = acme.client();
    const leaf = leafOf((await acme.obtain(client, 'localhost')).certificate);
    const elsewhere = await acme.pki.call('GET', 'ca');
    const revoke = (body: object) => client.post('revoke-cert', body);
    for (const [body, status, type] of [
      [{ certificate: 'AAAA' }, 400, 'malformed'],
      [{ certificate: `${toText(leaf)}=` }, 400, 'malformed'],
      [{ certificate: 5 }, 400, 'malformed'],
      [{}, 400, 'malformed'],
      [{ certificate: elsewhere.bytes.toString('base64url') }, 403, 'unauthorized'],
    ] as const)
      expect(problem(await revoke(body))).toEqual([status, type]);
    acme.pki.clock.advance(91 * 24 * 3600 * 1000);
    expect(problem(await revoke({ certificate: toText(leaf) }))).toEqual([400, 'malformed']);
  });
});

/** RFC 9773 §4.1. */
const certificateIdOf = (leaf: X509Certificate): string => {
  const { extensions } = parseCertificate(leaf.raw);
  const extension = findExtension(extensions, EXTENSION.authorityKeyIdentifier);
  const identifier = new DerReader(extension?.value ?? Buffer.alloc(0)).enter().read().content;
  const serial = Buffer.from(leaf.serialNumber, 'hex');
  const content = (serial[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), serial]) : serial;
  return `${Buffer.from(identifier).toString('base64url')}.${content.toString('base64url')}`;
};

describe('renewal information', () => {
  const windowOf = async (client: AcmeClient, id: string) => {
    const { renewalInfo } = (await client.get('directory')).json;
    const answer = await client.get(`${renewalInfo}/${id}`);
    const { start, end } = answer.json.suggestedWindow ?? {};
    return { answer, start: Date.parse(start), end: Date.parse(end) };
  };

  test('suggests the last third of the validity, and when to retry', async () => {
    const client = acme.client();
    const leaf = leafOf((await acme.obtain(client, 'localhost')).certificate);
    const { answer, start, end } = await windowOf(client, certificateIdOf(leaf));
    expect(answer.status).toBe(200);
    expect(answer.header('retry-after')).toBe('21600');
    const [from, to] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
    const share = (at: number): number => (at - from) / (to - from);
    expect([share(start), share(end)].map((value) => value.toFixed(3))).toEqual(['0.667', '0.833']);
  });

  test('is due at once for a revoked certificate', async () => {
    const client = acme.client();
    const leaf = leafOf((await acme.obtain(client, 'localhost')).certificate);
    await client.post('revoke-cert', { certificate: toText(leaf) });
    const { start, end } = await windowOf(client, certificateIdOf(leaf));
    expect(start).toBeLessThan(end);
    expect(end).toBeLessThanOrEqual(acme.pki.clock.nowMs());
  });

  test('is due at once below a revoked issuer, unless another path to a root holds', async () => {
    const { data } = await acme.post('intermediate/generate/internal', {
      common_name: 'Sub',
      key_type: 'ec',
    });
    const imported: string[] = [];
    for (let count = 0; count < 2; count++) {
      const { certificate } = (await acme.post('root/sign-intermediate', { csr: data.csr })).data;
      const { imported_issuers: ids } = (
        await acme.post('intermediate/set-signed', { certificate })
      ).data;
      imported.push(...ids);
    }
    const client = acme.client(`issuer/${imported[0]}/acme/`);
    const leaf = leafOf((await acme.obtain(client, 'localhost')).certificate);
    const isDue = async () =>
      (await windowOf(client, certificateIdOf(leaf))).end <= acme.pki.clock.nowMs();
    const seen = [await isDue()];
    for (const id of imported) {
      await acme.post(`issuer/${id}/revoke`, { reason: 'cACompromise' });
      seen.push(await isDue());
    }
    expect(seen).toEqual([false, false, true]);
  });

  test('is absent for unknown certificates and malformed names', async () => {
    const client = acme.client();
    const leaf = leafOf((await acme.obtain(client, 'localhost')).certificate);
    const [identifier = '', serial = ''] = certificateIdOf(leaf).split('.');
    for (const [id, status] of [
      [`${identifier}.AQ`, 404],
      [`AAAA.${serial}`, 404],
      [serial, 400],
      [`${identifier}.${serial}.${serial}`, 400],
      [`${identifier}.${serial}==`, 400],
      [`${identifier}.gA`, 400],
      [`${identifier}.AAE`, 400],
    ] as const)
      expect([id, problem((await windowOf(client, id)).answer)]).toEqual([
        id,
        [status, 'malformed'],
      ]);
  });

  test('an order names the certificate that it replaces, once (§5)', async () => {
    const client = acme.client();
    const { certificate } = await acme.obtain(client, 'localhost');
    const replaces = certificateIdOf(leafOf(certificate));
    const identifiers = [toIdentifier('localhost')];
    const renew = (by: AcmeClient, names = identifiers) =>
      by.post('new-order', { identifiers: names, replaces });
    const stranger = acme.client();
    await stranger.register();
    expect(problem(await renew(stranger))).toEqual([400, 'malformed']);
    expect(problem(await renew(client, [toIdentifier('127.0.0.1')]))).toEqual([400, 'malformed']);
    // Until one is finalized, another may be created, because a client may retry after an interruption.
    expect((await renew(client)).status).toBe(201);
    const order = await renew(client);
    expect(order.json.replaces).toBe(replaces);
    expect((await client.post(order.header('location') ?? '')).json.replaces).toBe(replaces);
    await acme.prove(client, order);
    await acme.settle(client, order.header('location') ?? '', ['pending']);
    const csr = await csrFor(['localhost']);
    expect((await client.post(order.json.finalize, { csr })).json.status).toBe('valid');
    expect(problem(await renew(client))).toEqual([409, 'alreadyReplaced']);
  });
});
