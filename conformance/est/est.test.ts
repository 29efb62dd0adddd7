/** EST (RFC 7030, RFC 8951) with curl and openssl only, without any code of Keelson on the client's side. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, openDevice, openssl } from './device.ts';

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
let device: Device;
let auditFile = '';
const tokens = { enrols: '', looksOnly: '' };

const inFolder = (name: string): string => join(folder.path, name);

const set = async (path: string, body: object, method = 'POST') => {
  const answer = await fetch(`${keelson.http}/v1/${path}`, {
    method,
    headers: { 'x-service-token': keelson.rootToken, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  expect([path, answer.ok, answer.ok ? '' : text]).toEqual([path, true, '']);
  return text === '' ? undefined : JSON.parse(text);
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({
    dataFolder: inFolder('data'),
    env: { KEELSON_REQUEST_CLIENT_CERTIFICATES: 'true' },
  });
  const facts = await readFile(join(keelson.dataFolder, 'first-run.json'), 'utf8');
  const { ca_certificate_file: caFile } = JSON.parse(facts) as { ca_certificate_file: string };
  device = openDevice({ folder: folder.path, https: keelson.https, caFile });
  auditFile = inFolder('audit.log');
  await set('sys/audit/file', { type: 'file', options: { file_path: auditFile } }, 'PUT');
  await set('sys/namespaces/factory', {});
  await set('factory/sys/mounts/devices', {
    type: 'pki',
    config: { max_lease_ttl: '87600h', audit_non_hmac_response_keys: ['common_name'] },
  });
  const mount = 'factory/devices';
  await set(`${mount}/root/generate/internal`, { common_name: 'Devices', ttl: '87600h' });
  const names = { allow_any_name: true, enforce_hostnames: false };
  await set(`${mount}/roles/device`, { ...names, key_type: 'ec', ttl: '1h' });
  await set(`${mount}/config/est`, {
    enabled: true,
    default_mount: true,
    default_path_policy: 'role:device',
    label_to_path_policy: { gateways: 'role:device', anything: 'sign-verbatim' },
    authenticators: { userpass: {}, cert: {} },
  });
  const policies = {
    enrols: `path "devices/est/*" { capabilities = ["create", "update"] }
             path "devices/roles/device/est/*" { capabilities = ["create", "update"] }`,
    looksOnly: 'path "devices/est/*" { capabilities = ["read"] }',
  };
  for (const [name, policy] of Object.entries(policies)) {
    await set(`factory/sys/policies/acl/${name}`, { policy });
    const made = await set('factory/auth/token/create', { policies: [name] });
    tokens[name as keyof typeof tokens] = made.auth.client_token;
  }
});
afterAll(async () => {
  await keelson?.stop();
  await folder?.[Symbol.asyncDispose]();
});

describe('EST by curl and openssl', () => {
  test('cacerts returns the CA to anyone', async () => {
    for (const path of ['cacerts', 'gateways/cacerts']) {
      const answer = await device.curl(path);
      expect(answer.status).toBe(200);
      expect(answer.headers).toContain('content-type: application/pkcs7-mime');
      expect(answer.headers).toContain('content-transfer-encoding: base64');
      expect(await device.certificatesOf(answer, 'ca.pem')).toHaveLength(1);
    }
    const subject = await openssl('x509', '-noout', '-subject', '-in', inFolder('ca.pem'));
    expect(subject).toContain('CN = Devices');
  });

  test('csrattrs describes the required key', async () => {
    const answer = await device.curl('csrattrs');
    expect(answer.status).toBe(200);
    expect(answer.headers).toContain('content-type: application/csrattrs');
    const der = inFolder('attributes.der');
    await writeFile(der, Buffer.from(answer.body, 'base64'));
    expect(await openssl('asn1parse', '-inform', 'DER', '-in', der)).toContain('prime256v1');
    expect((await device.curl('anything/csrattrs')).status).toBe(204);
  });

  test('a caller without credentials is asked for HTTP Basic', async () => {
    const answer = await device.curl(
      'simpleenroll',
      ...device.post(await device.newRequest('/CN=nobody', 'nobody')),
    );
    expect([answer.status, answer.body]).toEqual([
      401,
      'enrolment needs a token as the password of HTTP Basic, or a certificate of the TLS client\n',
    ]);
    expect(answer.headers).toMatch(/www-authenticate: basic realm="est"/);
    expect(answer.headers).toContain('content-type: text/plain');
  });

  test('a token as password enrolls where its policies allow it', async () => {
    const request = await device.newRequest('/CN=device-1', 'device-1');
    // --anyauth waits for the challenge before it sends credentials.
    const basic = ['--anyauth', '--user', `device:${tokens.enrols}`];
    const answer = await device.curl('simpleenroll', ...basic, ...device.post(request));
    expect(answer.status).toBe(200);
    expect(answer.headers).toContain('application/pkcs7-mime; smime-type=certs-only');
    expect(await device.certificatesOf(answer, 'device-1.pem')).toHaveLength(1);
    const verified = openssl('verify', '-CAfile', inFolder('ca.pem'), inFolder('device-1.pem'));
    expect(await verified).toContain('OK');
    const labelled = await device.curl('gateways/simpleenroll', ...basic, ...device.post(request));
    expect(labelled.status).toBe(200);
    for (const [token, label] of [
      [tokens.looksOnly, ''],
      ['wrong', ''],
      // Its policies do not cover the label's path.
      [tokens.enrols, 'anything/'],
    ]) {
      const refused = await device.curl(
        `${label}simpleenroll`,
        '--user',
        `device:${token}`,
        ...device.post(request),
      );
      expect([refused.status, refused.body]).toEqual([
        401,
        'enrolment needs a token that may do so\n',
      ]);
    }
  });

  test('a certificate enrolls its own names and renews, its key proven by TLS', async () => {
    const request = await device.newRequest('/CN=device-1', 'device-2');
    const enrolled = await device.curl(
      'simpleenroll',
      ...device.withCertificate('device-1'),
      ...device.post(request),
    );
    expect(enrolled.status).toBe(200);
    await device.certificatesOf(enrolled, 'device-2.pem');

    const same = await device.newRequest('/CN=device-1', 'renewed');
    const renewed = await device.curl(
      'simplereenroll',
      ...device.withCertificate('device-2'),
      ...device.post(same),
    );
    expect(renewed.status).toBe(200);
    await device.certificatesOf(renewed, 'renewed.pem');
    const verified = openssl('verify', '-CAfile', inFolder('ca.pem'), inFolder('renewed.pem'));
    expect(await verified).toContain('OK');

    const other = await device.newRequest('/CN=device-2', 'other');
    for (const operation of ['simplereenroll', 'simpleenroll', 'anything/simpleenroll']) {
      const refused = await device.curl(
        operation,
        ...device.withCertificate('device-2'),
        ...device.post(other),
      );
      expect([refused.status, refused.body]).toEqual([
        400,
        'the subject is not that of the certificate that is renewed\n',
      ]);
    }
    const labelled = await device.curl(
      'anything/simpleenroll',
      ...device.withCertificate('device-2'),
      ...device.post(same),
    );
    expect(labelled.status).toBe(200);
  });

  test('a certificate that a client only sends in a header proves nothing', async () => {
    const pem = await readFile(inFolder('device-1.pem'), 'utf8');
    // Not even if the mount passes on headers with that name.
    const passthrough_request_headers = ['Client-Cert'];
    await set('factory/sys/mounts/devices/tune', { passthrough_request_headers });
    const header = `Client-Cert: :${pem.replaceAll(/-----.*-----|\s/g, '')}:`;
    const request = await device.newRequest('/CN=forged', 'forged');
    const answer = await device.curl('simpleenroll', '--header', header, ...device.post(request));
    expect(answer.status).toBe(401);
    const direct = await fetch(
      `${keelson.http}/v1/factory/devices/est/by-certificate/simpleenroll`,
      {
        method: 'POST',
        headers: { 'client-cert': header.slice('Client-Cert: '.length) },
        body: await readFile(request, 'utf8'),
      },
    );
    expect(direct.status).toBe(401);
  });

  test('a certificate of another authority, and a revoked one, are refused', async () => {
    await openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      '/CN=device-1',
      '-keyout',
      inFolder('alien.key'),
      '-out',
      inFolder('alien.pem'),
    );
    const request = await device.newRequest('/CN=device-3', 'device-3');
    const alien = await device.curl(
      'simpleenroll',
      ...device.withCertificate('alien'),
      ...device.post(request),
    );
    expect([alien.status, alien.body]).toEqual([
      403,
      'the client certificate is not accepted: no accepted issuer has signed it\n',
    ]);
    await set('factory/devices/revoke', {
      certificate: await readFile(inFolder('device-1.pem'), 'utf8'),
    });
    const revoked = await device.curl(
      'simpleenroll',
      ...device.withCertificate('device-1'),
      ...device.post(request),
    );
    expect(revoked.status).toBe(403);
  });

  const SERVED = 'EST here has cacerts, csrattrs, simpleenroll and simplereenroll';
  test.for([
    ['fullcmc', `"fullcmc" is not supported: ${SERVED}`],
    ['serverkeygen', `"serverkeygen" is not supported: ${SERVED}`],
    ['gateways/serverkeygen', `"serverkeygen" is not supported: ${SERVED}`],
    ['nothing/simpleenroll', 'no mount serves EST under the label "nothing"'],
    ['a/b/cacerts', 'no mount serves EST under the label "a/b"'],
    ['', `"" is not supported: ${SERVED}`],
  ] as const)('there is no "%s": %s', async ([path, text]) => {
    const answer = await device.curl(path);
    expect([answer.status, answer.body]).toEqual([404, `${text}\n`]);
  });

  test('requests are in the audit log, and tokens are not', async () => {
    const log = await readFile(auditFile, 'utf8');
    const entries = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const answers = entries.filter(
      ({ type, request }) =>
        type === 'response' && request.path === 'factory/devices/est/by-certificate/simpleenroll',
    );
    expect(answers.length).toBeGreaterThan(0);
    expect(answers[0].response.data.request.common_name).toBe('device-1');
    expect(log).not.toContain(tokens.enrols);
    expect(log).not.toContain('x-audited-request');
  });
});
