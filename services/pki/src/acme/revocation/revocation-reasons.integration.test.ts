/** Reasons of revocation (RFC 8555 §7.6), as openssl reads them from lists and answers. */
import { execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AcmeClient, csrFor, newAccountKey } from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';

let acme: OpenAcme;
let folder: TemporaryDirectory;
beforeAll(async () => {
  [acme, folder] = await Promise.all([openAcme(), temporaryDirectory()]);
}, 60_000);
afterAll(async () => {
  await acme.close();
  await folder[Symbol.asyncDispose]();
});

const file = (name: string, content: string | Uint8Array): string => {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
};

/** Reasons on a CRL by serial number; "" for an entry without one. */
const reasonsOn = async (path: string): Promise<Readonly<Record<string, string>>> => {
  const der = file('list.der', (await acme.pki.call('GET', path)).bytes);
  const args = ['crl', '-inform', 'DER', '-in', der, '-noout', '-text'];
  const text = execFileSync('openssl', args, { encoding: 'utf8' });
  const entries = text.split('Serial Number: ').slice(1);
  return Object.fromEntries(
    entries.map((entry) => [
      /^\w+/.exec(entry)?.[0],
      /CRL Reason Code:\s+([\w ]+?)\s*$/m.exec(entry)?.[1] ?? '',
    ]),
  );
};

/** Status and reason in an OCSP answer, its signature verified. */
const ocspOf = async (leaf: X509Certificate): Promise<readonly (string | undefined)[]> => {
  const ca = file('ca.pem', (await acme.pki.call('GET', 'ca/pem')).bytes);
  const request = join(folder.path, 'request.der');
  const asked = ['-no_nonce', '-issuer', ca, '-serial', `0x${leaf.serialNumber}`];
  execFileSync('openssl', ['ocsp', ...asked, '-reqout', request], { stdio: 'pipe' });
  const options = { contentType: 'application/ocsp-request' };
  const { bytes } = await acme.pki.call('POST', 'ocsp', readFileSync(request), options);
  const answered = ['-reqin', request, '-respin', file('answer.der', bytes)];
  const { stdout, stderr } = spawnSync(
    'openssl',
    ['ocsp', ...answered, '-issuer', ca, '-CAfile', ca, '-resp_text'],
    { encoding: 'utf8' },
  );
  expect(stderr).toContain('Response verify OK');
  return [/Cert Status: (\w+)/.exec(stdout)?.[1], /Revocation Reason: (\w+)/.exec(stdout)?.[1]];
};

const leafOf = async (client: AcmeClient): Promise<X509Certificate> =>
  new X509Certificate((await acme.obtain(client, 'localhost')).certificate.bytes);

const revoke = (client: AcmeClient, leaf: X509Certificate, reason?: unknown) =>
  client.post('revoke-cert', {
    certificate: leaf.raw.toString('base64url'),
    ...(reason !== undefined && { reason }),
  });

describe('a reason', () => {
  test.for([
    [undefined, '', undefined],
    [null, '', undefined],
    // RFC 5280 §5.3.1: an entry omits the reason `unspecified`.
    [0, '', undefined],
    [1, 'Key Compromise', 'keyCompromise'],
    [3, 'Affiliation Changed', 'affiliationChanged'],
    [4, 'Superseded', 'superseded'],
    [5, 'Cessation Of Operation', 'cessationOfOperation'],
  ] as const)(
    '%s given by the account is shown by CRL and OCSP',
    async ([reason, listed, told]) => {
      const client = acme.client();
      const leaf = await leafOf(client);
      expect((await revoke(client, leaf, reason)).status).toBe(200);
      expect(await reasonsOn('crl')).toMatchObject({ [leaf.serialNumber]: listed });
      expect(await ocspOf(leaf)).toEqual(['revoked', told]);
    },
  );

  test.for([2, 6, 7, 8, 9, 10, 11, -1, 1.5, '1', [1]])('%s is refused', async (reason) => {
    const client = acme.client();
    const leaf = await leafOf(client);
    const { status, json } = await revoke(client, leaf, reason);
    expect([status, json.type]).toEqual([400, 'urn:ietf:params:acme:error:badRevocationReason']);
    expect(json.detail).toContain('0, 1, 3, 4, 5');
    expect(await ocspOf(leaf)).toEqual(['good', undefined]);
  });

  test('is keyCompromise for a request signed with the key of the certificate', async () => {
    for (const reason of [undefined, 4]) {
      const client = acme.client();
      await client.register();
      const order = await client.order('localhost');
      await acme.prove(client, order);
      await acme.settle(client, order.header('location') ?? '', ['pending']);
      const key = newAccountKey('ES384');
      const pair = { privateKey: key.privateKey, publicKey: key.privateKey };
      const { json } = await client.post(order.json.finalize, {
        csr: await csrFor(['localhost'], { key: pair }),
      });
      const leaf = new X509Certificate((await client.post(json.certificate)).bytes);
      const holder = new AcmeClient(acme.pki, 'acme/', key);
      expect((await revoke(holder, leaf, reason)).status).toBe(200);
      expect(await reasonsOn('crl')).toMatchObject({ [leaf.serialNumber]: 'Key Compromise' });
      expect(await ocspOf(leaf)).toEqual(['revoked', 'keyCompromise']);
    }
  });

  test('is replaced by a compromise that is found later, in CRLs and answers signed before', async () => {
    const client = acme.client();
    const leaf = await leafOf(client);
    expect((await revoke(client, leaf, 4)).status).toBe(200);
    expect(await ocspOf(leaf)).toEqual(['revoked', 'superseded']);
    expect((await revoke(client, leaf, 5)).json.type).toMatch(/:alreadyRevoked$/);
    expect((await revoke(client, leaf, 1)).status).toBe(200);
    expect(await reasonsOn('crl')).toMatchObject({ [leaf.serialNumber]: 'Key Compromise' });
    expect(await ocspOf(leaf)).toEqual(['revoked', 'keyCompromise']);
    const { raw } = leaf;
    const certificate = `-----BEGIN CERTIFICATE-----\n${raw.toString('base64')}\n-----END CERTIFICATE-----\n`;
    expect((await acme.pki.call('POST', 'revoke', { certificate })).status).toBe(200);
    expect(await ocspOf(leaf)).toEqual(['revoked', 'keyCompromise']);
  });
});

test('is in delta CRLs and in the CRLs of all clusters too', async () => {
  const client = acme.client();
  await acme.post('config/crl', { auto_rebuild: true, enable_delta: true, unified_crl: true });
  await acme.pki.call('GET', 'crl/rotate');
  const [said, unsaid] = [await leafOf(client), await leafOf(client)];
  // The complete CRL has another reason.
  const found = await leafOf(client);
  await revoke(client, found, 4);
  await acme.pki.call('GET', 'crl/rotate');
  await revoke(client, said, 5);
  await revoke(client, unsaid);
  await revoke(client, found, 1);
  const expected = {
    [said.serialNumber]: 'Cessation Of Operation',
    [unsaid.serialNumber]: '',
    [found.serialNumber]: 'Key Compromise',
  };
  await acme.pki.call('GET', 'crl/rotate-delta');
  expect(await reasonsOn('crl/delta')).toEqual(expected);
  expect(await reasonsOn('unified-crl/delta')).toEqual(expected);
  await acme.pki.call('GET', 'crl/rotate');
  expect(await reasonsOn('crl')).toMatchObject(expected);
  expect(await reasonsOn('unified-crl')).toMatchObject(expected);
});
