/** The npm package acme-client against a real process, through its public interface. */
import { X509Certificate } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { axios, Client, type ClientOptions, crypto } from 'acme-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeSite, startAcmeSite } from './acme-site.ts';

type AutoOptions = Parameters<Client['auto']>[0];
type Prove = AutoOptions['challengeCreateFn'];

let site: AcmeSite;
beforeAll(async () => {
  site = await startAcmeSite({ KEELSON_ACME_DNS_ACCOUNT_01: 'true' });
  axios.defaults.httpsAgent = new Agent({ ca: await readFile(site.caFile) });
});
afterAll(() => site?.[Symbol.asyncDispose]());

const newClient = async (prefix = '', options: Partial<ClientOptions> = {}): Promise<Client> =>
  new Client({
    directoryUrl: site.directory(prefix),
    accountKey: await crypto.createPrivateEcdsaKey(),
    backoffMin: 100,
    backoffMax: 1000,
    backoffAttempts: 100,
    ...options,
  });

const tokenFile = (token: string): string =>
  join(site.webroot, '.well-known/acme-challenge', token);

const hook = async (action: string, name: string, value: string): Promise<void> => {
  const body = JSON.stringify({ fqdn: `_acme-challenge.${name}`, value });
  await fetch(`${site.hookUrl}/${action}`, { method: 'POST', body });
};

const prove: Prove = async (authorization, challenge, keyAuthorization) => {
  const name = authorization.identifier.value;
  if (challenge.type === 'http-01') await writeFile(tokenFile(challenge.token), keyAuthorization);
  if (challenge.type === 'dns-01') await hook('present', name, keyAuthorization);
  // Its types know the challenges of RFC 8555 only.
  if (String(challenge.type) === 'tls-alpn-01') {
    const [key, certificate] = await crypto.createAlpnCertificate(authorization, keyAuthorization);
    await writeFile(join(site.alpnFolder, `${name}.key.pem`), key);
    await writeFile(join(site.alpnFolder, `${name}.crt.pem`), certificate);
  }
};

const clean: Prove = async (authorization, challenge, keyAuthorization) => {
  if (challenge.type === 'http-01') await rm(tokenFile(challenge.token));
  if (challenge.type === 'dns-01')
    await hook('cleanup', authorization.identifier.value, keyAuthorization);
};

const order = async (
  client: Client,
  altNames: string[],
  challenge: string,
  options: Partial<AutoOptions> = {},
): Promise<string> => {
  const [, csr] = await crypto.createCsr({ altNames }, await crypto.createPrivateEcdsaKey());
  return client.auto({
    csr,
    email: 'admin@example.com',
    termsOfServiceAgreed: true,
    challengePriority: [challenge],
    // It would ask the system's resolver and ports 80 and 443.
    skipChallengeVerification: true,
    challengeCreateFn: prove,
    challengeRemoveFn: clean,
    ...options,
  });
};

