import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { parseCrl, toSerialHex } from '@keelson/x509';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpenPki, openPki } from '../../test/open-pki.ts';

let folder: TemporaryDirectory;
let pki: OpenPki;

beforeEach(async () => {
  folder = await temporaryDirectory();
  pki = await openPki(folder.path);
  await pki.call('POST', 'root/generate/internal', {
    common_name: 'Keelson Root',
    ttl: '87600h',
    key_type: 'ec',
    issuer_name: 'root',
  });
  await pki.call('POST', 'roles/web', { allow_any_name: true, key_type: 'ec', max_ttl: '720h' });
});
afterEach(async () => {
  await pki.close();
  await folder[Symbol.asyncDispose]();
});

const file = (name: string, content: string): string => {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
};

const openssl = (...args: readonly string[]): string =>
  execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });

const issue = async (body: Record<string, unknown> = {}) =>
  (await pki.call('POST', 'issue/web', { common_name: 'a.example', ttl: '1h', ...body })).data;

const listed = async (issuer = 'root'): Promise<readonly string[]> =>
  parseCrl((await pki.call('GET', `issuer/${issuer}/crl/der`)).bytes).entries.map((entry) =>
    toSerialHex(entry.serialNumber),
  );

describe('the reason of a revocation', () => {
  test.for([
    ['keyCompromise', 'Key Compromise'],
    ['cACompromise', 'CA Compromise'],
    ['affiliationChanged', 'Affiliation Changed'],
    ['superseded', 'Superseded'],
    ['cessationOfOperation', 'Cessation Of Operation'],
    ['privilegeWithdrawn', 'Privilege Withdrawn'],
    ['unspecified', undefined],
    [undefined, undefined],
  ] as const)('%s is on the CRL as %s', async ([reason, words]) => {
    const { serial_number } = await issue();
    const revoked = await pki.call('POST', 'revoke', { serial_number, reason });
    expect(revoked.data).toMatchObject({ state: 'revoked' });
    const { bytes } = await pki.call('GET', 'crl/pem');
    const text = openssl('crl', '-noout', '-text', '-in', file('crl.pem', bytes.toString()));
    expect(/CRL Reason Code:\s+([\w ]+?)\s*$/m.exec(text)?.[1]).toBe(words);
  });

  test.for(['certificateHold', 'removeFromCRL', 'toString', '1', ''])(
    '"%s" is refused and nothing revoked',
    async (reason) => {
      const { serial_number } = await issue();
      const refused = await pki.call('POST', 'revoke', { serial_number, reason });
      expect([refused.status, refused.json.errors[0]]).toEqual([
        400,
        expect.stringContaining('it must be one of unspecified, keyCompromise'),
      ]);
      expect(await listed()).toEqual([]);
    },
  );
});

