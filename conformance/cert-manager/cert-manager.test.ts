/** The ACME client library of cert-manager, as published, against a real process. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary, goEnvironment } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeSite, startAcmeSite } from '../acme/acme-site.ts';

const run = promisify(execFile);
const GO = await findBinary('go', 'golang');

let site: AcmeSite;
beforeAll(async () => {
  site = await startAcmeSite();
});
afterAll(() => site[Symbol.asyncDispose]());

test('cert-manager orders by http-01 and dns-01, with an external account too, and requests renewal times', async () => {
  // Built separately, because the module proxy may have a certificate of another authority.
  const tests = join(site.folder, 'acme.test');
  await run(GO, ['test', '-c', '-o', tests, '.'], {
    cwd: import.meta.dirname,
    env: goEnvironment(),
  });
  const { kid, hmac } = await site.newBinding('roles/web/');
  const environment = {
    SSL_CERT_FILE: site.caFile,
    ROOT_FILE: site.rootFile,
    WEBROOT: site.webroot,
    HOOK_URL: site.hookUrl,
    DIRECTORY_URL: site.directory(),
    BOUND_DIRECTORY_URL: site.directory('roles/web/'),
    EAB_KID: kid,
    EAB_HMAC: hmac,
  };
  const report = await run(tests, ['-test.v'], { env: environment }).then(
    ({ stdout }) => stdout,
    (failed: { stdout: string; stderr: string }) => failed.stdout + failed.stderr,
  );
  const passed = [...report.matchAll(/^ *--- (\w+): (\S+)/gm)].map(
    ([, how, name]) => `${name} ${how}`,
  );
  expect({ passed, report }).toEqual({
    passed: [
      'TestCertificates PASS',
      'TestCertificates/http-01 PASS',
      'TestCertificates/dns-01 PASS',
      'TestExternalAccountBinding PASS',
    ],
    report: expect.any(String),
  });
});
