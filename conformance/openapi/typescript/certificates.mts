/** A root and a role are made, a certificate is issued, read and revoked, by the generated client. */
import { equal, ok } from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './certificates.d.ts';

const { SERVER_ADDRESS = '', SERVER_TOKEN = '' } = process.env;
const client = createClient<paths>({
  baseUrl: `${SERVER_ADDRESS}/v1`,
  headers: { 'x-vault-token': SERVER_TOKEN },
});
const mount = 'typescript';

const root = await client.POST('/{mount}/root/generate/{type}', {
  params: { path: { mount, type: 'internal' } },
  body: { common_name: 'Generated Root', key_type: 'ec' },
});
equal(root.error, undefined);
const at = { params: { path: { mount, name: 'web' } } };
const role = await client.POST('/{mount}/roles/{name}', {
  ...at,
  body: { allow_any_name: true, key_type: 'ec' },
});
equal(role.error, undefined);

const issued = await client.POST('/{mount}/issue/{name}', {
  ...at,
  body: { common_name: 'www.example.com' },
});
const certificate: string | undefined = issued.data?.data?.certificate;
ok(certificate?.startsWith('-----BEGIN CERTIFICATE-----'));
const serial = issued.data?.data?.serial_number ?? '';

const revoked = await client.POST('/{mount}/revoke', {
  params: { path: { mount } },
  body: { serial_number: serial },
});
equal(revoked.error, undefined);
const read = await client.GET('/{mount}/cert/{serial}', { params: { path: { mount, serial } } });
ok((read.data?.data?.revocation_time ?? 0) > 0);

const refused = await client.POST('/{mount}/issue/{name}', {
  params: { path: { mount, name: 'absent' } },
  body: { common_name: 'www.example.com' },
});
equal(refused.response.status, 400);
ok(refused.error?.errors[0]?.includes('absent'));

process.stdout.write('done\n');
