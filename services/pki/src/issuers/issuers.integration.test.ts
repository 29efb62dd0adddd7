/** Issuers of a mount: import, chains to a root, and settings. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  leafRole,
  MERGE_PATCH,
  type Mounts,
  openMounts,
  other,
  third,
} from '../../test/open-mounts.ts';

let mounts: Mounts;

beforeEach(async () => {
  mounts = await openMounts();
});
afterEach(() => mounts.close());

describe('import', () => {
  test('reads keys of every form and chains in any order', async () => {
    const { file, openssl, verifies, post, leafOf } = mounts;
    const made = (
      await post('root/generate/exported', {
        common_name: 'Kept',
        key_type: 'rsa',
        private_key_format: 'pkcs8',
      })
    ).data;
    const pkcs8 = file('k.pem', made.private_key);
    const pkcs1 = openssl('rsa', '-in', pkcs8, '-traditional');
    expect(pkcs1).toContain('BEGIN RSA PRIVATE KEY');
    const bundle = `some text\n${pkcs1}\nmore text\n${made.certificate}\n`;
    const imported = (await post('config/ca', { pem_bundle: bundle }, other)).data;
    expect(imported).toMatchObject({ existing_issuers: null, existing_keys: null });
    const again = (await post('issuers/import/bundle', { pem_bundle: made.private_key }, other))
      .data;
    expect(again.existing_keys).toEqual(imported.imported_keys);
    const leaf = (await leafOf()).data;
    expect(verifies(made.certificate, [], leaf.certificate)).toBe(true);
  });

  test('links a certificate to a key that was imported earlier or later', async () => {
    const { pki, post, leafOf } = mounts;
    const made = (await post('root/generate/exported', { common_name: 'Kept', key_type: 'ec' }))
      .data;
    expect(made.private_key).toContain('EC PRIVATE KEY');
    const withParameters = `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${made.private_key}`;
    const first = await post('issuers/import/cert', { pem_bundle: made.certificate }, other);
    const id = first.data.imported_issuers[0];
    expect(first.data.mapping).toEqual({ [id]: '' });
    const defaults = async () =>
      (await pki.call('GET', 'config/issuers', undefined, { mount: other })).data;
    expect((await defaults()).default).toBe('');
    const key = await post('keys/import', { pem_bundle: withParameters, key_name: 'kept' }, other);
    expect(key.data).toMatchObject({ key_name: 'kept', key_type: 'ec' });
    expect((await defaults()).default).toBe(id);
    expect((await leafOf()).status).toBe(200);
    const twice = await post(
      'keys/import',
      { pem_bundle: made.private_key, key_name: 'new' },
      other,
    );
    expect(twice.data.key_name).toBe('kept');
    expect(twice.json.warnings).toEqual([
      'Key already imported, use key/ endpoint to update name.',
    ]);
    await post('keys/import', { pem_bundle: made.private_key }, third);
    const later = await post('issuers/import/cert', { pem_bundle: made.certificate }, third);
    expect(Object.values(later.data.mapping)[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('reports what is wrong', async () => {
    const { pki, refusal, root, leafOf } = mounts;
    const made = await root();
    const leaf = (await leafOf({}, pki.mount)).data;
    const garbage = `-----BEGIN CERTIFICATE-----\n${'A'.repeat(80)}\n-----END CERTIFICATE-----`;
    const cases: readonly (readonly [string, object, string])[] = [
      ['config/ca', {}, "'certificate' and 'pem_bundle' parameters were empty"],
      [
        'config/ca',
        { pem_bundle: 'x', certificate: 'y' },
        "'certificate' and 'pem_bundle' parameters were both provided",
      ],
      ['config/ca', { pem_bundle: '/etc/ca.pem' }, 'perhaps a path was passed'],
      [
        'config/ca',
        { pem_bundle: 'x'.repeat(100) },
        'error when parsing block 1: invalid PEM data',
      ],
      [
        'config/ca',
        { pem_bundle: `${made.certificate}\n-----BEGIN X-----` },
        'error when parsing block 2',
      ],
      ['config/ca', { pem_bundle: garbage }, 'Error parsing issuer 0'],
      [
        'config/ca',
        { pem_bundle: leaf.certificate },
        'Error parsing issuer 0: Refusing to import non-CA certificate',
      ],
      [
        'config/ca',
        { pem_bundle: garbage.replaceAll('CERTIFICATE', 'PRIVATE KEY') },
        'Error parsing key 0',
      ],
      ['issuers/import/cert', { pem_bundle: leaf.private_key }, 'use /issuers/import/bundle'],
      ['keys/import', { pem_bundle: made.certificate }, 'only a single key can be present'],
      [
        'keys/import',
        { pem_bundle: `${leaf.private_key}\n${leaf.private_key}` },
        'only a single key',
      ],
    ];
    for (const [path, body, text] of cases) expect(await refusal(path, body)).toContain(text);
  });

  test('makes the latest issuer the default only if it is unambiguous', async () => {
    const { pki, post, root } = mounts;
    const [one, two, three] = await Promise.all(
      ['One', 'Two', 'Three'].map(async (common_name) => {
        const { data } = await post(
          'root/generate/exported',
          { common_name, key_type: 'ec' },
          third,
        );
        return `${data.private_key}\n${data.certificate}`;
      }),
    );
    const first = (await post('config/ca', { pem_bundle: one })).data.imported_issuers[0];
    await post('config/issuers', { default: first, default_follows_latest_issuer: true });
    const both = await post('config/ca', { pem_bundle: `${two}\n${three}` });
    expect(both.json.warnings[0]).toContain('more than one issuer');
    expect((await pki.call('GET', 'config/issuers')).data.default).toBe(first);
    const { issuer_id: latest } = await root('Four');
    expect((await pki.call('GET', 'config/issuers')).data.default).toBe(latest);
  });
});

describe('references', () => {
  test.for(['my issuer', '-x', 'x/y', 'é', '.'])('may not have a name like %j', async (name) => {
    const { refusal, root } = mounts;
    const { issuer_id, key_id } = await root();
    const issuer = 'issuer name contained invalid characters';
    const key = 'key name contained invalid characters';
    const made = { common_name: 'Next', key_type: 'ec' };
    expect(await refusal('root/generate/internal', { ...made, issuer_name: name })).toBe(issuer);
    expect(await refusal(`issuer/${issuer_id}`, { issuer_name: name })).toBe(issuer);
    expect(await refusal('root/generate/internal', { ...made, key_name: name })).toBe(key);
    for (const path of ['intermediate/generate/internal', 'keys/generate/internal', 'keys/import'])
      expect(await refusal(path, { ...made, key_name: name })).toBe(key);
    expect(await refusal(`key/${key_id}`, { key_name: name })).toBe(key);
  });

  test('to nothing are refused as defaults, and cause warnings in roles', async () => {
    const { refusal, post, root } = mounts;
    await root();
    for (const path of ['config/issuers', 'config/keys'])
      expect(await refusal(path, { default: 'nobody' })).toContain(
        'Error resolving issuer reference: ',
      );
    const role = await post('roles/early', { ...leafRole, issuer_ref: 'later' });
    expect(role.json.warnings).toEqual([
      'no issuer is known as later yet: nothing can be issued under this role',
    ]);
    await root('Later', mounts.pki.mount, { issuer_name: 'later' });
    expect(
      (await post('roles/early', { ...leafRole, issuer_ref: 'later' })).json.warnings,
    ).toBeNull();
  });
});

describe('chains', () => {
  test('contain cross-signed roots in both directions', async () => {
    const { pki, verifies, post, root, leafOf } = mounts;
    const old = await root('Old');
    const next = await root('New', other);
    const { csr } = (
      await post('intermediate/cross-sign', { common_name: 'New', key_ref: next.key_id }, other)
    ).data;
    const bridge = (await post('root/sign-intermediate', { csr, common_name: 'New', ttl: '1h' }))
      .data;
    await post(
      'issuers/import/cert',
      { pem_bundle: `${old.certificate}\n${bridge.certificate}` },
      other,
    );
    const leaf = (await leafOf()).data;
    expect(verifies(next.certificate, [], leaf.certificate)).toBe(true);
    expect(verifies(old.certificate, [bridge.certificate], leaf.certificate)).toBe(true);
    expect(leaf.ca_chain[0]).toBe(next.certificate);
    const listed = (await pki.call('LIST', 'issuers', undefined, { mount: other })).data.key_info;
    const ids = Object.keys(listed);
    expect(ids).toHaveLength(3);
    for (const id of ids) {
      const { data } = await pki.call('GET', `issuer/${id}`, undefined, { mount: other });
      expect(data.ca_chain[0]).toBe(data.certificate);
      expect(new Set(data.ca_chain).size).toBe(data.ca_chain.length);
    }
    const { data } = await pki.call('GET', `issuer/${next.issuer_id}`, undefined, { mount: other });
    expect(new Set(data.ca_chain)).toContain(next.certificate);
  });

  test('contain re-issued roots together', async () => {
    const { pki, post, root } = mounts;
    const first = await root();
    const again = (
      await post('root/rotate/existing', {
        common_name: 'Root',
        key_ref: first.key_id,
        ttl: '87600h',
      })
    ).data;
    expect(again.issuer_name).toBe('next');
    expect(again.key_id).toBe(first.key_id);
    for (const [one, two] of [
      [first, again],
      [again, first],
    ]) {
      const { data } = await pki.call('GET', `issuer/${one.issuer_id}`);
      expect(data.ca_chain).toEqual([one.certificate, two.certificate]);
    }
    const replaced = await post('root/replace');
    expect(replaced.data.default).toBe(again.issuer_id);
  });

  test('can be set by an operator, as far as their issuers still exist', async () => {
    const { pki, refusal, root } = mounts;
    const one = await root('One');
    const two = await root('Two');
    const chain = ['self', two.issuer_id];
    const patched = await pki.call(
      'PATCH',
      `issuer/${one.issuer_id}`,
      { manual_chain: chain, disable_name_checks: true },
      MERGE_PATCH,
    );
    expect(patched.data.ca_chain).toEqual([one.certificate, two.certificate]);
    expect(patched.data.manual_chain).toEqual([one.issuer_id, two.issuer_id]);
    expect(await refusal(`issuer/${one.issuer_id}`, { manual_chain: [two.issuer_id] })).toContain(
      'expected first cert in chain to be a self-reference',
    );
    expect(await refusal(`issuer/${one.issuer_id}`, { manual_chain: ['self', 'three'] })).toBe(
      'manual_chain: unable to find PKI issuer for reference: three',
    );
    await pki.call('DELETE', `issuer/${two.issuer_id}`);
    const renamed = await pki.call(
      'PATCH',
      `issuer/${one.issuer_id}`,
      { issuer_name: 'one' },
      MERGE_PATCH,
    );
    expect(renamed.data.ca_chain).toEqual([one.certificate]);
    const restored = await pki.call('PATCH', 'issuer/one', { manual_chain: null }, MERGE_PATCH);
    expect(restored.data.manual_chain).toBeNull();
  });
});

describe('settings of an issuer', () => {
  test('are replaced by POST and merged by PATCH', async () => {
    const { pki, post, refusal, root } = mounts;
    const { issuer_id: id } = await root();
    const settings = {
      issuer_name: 'main',
      leaf_not_after_behavior: 'truncate',
      usage: 'issuing-certificates,crl-signing',
      revocation_signature_algorithm: 'ecdsawithsha384',
      ocsp_servers: 'http://ocsp.example.com',
      disable_path_length_checks: true,
    };
    const posted = (await post(`issuer/${id}`, settings)).data;
    expect(posted).toMatchObject({
      issuer_name: 'main',
      leaf_not_after_behavior: 'truncate',
      usage: 'crl-signing,issuing-certificates,read-only',
      revocation_signature_algorithm: 'ECDSAWithSHA384',
      ocsp_servers: ['http://ocsp.example.com'],
      enable_aia_url_templating: false,
      disable_path_length_checks: true,
    });
    await post('roles/pinned', { ...leafRole, issuer_ref: 'main' });
    const patched = await pki.call('PATCH', 'issuer/main', { issuer_name: 'renamed' }, MERGE_PATCH);
    expect(patched.data).toMatchObject({
      issuer_name: 'renamed',
      leaf_not_after_behavior: 'truncate',
    });
    expect(patched.json.warnings[0]).toContain('these roles name it so: pinned');
    const replaced = (await post('issuer/renamed', {})).data;
    expect(replaced).toMatchObject({
      issuer_name: '',
      leaf_not_after_behavior: 'err',
      revocation_signature_algorithm: '',
      usage: 'crl-signing,issuing-certificates,ocsp-signing,read-only',
      ocsp_servers: [],
      disable_path_length_checks: false,
    });
    expect(await refusal(`issuer/${id}`, { leaf_not_after_behavior: 'x' })).toContain(
      'Unknown value for field `leaf_not_after_behavior`',
    );
    expect(await refusal(`issuer/${id}`, { issuer_name: 'default' })).toContain('reserved keyword');
    expect(await refusal(`issuer/${id}`, { usage: 'x' })).toContain('`usage`');
    expect(
      await refusal(`issuer/${id}`, { revocation_signature_algorithm: 'SHA256WithRSA' }),
    ).toContain('does not fit');
    expect((await pki.call('PATCH', `issuer/${id}`, {})).status).toBe(415);
  });

  test('fill templates, or refuse to issue when a value is missing', async () => {
    const { pki, textOf, post, refusal, root, leafOf } = mounts;
    const { issuer_id: id } = await root();
    await post(`issuer/${id}`, {
      enable_aia_url_templating: true,
      issuing_certificates: '{{cluster_aia_path}}/issuer/{{issuer_id}}/der',
    });
    await post('roles/leaf', leafRole);
    expect(await refusal('issue/leaf', { common_name: 'a', ttl: '1h' })).toContain(
      'we lack local cluster address information, which each cluster has for itself in config/cluster (aia_path)',
    );
    await post('config/cluster', {
      path: 'https://c.example.com/v1/pki',
      aia_path: 'http://aia.example.com/pki',
    });
    expect(textOf((await leafOf({}, pki.mount)).data.certificate)).toContain(
      `CA Issuers - URI:http://aia.example.com/pki/issuer/${id}/der`,
    );
    expect(await refusal(`issuer/${id}`, { ocsp_servers: '{{cluster_path}}/ocsp' })).toContain(
      'invalid URL found in Authority Information Access (AIA) parameter',
    );
  });

  test('cause warnings while their URLs cannot be filled', async () => {
    const { post, root } = mounts;
    await root();
    const urls = {
      issuing_certificates: '{{cluster_aia_path}}/issuer/{{issuer_id}}/der',
      enable_templating: true,
    };
    expect((await post('config/urls', urls)).json.warnings).toEqual([
      expect.stringMatching(/issuance may fail.*\(aia_path\)/),
    ]);
    await post('config/cluster', { aia_path: 'http://aia.example.com/pki' });
    expect((await post('config/urls', {})).json.warnings).toBeNull();
  });

  test('of a revoked one cannot allow issuing again', async () => {
    const { pki, file, openssl, post, refusal, root, intermediate } = mounts;
    await root();
    const { signed } = await intermediate();
    const own = (await post('issuers/import/cert', { pem_bundle: signed.data.certificate })).data;
    const [id] = own.imported_issuers;
    const revoked = (await post(`issuer/${id}/revoke`)).data;
    expect(revoked).toMatchObject({ revoked: true, usage: 'crl-signing,ocsp-signing,read-only' });
    expect((await post(`issuer/${id}/revoke`)).data.revocation_time).toBe(revoked.revocation_time);
    expect(await refusal(`issuer/${id}`, { usage: 'issuing-certificates' })).toContain(
      'revoked issuer',
    );
    const read = await pki.call('GET', `cert/${signed.data.serial_number}`);
    expect(read.data.revocation_time).toBe(revoked.revocation_time);
    const crl = file('root.crl', (await pki.call('GET', 'crl')).bytes);
    expect(openssl('crl', '-inform', 'DER', '-noout', '-text', '-in', crl)).toContain(
      signed.data.serial_number.replaceAll(':', '').toUpperCase(),
    );
  });

  test('are listed with what their certificates say, so that nobody reads each', async () => {
    const { pki, post, root } = mounts;
    const named = await root('Named Root');
    const { data: other } = await post('root/generate/internal', {
      common_name: '',
      organization: 'Nameless',
      issuer_name: 'nameless',
    });
    const { key_info: infos } = (await pki.call('LIST', 'issuers')).data;
    expect(infos[named.issuer_id]).toEqual({
      common_name: 'Named Root',
      is_default: true,
      issuer_name: named.issuer_name,
      key_id: named.key_id,
      not_after: new Date(named.expiration * 1000).toISOString().replace('.000', ''),
      serial_number: named.serial_number,
    });
    expect(infos[other.issuer_id]).toMatchObject({ common_name: '', issuer_name: 'nameless' });
  });

  test('are deleted with the root, including keys', async () => {
    const { pki, post, root } = mounts;
    await root();
    await post('keys/generate/internal', { key_type: 'ec', key_name: 'spare' });
    const deleted = await pki.call('DELETE', 'root');
    expect(deleted.status).toBe(200);
    expect(deleted.json.warnings[0]).toContain('1 issuers and 2 keys');
    expect((await pki.call('LIST', 'issuers')).status).toBe(404);
    expect((await pki.call('LIST', 'keys')).status).toBe(404);
    expect((await pki.call('GET', 'ca/pem')).status).toBe(204);
    expect((await root('Again')).issuer_id).toBeDefined();
  });
});

test.for(['root/generate/internal', 'intermediate/generate/internal'])(
  '%s warns of a key_ref, because its key is new',
  async (path) => {
    const { key_id: id } = (await mounts.post('keys/generate/internal', { key_type: 'ec' })).data;
    const body = { common_name: 'New', key_type: 'ec', key_ref: id };
    const { data, json } = await mounts.post(path, body);
    expect(data.key_id).not.toBe(id);
    expect(json.warnings).toContain('key_ref has no effect: the key is a new one');
  },
);