describe('revoking with the key of the certificate', () => {
  test('accepts the key in every form that openssl writes', async () => {
    const forms: readonly ((key: string) => string)[] = [
      (key) => key,
      (key) => openssl('pkcs8', '-topk8', '-nocrypt', '-in', file('key.pem', key)),
    ];
    for (const toForm of forms) {
      const { serial_number, private_key } = await issue();
      const body = { serial_number, private_key: toForm(private_key) };
      const revoked = await pki.call('POST', 'revoke-with-key', body);
      expect(revoked.data).toMatchObject({ state: 'revoked' });
      expect(await listed()).toContain(serial_number);
    }
  });

  test('accepts the certificate instead of its number, but not both', async () => {
    const { serial_number, certificate, private_key } = await issue();
    const revoke = (body: object) => pki.call('POST', 'revoke-with-key', { private_key, ...body });
    const refused = [await revoke({}), await revoke({ serial_number, certificate })];
    expect(refused.map(({ status, json }) => [status, json.errors[0]])).toEqual([
      [400, 'The serial number or certificate to revoke must be provided.'],
      [400, 'Must provide either the certificate or the serial to revoke; not both.'],
    ]);
    expect(await listed()).toEqual([]);
    const { status, data } = await revoke({ certificate });
    expect([status, data.revocation_time]).toEqual([200, pki.clock.nowMs() / 1000]);
    expect(await listed()).toEqual([serial_number]);
  });

  test('takes one request for each certificate of the key', async () => {
    const { private_key } = await issue();
    const csr = openssl(
      'req',
      '-new',
      '-key',
      file('again.key', private_key),
      '-subj',
      '/CN=a.example',
    );
    const sign = async () => (await pki.call('POST', 'sign/web', { csr, ttl: '1h' })).data;
    const [one, other] = [await sign(), await sign()];
    const { serial_number } = one;
    await pki.call('POST', 'revoke-with-key', { serial_number, private_key });
    expect(await listed()).toEqual([serial_number]);
    await pki.call('POST', 'revoke-with-key', {
      serial_number: other.serial_number,
      private_key,
    });
    expect(new Set(await listed())).toEqual(new Set([serial_number, other.serial_number]));
  });

  test('refuses a key that only carries the public part of the certificate', async () => {
    const { serial_number, certificate } = await issue();
    const own = (await issue()).private_key;
    const pointOf = (pem: string) =>
      createPublicKey(pem).export({ type: 'spki', format: 'der' }).subarray(-65);
    const forged = createPrivateKey(own).export({ type: 'sec1', format: 'der' });
    pointOf(certificate).copy(forged, forged.indexOf(pointOf(own)));
    const private_key = `-----BEGIN EC PRIVATE KEY-----\n${forged.toString('base64')}\n-----END EC PRIVATE KEY-----\n`;
    // OpenSSL takes it for the key of the certificate.
    expect(pointOf(private_key).equals(pointOf(certificate))).toBe(true);
    const answer = await pki.call('POST', 'revoke-with-key', { serial_number, private_key });
    expect([answer.status, answer.json.errors]).toEqual([
      400,
      ['provided key PEM block contained no data or failed to parse'],
    ]);
    expect(await listed()).toEqual([]);
  });

  test('refuses a missing, different or invalid key, and revokes nothing', async () => {
    const [issued, other] = [await issue(), await issue()];
    const rsaKey = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    }).privateKey;
    const cases = [
      [{}, 'Must have private key to revoke via the /revoke-with-key path.'],
      [{ private_key: '/etc/key.pem' }, 'Provided data for private_key was too short'],
      [{ private_key: 'x'.repeat(100) }, 'provided key PEM block contained no data'],
      [{ private_key: other.private_key }, "key does not match certificate's public key"],
      [{ private_key: rsaKey }, "type does not match certificate's public key type"],
    ] as const;
    for (const [body, text] of cases) {
      const { serial_number } = issued;
      const refused = await pki.call('POST', 'revoke-with-key', { serial_number, ...body });
      expect([refused.status, refused.json.errors[0]]).toEqual([
        400,
        expect.stringContaining(text),
      ]);
    }
    expect((await pki.call('LIST', 'certs/revoked')).status).toBe(404);
  });
});

