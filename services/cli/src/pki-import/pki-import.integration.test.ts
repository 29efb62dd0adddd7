/** `keelson import vault-pki` between two real servers, of which the source is asked in the vendor's dialect. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  bareEnvironment,
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ended, runProgram } from '../../test/run-program.ts';

const MAIN = join(import.meta.dirname, '../main.ts');

let folder: TemporaryDirectory;
let source: KeelsonProcess;
let target: KeelsonProcess;

// oxlint-disable-next-line typescript/no-explicit-any -- documents of many routes
type Answer = any;

const ask = async (server: KeelsonProcess, path: string, body?: object): Promise<Answer> => {
  const response = await fetch(`${server.http}/v1/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-vault-token': server.rootToken },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answered = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${answered}`);
  return answered === '' ? undefined : JSON.parse(answered).data;
};

const run = (
  program: string,
  given: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> =>
  runProgram(program, given, {
    cwd: folder.path,
    env: {
      ...bareEnvironment(folder.path),
      PATH: `${join(folder.path, 'bin')}:${process.env['PATH']}`,
      KEELSON_ADDR: target.http,
      KEELSON_TOKEN: target.rootToken,
      VAULT_TOKEN: source.rootToken,
      ...environment,
    },
  });

const importPki = async (
  given: readonly string[],
): Promise<Ended & { readonly report: Answer }> => {
  const ended = await run('keelson', ['--json', 'import', 'vault-pki', source.http, ...given]);
  return { ...ended, report: ended.out === '' ? undefined : JSON.parse(ended.out) };
};

/** Certificates of the source: one valid, one revoked. */
let valid: string;
let revoked: Answer;

const file = (name: string, content?: string): string => {
  const path = join(folder.path, name);
  if (content !== undefined) writeFileSync(path, content);
  return path;
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  mkdirSync(join(folder.path, 'bin'));
  writeFileSync(
    join(folder.path, 'bin/keelson'),
    `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`,
    { mode: 0o755 },
  );
  [source, target] = (await Promise.all(
    ['source', 'target'].map((name) => startKeelson({ dataFolder: join(folder.path, name) })),
  )) as [KeelsonProcess, KeelsonProcess];
  await ask(source, 'sys/mounts/pki', { type: 'pki', config: { max_lease_ttl: '8760h' } });
  const root = await ask(source, 'pki/root/generate/exported', {
    common_name: 'Example Root',
    issuer_name: 'first',
    key_type: 'ec',
    ttl: '8000h',
  });
  file('root.key', root.private_key);
  file('root.pem', root.certificate);
  const second = await ask(source, 'pki/root/rotate/internal', {
    common_name: 'Example Root 2',
    issuer_name: 'second',
    key_type: 'ec',
    ttl: '8000h',
  });
  await ask(source, `pki/issuer/${second.issuer_id}`, {
    issuer_name: 'second',
    leaf_not_after_behavior: 'truncate',
    ocsp_servers: ['http://pki.example.com/v1/pki/ocsp'],
  });
  await ask(source, 'pki/config/urls', {
    crl_distribution_points: ['http://pki.example.com/v1/pki/crl'],
    ocsp_servers: ['http://pki.example.com/v1/pki/ocsp'],
  });
  await ask(source, 'pki/config/crl', { expiry: '48h' });
  await ask(source, 'pki/roles/web', {
    allowed_domains: ['example.com'],
    allow_subdomains: true,
    key_type: 'ec',
    max_ttl: '720h',
    issuer_ref: root.issuer_id,
  });
  await ask(source, 'pki/roles/any', { allow_any_name: true, key_type: 'any', no_store: true });
  const issue = (name: string): Promise<Answer> =>
    ask(source, 'pki/issue/web', { common_name: `${name}.example.com`, ttl: '24h' });
  valid = (await issue('valid')).certificate;
  revoked = await issue('revoked');
  await ask(source, 'pki/revoke', { serial_number: revoked.serial_number });
});
afterAll(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
  await folder[Symbol.asyncDispose]();
});

