import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpenPki, openPki } from '../../test/open-pki.ts';

let folder: TemporaryDirectory;
let pki: OpenPki;
let ca: string;

const file = (name: string, content: string | Uint8Array): string => {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
};

const generateRoot = async (changes: Record<string, unknown> = {}): Promise<string> => {
  const root = { common_name: 'Keelson Root', ttl: '87600h', key_type: 'ec', ...changes };
  return (await pki.call('POST', 'root/generate/internal', root)).data.certificate;
};

beforeEach(async () => {
  folder = await temporaryDirectory();
  pki = await openPki(folder.path);
  ca = file('ca.pem', await generateRoot());
  await pki.call('POST', 'roles/web', { allow_any_name: true, key_type: 'ec', max_ttl: '720h' });
});
afterEach(async () => {
  await pki.close();
  await folder[Symbol.asyncDispose]();
});

const issue = async (role = 'web') =>
  (await pki.call('POST', `issue/${role}`, { common_name: 'a.example', ttl: '1h' })).data;

const openssl = (...args: readonly string[]): string =>
  execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });

/** A request by openssl for serial numbers under an issuer. */
const request = (
  serials: readonly string[],
  options: { readonly issuer?: string; readonly flags?: readonly string[] } = {},
): Buffer => {
  const path = join(folder.path, 'request.der');
  const { issuer = ca, flags = ['-no_nonce'] } = options;
  openssl(
    'ocsp',
    ...flags,
    '-issuer',
    issuer,
    ...serials.flatMap((serial) => ['-serial', `0x${serial.replaceAll(':', '')}`]),
    '-reqout',
    path,
  );
  return readFileSync(path);
};

const OCSP_REQUEST = { contentType: 'application/ocsp-request' };

const post = (der: Buffer) => pki.call('POST', 'ocsp', der, OCSP_REQUEST);

/** The status in an answer as openssl reads it, signature and nonce verified. */
const check = (der: Buffer, answer: Buffer, issuer = ca): string => {
  const result = spawnSync(
    'openssl',
    [
      'ocsp',
      '-reqin',
      file('request.der', der),
      '-respin',
      file('answer.der', answer),
      '-issuer',
      issuer,
      '-CAfile',
      issuer,
      '-resp_text',
    ],
    { encoding: 'utf8' },
  );
  return result.stdout + result.stderr;
};

const statusOf = async (serial: string): Promise<string> => {
  const der = request([serial]);
  const { status, bytes, headers } = await post(der);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/ocsp-response']);
  const text = check(der, bytes);
  expect(text).toContain('Response verify OK');
  return /Cert Status: (\w+)/.exec(text)?.[1] ?? '';
};

describe('status of certificates', () => {
  test('is good, then revoked, and unknown for what was never issued', async () => {
    const { serial_number: serial } = await issue();
    expect(await statusOf(serial)).toBe('good');
    expect(await statusOf(serial)).toBe('good');
    await pki.call('POST', 'revoke', { serial_number: serial });
    expect(await statusOf(serial)).toBe('revoked');
    expect(await statusOf(randomBytes(16).toString('hex'))).toBe('unknown');
  });

  test('is good for unknown numbers if a role stores no certificates', async () => {
    await pki.call('POST', 'roles/unstored', { allow_any_name: true, no_store: true });
    const { serial_number: serial, certificate } = await issue('unstored');
    expect(await statusOf(serial)).toBe('good');
    await pki.call('POST', 'revoke', { certificate });
    expect(await statusOf(serial)).toBe('revoked');
    await pki.call('DELETE', 'roles/unstored');
    expect(await statusOf('01:02:03:04')).toBe('unknown');
  });

  test.for(['sha1', 'sha256', 'sha384', 'sha512'])('is found by %s of the issuer', async (hash) => {
    const { serial_number: serial } = await issue();
    const der = request([serial], { flags: ['-no_nonce', `-${hash}`] });
    expect(check(der, (await post(der)).bytes)).toContain('Cert Status: good');
  });

  test.for([
    ['rsa', {}],
    ['rsa', { use_pss: true }],
    ['ec', { key_bits: 384 }],
    ['ed25519', {}],
  ] as const)('is signed by a key of type %s with %o', async ([key_type, more]) => {
    const root = await generateRoot({ key_type, ...more, issuer_name: 'other' });
    const other = file('other.pem', root);
    const issued = await pki.call('POST', 'issuer/other/issue/web', { common_name: 'b.example' });
    const der = request([issued.data.serial_number], { issuer: other });
    const text = check(der, (await post(der)).bytes, other);
    expect(text).toContain('Response verify OK');
    expect(text).toContain('Cert Status: good');
  });

  test('is unknown under another issuer of the mount', async () => {
    const other = file('other.pem', await generateRoot({ common_name: 'Other' }));
    const { serial_number: serial } = await issue();
    const der = request([serial], { issuer: other });
    const text = check(der, (await post(der)).bytes, other);
    expect(text).toContain('Cert Status: unknown');
  });
});