describe('revoking', () => {
  test('requires one certificate, named in one way', async () => {
    const { serial_number, certificate } = await issue();
    const refusal = async (body: unknown): Promise<string> =>
      (await pki.call('POST', 'revoke', body)).json.errors[0];
    expect(await refusal({})).toBe('The serial number or certificate to revoke must be provided.');
    expect(await refusal({ serial_number: '' })).toBe('The serial number must be provided');
    expect(await refusal({ serial_number, certificate })).toBe(
      'Must provide either the certificate or the serial to revoke; not both.',
    );
    expect(await refusal({ serial_number: '0a:0b' })).toBe(
      'certificate with serial 0a:0b not found.',
    );
    const stranger = openssl(
      ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 9'.split(' '),
      '-subj',
      '/CN=Keelson Root',
      '-keyout',
      join(folder.path, 'stranger.key'),
    );
    expect(await refusal({ certificate: stranger })).toContain('unable to verify signature');
    expect((await pki.call('LIST', 'certs/revoked')).status).toBe(404);
  });

  test('only warns about an expired certificate, unless the settings allow it', async () => {
    const { serial_number } = await issue();
    pki.clock.advance(7_200_000);
    const warned = await pki.call('POST', 'revoke', { serial_number });
    expect([warned.status, warned.data]).toEqual([200, null]);
    expect(warned.json.warnings[0]).toContain('already expired');
    await pki.call('POST', 'config/crl', { allow_expired_cert_revocation: true });
    await pki.call('POST', 'revoke', { serial_number });
    expect(await listed()).toEqual([serial_number]);
  });

  test('accepts the serial number with hyphens, and never that of an issuer', async () => {
    const { serial_number } = await issue();
    const hyphens = serial_number.replaceAll(':', '-').toUpperCase();
    expect((await pki.call('POST', 'revoke', { serial_number: hyphens })).status).toBe(200);
    expect(await listed()).toEqual([serial_number]);
    const [root] = Object.values<{ serial_number: string }>(
      (await pki.call('LIST', 'issuers')).data.key_info,
    );
    const refused = await pki.call('POST', 'revoke', { serial_number: root?.serial_number });
    expect(refused.json.errors[0]).toContain('to its own CRL is not allowed');
  });

  test('refuses an issuer, however it is named and whoever signed it', async () => {
    const { data: exported } = await pki.call('POST', 'root/generate/exported', {
      common_name: 'Exported',
      ttl: '87600h',
      key_type: 'ec',
    });
    const { csr } = (
      await pki.call('POST', 'intermediate/generate/internal', { common_name: 'I', key_type: 'ec' })
    ).data;
    const { data: signed } = await pki.call('POST', 'root/sign-intermediate', { csr, ttl: '1h' });
    const { certificate } = signed;
    await pki.call('POST', 'intermediate/set-signed', { certificate });
    const { private_key } = exported;
    for (const [path, body] of [
      ['revoke', { serial_number: signed.serial_number }],
      ['revoke', { certificate }],
      ['revoke', { certificate: exported.certificate }],
      ['revoke-with-key', { serial_number: exported.serial_number, private_key }],
      ['revoke-with-key', { certificate: exported.certificate, private_key }],
    ] as const) {
      const { status, json } = await pki.call('POST', path, body);
      expect([status, json.errors?.[0]]).toEqual([
        400,
        expect.stringContaining('to its own CRL is not allowed'),
      ]);
    }
    expect((await pki.call('LIST', 'certs/revoked')).status).toBe(404);
  });

  test('returns the time of the first call in whole seconds each time', async () => {
    const { serial_number } = await issue();
    const first = pki.clock.nowMs() / 1000;
    expect((await pki.call('POST', 'revoke', { serial_number })).data.revocation_time).toBe(first);
    pki.clock.advance(61_500);
    const again = await pki.call('POST', 'revoke', { serial_number });
    expect([again.status, again.data.revocation_time]).toEqual([200, first]);
  });

  test('shows up in the CRL of all clusters if there is one', async () => {
    const { serial_number } = await issue();
    await pki.call('POST', 'revoke', { serial_number });
    expect((await pki.call('LIST', 'certs/unified-revoked')).status).toBe(404);
    expect((await pki.call('LIST', 'certs/revocation-queue')).status).toBe(404);
    await pki.call('POST', 'config/crl', { unified_crl: true });
    expect((await pki.call('LIST', 'certs/unified-revoked')).data.keys).toEqual([serial_number]);
  });
});

