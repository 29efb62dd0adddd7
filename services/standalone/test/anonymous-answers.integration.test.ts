/** Every change shows in the very next answer to callers without a token, although OCSP answers are signed in advance. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KeelsonProcess, startKeelson } from '@keelson/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

let folder: string;
let keelson: KeelsonProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-anonymous-'));
  keelson = await startKeelson({ dataFolder: join(folder, 'data') });
}, 60_000);
afterAll(async () => {
  await keelson.stop();
  rmSync(folder, { recursive: true });
});

/** With the root token. @returns the `data` of the answer */
const administer = async (
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, string>> => {
  const response = await fetch(`${keelson.http}/v1/${path}`, {
    method,
    headers: { 'x-service-token': keelson.rootToken },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect([response.ok, text]).toEqual([true, text]);
  return text === '' ? {} : (JSON.parse(text) as { data: Record<string, string> }).data;
};

const file = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

interface Certificate {
  readonly serial: string;
  /** OCSPRequest, DER. */
  readonly request: Buffer;
}

const issue = async (mount: string): Promise<Certificate> => {
  const { serial_number: serial = '', issuing_ca = '' } = await administer(
    'POST',
    `${mount}/issue/any`,
    { common_name: 'a.example.com', ttl: '1h' },
  );
  const path = join(folder, 'request.der');
  const issuer = file('issuer.pem', issuing_ca);
  const number = `0x${serial.replaceAll(':', '')}`;
  const asked = ['-issuer', issuer, '-serial', number];
  execFileSync('openssl', ['ocsp', '-no_nonce', ...asked, '-reqout', path]);
  return { serial, request: readFileSync(path) };
};

const statusIn = (answer: Uint8Array): string | undefined => {
  const shown = execFileSync(
    'openssl',
    ['ocsp', '-noverify', '-resp_text', '-respin', file('answer.der', answer)],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  return /Cert Status: (\w+)/.exec(shown)?.[1];
};

interface Answered {
  readonly status: number;
  readonly bytes: Buffer;
}

const answered = async (response: Response): Promise<Answered> => ({
  status: response.status,
  bytes: Buffer.from(await response.arrayBuffer()),
});

const get = async (mount: string, { request }: Certificate): Promise<Answered> =>
  answered(
    await fetch(
      `${keelson.http}/v1/${mount}/ocsp/${encodeURIComponent(request.toString('base64'))}`,
    ),
  );
const post = async (mount: string, { request }: Certificate): Promise<Answered> =>
  answered(
    await fetch(`${keelson.http}/v1/${mount}/ocsp`, {
      method: 'POST',
      headers: { 'content-type': 'application/ocsp-request' },
      body: request,
    }),
  );

let mounts = 0;
let mount: string;
let certificate: Certificate;
/** A mount with an authority and one certificate that was asked for twice, in both ways. */
beforeEach(async () => {
  mounts += 1;
  mount = `pki-${mounts}`;
  await administer('POST', `sys/mounts/${mount}`, { type: 'pki' });
  await administer('POST', `${mount}/root/generate/internal`, {
    common_name: 'Root',
    key_type: 'ec',
  });
  await administer('POST', `${mount}/roles/any`, { allow_any_name: true, key_type: 'ec' });
  certificate = await issue(mount);
  for (const ask of [get, get, post, post]) await ask(mount, certificate);
}, 60_000);

describe.for([
  ['in the path', get],
  ['in the body', post],
] as const)('a request for a status, %s,', ([, ask]) => {
  test('gets the same answer as long as nothing changes', async () => {
    const { status, bytes } = await ask(mount, certificate);
    expect([status, statusIn(bytes)]).toEqual([200, 'good']);
    expect((await ask(mount, certificate)).bytes).toEqual(bytes);
  });

  test('shows a revocation at once', async () => {
    await administer('POST', `${mount}/revoke`, { serial_number: certificate.serial });
    expect(statusIn((await ask(mount, certificate)).bytes)).toBe('revoked');
  });

  test('is not answered for another certificate', async () => {
    const other = await issue(mount);
    await administer('POST', `${mount}/revoke`, { serial_number: other.serial });
    expect(statusIn((await ask(mount, other)).bytes)).toBe('revoked');
    expect(statusIn((await ask(mount, certificate)).bytes)).toBe('good');
  });

  test('is refused once OCSP is turned off, and answered when it is on again', async () => {
    await administer('POST', `${mount}/config/crl`, { ocsp_disable: true });
    expect((await ask(mount, certificate)).status).toBe(401);
    await administer('POST', `${mount}/config/crl`, { ocsp_disable: false });
    expect((await ask(mount, certificate)).status).toBe(200);
  });

  test('is answered after the mount was tuned, and not after it was disabled', async () => {
    await administer('POST', `sys/mounts/${mount}/tune`, { description: 'tuned' });
    expect((await ask(mount, certificate)).status).toBe(200);
    await administer('DELETE', `sys/mounts/${mount}`);
    expect((await ask(mount, certificate)).status).toBe(404);
    // Nothing of the former mount shows through a new one of its name.
    await administer('POST', `sys/mounts/${mount}`, { type: 'pki' });
    expect((await ask(mount, certificate)).status).toBe(401);
  });

  test('is answered at the new path of a moved mount, and no longer at the old one', async () => {
    await administer('POST', 'sys/remount', { from: mount, to: `${mount}-moved` });
    await expect
      .poll(async () => (await ask(`${mount}-moved`, certificate)).status, { timeout: 30_000 })
      .toBe(200);
    expect((await ask(mount, certificate)).status).toBe(404);
  });

  test('is audited from the moment an audit device is enabled', async () => {
    const file_path = join(folder, `${mount}.log`);
    await administer('PUT', 'sys/audit/file', { type: 'file', options: { file_path } });
    expect((await ask(mount, certificate)).status).toBe(200);
    await administer('DELETE', 'sys/audit/file');
    const entries = readFileSync(file_path, 'utf8').trim().split('\n');
    const paths = entries.map(
      (line) => (JSON.parse(line) as { request: { path: string } }).request,
    );
    // The request and its answer.
    expect(paths.filter(({ path }) => path.startsWith(`${mount}/ocsp`))).toHaveLength(2);
  });
});

const fetchBytes = async (path: string) => {
  const response = await fetch(`${keelson.http}/v1/${mount}/${path}`);
  return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
};

/** From the second after its last change on, the answer says when that was. */
const untilSettled = async (path: string): Promise<Buffer> => {
  await expect
    .poll(async () => (await fetchBytes(path)).headers.get('last-modified'), { timeout: 30_000 })
    .not.toBeNull();
  return (await fetchBytes(path)).bytes;
};

describe.for(['crl', 'ca', 'issuer/default/crl/der', 'issuer/default/der'])('%s', (path) => {
  test('is the same until what it shows changes', async () => {
    const bytes = await untilSettled(path);
    expect((await fetchBytes(path)).bytes).toEqual(bytes);
    const { issuer_id } = await administer('POST', `${mount}/root/generate/internal`, {
      common_name: 'Other root',
      key_type: 'ec',
    });
    await administer('POST', `${mount}/config/issuers`, { default: issuer_id });
    expect((await fetchBytes(path)).bytes).not.toEqual(bytes);
  });
});

test.for(['crl', 'issuer/default/crl/der'])('%s shows a revocation at once', async (path) => {
  const bytes = await untilSettled(path);
  expect((await fetchBytes(path)).bytes).toEqual(bytes);
  await administer('POST', `${mount}/revoke`, { serial_number: certificate.serial });
  const shown = execFileSync('openssl', ['crl', '-inform', 'DER', '-text', '-noout'], {
    encoding: 'utf8',
    input: (await fetchBytes(path)).bytes,
  });
  expect(shown).toContain(certificate.serial.replaceAll(':', '').toUpperCase());
});

test('a locked namespace answers nothing', async () => {
  await administer('POST', 'sys/namespaces/team');
  const inTeam = 'team/pki';
  await administer('POST', `team/sys/mounts/pki`, { type: 'pki' });
  await administer('POST', `${inTeam}/root/generate/internal`, {
    common_name: 'Root',
    key_type: 'ec',
  });
  await administer('POST', `${inTeam}/roles/any`, { allow_any_name: true, key_type: 'ec' });
  const theirs = await issue(inTeam);
  for (const turn of [1, 2])
    expect([turn, (await get(inTeam, theirs)).status]).toEqual([turn, 200]);
  await administer('POST', 'sys/namespaces/api-lock/lock/team');
  expect((await get(inTeam, theirs)).status).toBe(503);
});

// Last: nothing is answered after it.
test('a sealed system answers nothing', async () => {
  await administer('POST', 'sys/seal');
  expect((await get(mount, certificate)).status).toBe(503);
  expect((await post(mount, certificate)).status).toBe(503);
});