describe('requests', () => {
  test('for several certificates have one answer', async () => {
    const [first, second] = [await issue(), await issue()];
    await pki.call('POST', 'revoke', { serial_number: second.serial_number });
    const der = request([first.serial_number, second.serial_number, '0a:0b']);
    const text = check(der, (await post(der)).bytes);
    expect([...text.matchAll(/Cert Status: (\w+)/g)].map(([, status]) => status)).toEqual([
      'good',
      'revoked',
      'unknown',
    ]);
  });

  test('have their nonce repeated', async () => {
    const { serial_number: serial } = await issue();
    const der = request([serial], { flags: ['-nonce'] });
    const text = check(der, (await post(der)).bytes);
    expect(text).toContain('OCSP Nonce');
    expect(text).not.toContain('no nonce in response');
    expect(text).toContain('Response verify OK');
  });

  test('may be sent in the path too', async () => {
    const { serial_number: serial } = await issue();
    const der = request([serial]);
    for (const encoded of [
      der.toString('base64'),
      encodeURIComponent(der.toString('base64')),
      der.toString('base64url'),
    ]) {
      const answer = await pki.call('GET', `ocsp/${encoded}`);
      expect(check(der, answer.bytes)).toContain('Cert Status: good');
    }
  });

  test('get the same signed bytes until something changes or half of their validity has passed', async () => {
    const { serial_number: serial } = await issue();
    const der = request([serial]);
    const digest = async () =>
      createHash('sha256')
        .update((await post(der)).bytes)
        .digest('hex');
    const first = await digest();
    pki.clock.advance(3_600_000);
    expect(await digest()).toBe(first);
    pki.clock.advance(6 * 3_600_000);
    const second = await digest();
    expect(second).not.toBe(first);
    await pki.call('POST', 'config/crl', { ocsp_expiry: '1h' });
    expect(await digest()).not.toBe(second);
    await pki.call('POST', 'config/crl', { ocsp_expiry: '0s' });
    expect(check(der, (await post(der)).bytes)).not.toContain('Next Update');
  });

  test('by GET have answers that proxies may store (RFC 5019 §6)', async () => {
    const { serial_number: serial } = await issue();
    const encodedRequest = (flags: readonly string[]) =>
      encodeURIComponent(request([serial], { flags }).toString('base64'));
    const path = `ocsp/${encodedRequest(['-no_nonce'])}`;
    const get = (headers: Readonly<Record<string, string>> = {}) =>
      pki.call('GET', path, undefined, { headers });
    await get();
    pki.clock.advance(1000);
    const { status, headers } = await get();
    const etag = headers.get('etag') ?? '';
    expect([status, headers.get('cache-control'), headers.get('last-modified')]).toEqual([
      200,
      'max-age=300, public, no-transform, must-revalidate',
      new Date(pki.clock.nowMs()).toUTCString(),
    ]);
    const known = await get({ 'if-none-match': etag });
    expect([known.status, known.bytes.byteLength]).toEqual([304, 0]);
    await pki.call('POST', 'revoke', { serial_number: serial });
    expect((await get({ 'if-none-match': etag })).status).toBe(200);
    const nonced = await pki.call('GET', `ocsp/${encodedRequest(['-nonce'])}`);
    const posted = await post(request([serial]));
    for (const answer of [nonced, posted])
      expect([answer.headers.get('cache-control'), answer.headers.get('etag')]).toEqual([
        undefined,
        undefined,
      ]);
  });

  test('get another answer if theirs was signed while the clock was ahead', async () => {
    const { serial_number: serial } = await issue();
    const der = request([serial]);
    const answer = async () => (await post(der)).bytes.toString('hex');
    pki.clock.advance(30 * 60_000);
    const ahead = await answer();
    pki.clock.advance(-59_000);
    expect(await answer()).toBe(ahead);
    pki.clock.advance(-2_000);
    expect(await answer()).not.toBe(ahead);
  });

  test('with a critical extension other than the nonce are refused (RFC 6960 §4.4)', async () => {
    const { serial_number: serial } = await issue();
    const nonced = request([serial], { flags: ['-nonce'] });
    const nonceId = Buffer.from('06092b0601050507300102', 'hex');
    const at = nonced.indexOf(nonceId);
    const unknown = Buffer.from(nonced);
    // The last arc of the object identifier: id-pkix-ocsp-response becomes one that nobody knows.
    unknown[at + nonceId.byteLength - 1] = 0x7f;
    expect((await post(unknown)).status).toBe(200);
    // 01 01 ff is the flag; the lengths around it grow by its octets.
    const critical = Buffer.concat([
      unknown.subarray(0, at + nonceId.byteLength),
      Buffer.from('0101ff', 'hex'),
      unknown.subarray(at + nonceId.byteLength),
    ]);
    for (const before of [1, at - 1, at - 3, at - 5, 3])
      critical[before] = (critical[before] ?? 0) + 3;
    const { status, bytes } = await post(critical);
    expect([status, bytes.toString('hex')]).toEqual([400, '30030a0101']);
    const understood = Buffer.from(critical);
    understood[at + nonceId.byteLength - 1] = 0x02;
    expect((await post(understood)).status).toBe(200);
  });

  test('that are malformed get an error response', async () => {
    const answers = [
      await post(Buffer.from('no')),
      await post(Buffer.alloc(0)),
      await post(Buffer.alloc(100_000)),
      await pki.call('GET', 'ocsp/%%%'.replaceAll('%', '!')),
      await pki.call('GET', `ocsp/${'A'.repeat(3000)}`),
    ];
    for (const { status, bytes } of answers)
      expect([status, bytes.toString('hex')]).toEqual([400, '30030a0101']);
  });

  test('are refused if OCSP is off or no issuer may sign', async () => {
    const { serial_number: serial } = await issue();
    const der = request([serial]);
    const isRefused = async (path = 'ocsp') => {
      const { status, bytes } = await pki.call('POST', path, der, OCSP_REQUEST);
      expect([status, bytes.toString('hex')]).toEqual([401, '30030a0106']);
    };
    await isRefused('unified-ocsp');
    await pki.call('POST', 'config/crl', { ocsp_disable: true });
    await isRefused();
    await pki.call('POST', 'config/crl', { ocsp_disable: false, unified_crl: true });
    expect((await pki.call('POST', 'unified-ocsp', der, OCSP_REQUEST)).status).toBe(200);
    await pki.call(
      'PATCH',
      'issuer/default',
      { usage: 'issuing-certificates,crl-signing' },
      { contentType: 'application/merge-patch+json' },
    );
    await isRefused();
  });
});