describe('CRLs of equal issuers and of their parents', () => {
  const intermediate = async (): Promise<string> => {
    const csr = await pki.call('POST', 'intermediate/generate/internal', {
      common_name: 'Keelson Intermediate',
      key_type: 'ec',
    });
    const signed = await pki.call('POST', 'root/sign-intermediate', {
      csr: csr.data.csr,
      common_name: 'Keelson Intermediate',
      ttl: '8760h',
    });
    await pki.call('POST', 'intermediate/set-signed', { certificate: signed.data.certificate });
    return signed.data.serial_number;
  };
  const idOf = async (serial: string): Promise<string> => {
    const info: Record<string, { serial_number: string }> = (await pki.call('LIST', 'issuers')).data
      .key_info;
    return Object.entries(info).find(([, one]) => one.serial_number === serial)?.[0] ?? '';
  };

  test('a revoked issuer is on its parent’s CRL and not on its own', async () => {
    const serial = await intermediate();
    const id = await idOf(serial);
    await pki.call('POST', `issuer/${id}/revoke`);
    expect(await listed('root')).toEqual([serial]);
    expect(await listed(id)).toEqual([]);
    await pki.call('POST', 'issuer/root/revoke');
    expect(await listed('root')).toEqual([serial]);
  });

  test('each contain the certificates of their issuer; two with one name and key share a CRL', async () => {
    const [first, second] = [await idOf(await intermediate()), await intermediate()];
    const underRoot = await issue();
    const { data } = await pki.call('POST', `issuer/${first}/issue/web`, {
      common_name: 'b.example',
    });
    for (const serial_number of [underRoot.serial_number, data.serial_number])
      await pki.call('POST', 'revoke', { serial_number });
    expect(await listed('root')).toEqual([underRoot.serial_number]);
    expect(await listed(first)).toEqual([data.serial_number]);
    expect(await listed(await idOf(second))).toEqual([]);

    const again = await pki.call('POST', 'root/sign-self-issued', {
      certificate: (await pki.call('GET', 'issuer/root/pem')).bytes.toString(),
    });
    expect(again.status).toBe(200);
    await pki.call('POST', 'issuers/import/cert', { pem_bundle: again.data.certificate });
    await pki.call('GET', 'crl/rotate');
    const bytes = (await pki.call('GET', 'crl')).bytes;
    const roots: Buffer[] = [];
    for (const id of (await pki.call('LIST', 'issuers')).data.keys as string[]) {
      const read = (await pki.call('GET', `issuer/${id}/json`)).data.certificate;
      if (openssl('x509', '-noout', '-subject', '-in', file('i.pem', read)).includes('Root'))
        roots.push((await pki.call('GET', `issuer/${id}/crl/der`)).bytes);
    }
    expect(roots).toEqual([bytes, bytes]);
  });
});

describe('the default issuer', () => {
  test('lists revoked certificates of unknown issuers on its CRL', async () => {
    const { serial_number } = await issue();
    await pki.call('POST', 'revoke', { serial_number });
    for (const name of ['second', 'third'])
      await pki.call('POST', 'root/generate/internal', { common_name: name, issuer_name: name });
    await pki.call('POST', 'config/issuers', { default: 'second' });
    await pki.call('DELETE', 'issuer/root');
    await pki.call('GET', 'crl/rotate');
    expect([await listed('second'), await listed('third')]).toEqual([[serial_number], []]);
    await pki.call('POST', 'config/issuers', { default: 'third' });
    expect([await listed('second'), await listed('third')]).toEqual([[], [serial_number]]);
  });
});

describe('fetching a certificate', () => {
  test('returns it raw, in PEM and as JSON, and nothing if there is none', async () => {
    const { serial_number, certificate } = await issue();
    const der = await pki.call('GET', `cert/${serial_number}/raw`);
    expect(der.headers.get('content-type')).toBe('application/pkix-cert');
    const path = file('leaf.pem', certificate);
    expect(openssl('x509', '-in', path, '-outform', 'PEM').trim()).toBe(certificate);
    const pem = await pki.call('GET', `cert/${serial_number}/raw/pem`);
    expect([pem.headers.get('content-type'), pem.bytes.toString()]).toEqual([
      'application/pem-certificate-chain',
      certificate,
    ]);
    const batch = await pki.call('POST', 'batch/certs', { serial_numbers: [serial_number, '0a'] });
    expect(batch.data.certificates).toEqual({ [serial_number]: certificate, '0a': null });
    expect((await pki.call('GET', 'cert/0a:0b/raw')).status).toBe(204);
    expect((await pki.call('GET', 'cert/0a:0b')).status).toBe(404);
  });
});