test('the guide works as written: dry run, import, and what clients of the old authority see', async () => {
  const page = readFileSync(new URL('../../../../docs/migrating-certificates.md', import.meta.url));
  const script = Array.from(
    String(page).matchAll(/^```sh\n([\s\S]*?)^```$/gm),
    ([, block]) => block,
  ).join('\n');
  file('leaf.pem', valid);
  file('revoked.pem', revoked.certificate);
  const { code, out, err } = await run('bash', ['--norc', '-eu', '-o', 'pipefail', '-c', script], {
    OLD: source.http,
    K: target.http,
  });
  expect([err, code]).toEqual(['', 0]);
  expect(out).toMatch(
    /WOULD BE TAKEN OVER[^]*TAKEN OVER[^]*leaf\.pem: OK[^]*revoked\.pem: revoked/,
  );
  expect(out).not.toContain('PRIVATE KEY');
});

test('settings, names and lifetimes are those of the source', async () => {
  const urls = await ask(target, 'pki/config/urls');
  expect(urls).toEqual(await ask(source, 'pki/config/urls'));
  expect(await ask(target, 'pki/config/crl')).toMatchObject({ expiry: '48h' });
  expect(await ask(target, 'sys/mounts/pki/tune')).toMatchObject({ max_lease_ttl: 8760 * 3600 });
  const [first, second] = [
    await ask(target, 'pki/issuer/first'),
    await ask(target, 'pki/issuer/second'),
  ];
  expect(second).toMatchObject({
    leaf_not_after_behavior: 'truncate',
    ocsp_servers: ['http://pki.example.com/v1/pki/ocsp'],
    key_id: '',
  });
  for (const name of ['web', 'any']) {
    const { issuer_ref: _, ...role } = await ask(source, `pki/roles/${name}`);
    expect(await ask(target, `pki/roles/${name}`)).toMatchObject(role);
  }
  expect((await ask(target, 'pki/roles/web')).issuer_ref).toBe(first.issuer_id);
});

test('a further import changes nothing but what is new, and says what it cannot take over', async () => {
  const again = await importPki(['--key-file', file('root.key')]);
  expect([again.err, again.code, again.report.failures]).toEqual(['', 0, []]);
  expect(Object.values(again.report.taken_over).every((count) => count === 0)).toBe(true);
  expect(again.report.not_taken_over).toEqual([
    { subject: 'issuer second', text: expect.stringContaining('--key-file') },
  ]);
  const issued = await ask(source, 'pki/issue/web', { common_name: 'new.example.com', ttl: '24h' });
  await ask(source, 'pki/revoke', { serial_number: issued.serial_number });
  await ask(source, 'pki/roles/later', { allow_any_name: true });
  const { report } = await importPki(['--key-file', file('root.key')]);
  expect(report.taken_over).toMatchObject({ roles: 1, revocations: 1, issuers: 0 });
  expect(report.already_there).toMatchObject({ roles: 2, revocations: 1, issuers: 2 });
});

test('without a key an issuer is kept, and gets its key by a further import', async () => {
  const first = await importPki(['--to', 'later']);
  expect(first.report.not_taken_over.map(({ subject }: Answer) => subject)).toEqual(
    expect.arrayContaining(['issuer first', 'issuer second']),
  );
  const second = await importPki(['--to', 'later', '--key-file', file('root.key')]);
  expect(second.report.taken_over).toMatchObject({ issuers: 1 });
  expect((await ask(target, 'later/issuer/first')).key_id).not.toBe('');
});

test('the token of the source is sent to the source alone', async () => {
  const { code, err } = await run('keelson', ['import', 'vault-pki', source.http], {
    KEELSON_TOKEN: '',
  });
  expect([code, err]).toEqual([1, expect.stringContaining('set KEELSON_TOKEN')]);
  const wrong = await run('keelson', ['import', 'vault-pki', source.http], {
    VAULT_TOKEN: 'hvs.wrong',
  });
  expect(wrong.code).toBe(1);
  expect(wrong.out + wrong.err).not.toContain('hvs.wrong');
  const missing = await importPki(['--key-file', file('nowhere.key')]);
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('nowhere.key')]);
});