describe('acme-client', () => {
  test.for(['http-01', 'dns-01', 'tls-alpn-01'])('proves names by %s', async (type) => {
    const names = [`${type}.example.com`, `other.${type}.example.com`];
    const chain = await order(await newClient('roles/web/'), names, type);
    expect(await site.verify(chain)).toBe(names.map((name) => `DNS:${name}`).join(', '));
  });

  test('proves the address 127.0.0.1', async () => {
    const client = await newClient();
    await client.createAccount({ termsOfServiceAgreed: true });
    const ordered = await client.createOrder({ identifiers: [{ type: 'ip', value: '127.0.0.1' }] });
    const [authorization] = await client.getAuthorizations(ordered);
    expect(authorization?.challenges.map(({ type }) => type)).toEqual(['http-01']);
    const [challenge] = authorization?.challenges ?? [];
    if (authorization === undefined || challenge === undefined) throw new Error('no challenge');
    await prove(authorization, challenge, await client.getChallengeKeyAuthorization(challenge));
    await client.completeChallenge(challenge);
    await client.waitForValidStatus(challenge);
    const [, csr] = await crypto.createCsr(
      { altNames: ['127.0.0.1'] },
      await crypto.createPrivateEcdsaKey(),
    );
    const chain = await client.getCertificate(await client.finalizeOrder(ordered, csr));
    expect(await site.verify(chain)).toBe('IP Address:127.0.0.1');
  });

  test('registers by an external account binding where one is required', async () => {
    await site.call('POST', 'pki/config/acme', { eab_policy: 'always-required' });
    await expect(order(await newClient(), ['eab.example.com'], 'http-01')).rejects.toThrow(
      /external account binding/i,
    );
    const { kid, hmac } = await site.newBinding();
    const externalAccountBinding = { kid, hmacKey: hmac };
    const client = await newClient('', { externalAccountBinding });
    expect(await site.verify(await order(client, ['eab.example.com'], 'http-01'))).toBe(
      'DNS:eab.example.com',
    );
    await site.call('POST', 'pki/config/acme', { eab_policy: 'not-required' });
  });

  test('changes the key of its account, orders with the new one, revokes', async () => {
    const client = await newClient();
    await client.createAccount({ termsOfServiceAgreed: true, contact: ['mailto:a@example.com'] });
    const account = client.getAccountUrl();
    const newKey = await crypto.createPrivateEcdsaKey();
    await client.updateAccountKey(newKey);
    const chain = await order(client, ['rollover.example.com'], 'http-01');
    expect(client.getAccountUrl()).toBe(account);
    const again = await newClient('', { accountKey: newKey });
    await again.createAccount({ onlyReturnExisting: true });
    expect(again.getAccountUrl()).toBe(account);
    await again.revokeCertificate(chain);
    expect(await site.isRevoked(chain)).toBe(true);
  });

  test('deactivates authorizations and its account', async () => {
    const client = await newClient();
    await client.createAccount({ termsOfServiceAgreed: true });
    const ordered = await client.createOrder({
      identifiers: [{ type: 'dns', value: 'given-up.example.com' }],
    });
    const [authorization] = await client.getAuthorizations(ordered);
    if (authorization === undefined) throw new Error('no authorization');
    expect((await client.deactivateAuthorization(authorization)).status).toBe('deactivated');
    expect((await client.getOrder(ordered)).status).toBe('invalid');
    const account = await client.updateAccount({ status: 'deactivated' });
    expect(account.status).toBe('deactivated');
    await expect(
      client.createOrder({ identifiers: [{ type: 'dns', value: 'x.example.com' }] }),
    ).rejects.toThrow('deactivated');
  });

  test('sees when a certificate is to be renewed', async () => {
    const chain = await order(await newClient(), ['ari.example.com'], 'http-01');
    const leaf = new X509Certificate(chain);
    const directory = (await axios.get(site.directory())).data as { renewalInfo: string };
    const keyId = /X509v3 Authority Key Identifier:\s+(?:keyid:)?([0-9A-F:]+)/i;
    const file = join(site.folder, 'leaf.pem');
    await writeFile(file, leaf.toString());
    const text = await site.execute('openssl', 'openssl', ['x509', '-in', file, '-noout', '-text']);
    const encode = (hex: string): string =>
      Buffer.from(hex.replaceAll(':', ''), 'hex').toString('base64url');
    // RFC 9773 §4.1: the serial number with its leading zero where the first bit is set.
    const serial = /^[89A-F]/.test(leaf.serialNumber)
      ? `00${leaf.serialNumber}`
      : leaf.serialNumber;
    const id = `${encode(keyId.exec(text)?.[1] ?? '')}.${encode(serial)}`;
    const info = await axios.get(`${directory.renewalInfo}/${id}`);
    const { start, end } = (info.data as { suggestedWindow: { start: string; end: string } })
      .suggestedWindow;
    expect(Number(info.headers['retry-after'])).toBeGreaterThan(0);
    expect(Date.parse(start)).toBeGreaterThan(Date.parse(leaf.validFrom));
    expect(Date.parse(end)).toBeLessThan(Date.parse(leaf.validTo));
  });
});
