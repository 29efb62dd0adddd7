import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { propertySettings, temporaryDirectory } from '@keelson/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aMount, openPki } from './open-pki.ts';

test('damaged requests, certificates, keys and serial numbers are refused with a client error', async () => {
  await using folder = await temporaryDirectory();
  const pki = await openPki(folder.path);
  try {
    const root = { common_name: 'Root', ttl: '87600h', key_type: 'ec' };
    await pki.call('POST', 'root/generate/internal', root);
    const role = { allow_any_name: true, key_type: 'any', ttl: '1h' };
    await pki.call('POST', 'roles/any', role);
    await pki.call('POST', 'roles/ec', { ...role, key_type: 'ec' });
    const issued = await pki.call('POST', 'issue/ec', { common_name: 'a.example' });
    const key = join(folder.path, 'key.pem');
    execFileSync('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key]);
    const csr = execFileSync('openssl', ['req', '-new', '-key', key, '-subj', '/CN=a.example'], {
      encoding: 'utf8',
    });
    // The imported authority belongs to another mount, so that its contents are new to this one.
    const mount = aMount({ uuid: '8f0b1c1e-0000-4000-8000-000000000002', path: 'other/' });
    const other = await pki.call('POST', 'root/generate/exported', root, { mount });
    const { certificate, private_key: privateKey } = other.data;
    const damaged = (text: string): fc.Arbitrary<string> =>
      fc
        .tuple(fc.nat(text.length), fc.nat(3), fc.string({ unit: 'binary', maxLength: 4 }))
        .map(([at, removed, added]) => text.slice(0, at) + added + text.slice(at + removed));
    const request = fc.oneof(
      fc.record({
        path: fc.constantFrom('sign/any', 'sign-verbatim', 'sign-verbatim/any'),
        body: fc.record({ csr: fc.oneof(damaged(csr), fc.string()) }),
      }),
      fc.record({
        path: fc.constantFrom('root/sign-intermediate', 'issuer/default/sign-intermediate'),
        body: fc.record({ csr: damaged(csr), use_csr_values: fc.boolean(), skid: fc.string() }),
      }),
      fc.record({
        path: fc.constantFrom('root/sign-self-issued', 'intermediate/set-signed'),
        body: fc.record({ certificate: damaged(certificate) }),
      }),
      fc.record({
        path: fc.constantFrom('config/ca', 'issuers/import/bundle', 'keys/import'),
        body: fc.record({
          pem_bundle: fc.oneof(damaged(`${certificate}\n${privateKey}`), damaged(privateKey)),
        }),
      }),
      fc.record({
        path: fc.constant('revoke-with-key'),
        body: fc.record({
          certificate: damaged(issued.data.certificate),
          private_key: damaged(issued.data.private_key),
        }),
      }),
      fc.record({
        path: fc.constant('revoke'),
        body: fc.record({ serial_number: fc.oneof(fc.string(), damaged('0a:1b:2c')) }),
      }),
      fc.record({
        path: fc.constantFrom('issue/ec', 'roles/other', 'root/generate/internal'),
        body: fc.dictionary(
          fc.constantFrom(
            'common_name',
            'alt_names',
            'ip_sans',
            'uri_sans',
            'other_sans',
            'ttl',
            'not_after',
            'key_usage',
            'policy_identifiers',
            'allowed_other_sans',
            'permitted_ip_ranges',
          ),
          fc.jsonValue({ maxDepth: 1 }),
        ),
      }),
    );
    await fc.assert(
      fc.asyncProperty(request, async ({ path, body }) => {
        const { status } = await pki.call('POST', path, body);
        expect([200, 400, 404]).toContain(status);
      }),
      propertySettings({ numRuns: 1500 }),
    );
  } finally {
    await pki.close();
  }
});
