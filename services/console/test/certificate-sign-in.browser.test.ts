/** Sign-in with the certificate that a browser has, over a connection of TLS to the gateway. */
import { join } from 'node:path';
import { type KeelsonProcess, startKeelson, temporaryDirectory } from '@keelson/testkit';
import {
  type Browser,
  launchChromium,
  openPage,
  type WatchedPage,
} from '@keelson/testkit/chromium';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PATIENCE_MS } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const folder = await temporaryDirectory();
let keelson: KeelsonProcess;
let browser: Browser;

const secrets = async (path: string, body: object, method = 'POST') => {
  const answer = await fetch(`${keelson.http}/v1/${path}`, {
    method,
    headers: { 'x-service-token': keelson.rootToken },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
};

interface Issued {
  readonly certificate: string;
  readonly private_key: string;
}

const issue = async (role: string, name: string): Promise<Issued> =>
  (await secrets(`operators/issue/${role}`, { common_name: name })).data;

beforeAll(async () => {
  browser = await launchChromium();
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_RATE_LIMIT: 'off' },
  });
  await secrets('sys/mounts/operators', { type: 'pki', config: { max_lease_ttl: '8760h' } });
  const root = { common_name: 'Operators', key_type: 'ec', ttl: '8760h' };
  await secrets('operators/root/generate/internal', root);
  for (const [role, unit] of [
    ['operator', 'operators'],
    ['guest', 'guests'],
  ] as const)
    await secrets(`operators/roles/${role}`, {
      allow_any_name: true,
      enforce_hostnames: false,
      key_type: 'ec',
      ou: unit,
      server_flag: false,
      ttl: '1h',
    });
  const policy = 'path "sys/policies/*" { capabilities = ["read", "list"] }';
  await secrets('sys/policies/acl/reader', { policy });
  for (const [path, config] of [
    ['operators', { listing_visibility: 'unauth' }],
    ['hidden', {}],
  ] as const)
    await secrets(`sys/auth/${path}`, { type: 'cert', description: `the ${path}`, config });
  await secrets('auth/operators/certs/operator', {
    pki_mounts: 'operators',
    allowed_organizational_units: 'operators',
    token_policies: 'reader',
  });
}, PATIENCE_MS);
afterAll(async () => {
  await browser?.close();
  await keelson?.stop();
  await folder[Symbol.asyncDispose]();
});

/** A page of a browser in which this certificate is installed. */
const openWith = async (issued: Issued | undefined, url: string): Promise<WatchedPage> => {
  const opened = await openPage(browser, 'about:blank', {
    ignoreHTTPSErrors: true,
    ...(issued && {
      clientCertificates: [
        {
          origin: new URL(url).origin,
          cert: Buffer.from(issued.certificate),
          key: Buffer.from(issued.private_key),
        },
      ],
    }),
  });
  onTestFinished(() => opened.page.context().close());
  await opened.page.goto(url);
  return opened;
};

const BUTTON = 'Continue with a certificate of the operators';

describe('a certificate', { timeout: PATIENCE_MS }, () => {
  test('signs in by one click, and the token of the login ends with the session', async () => {
    const alice = await issue('operator', 'alice');
    const { page, problems } = await openWith(alice, `${keelson.https}/ui/policies`);
    const button = page.getByRole('button', { name: BUTTON });
    await button.waitFor();
    expect(await page.getByText('hidden').count()).toBe(0);
    // The token stays the last way.
    expect(await page.locator('.login-card-ways > button').allInnerTexts()).toEqual([
      BUTTON,
      'Sign in with a token',
    ]);
    await button.click();
    await page.getByRole('link', { name: 'reader' }).waitFor();
    await page.locator('.frame-person').getByText('alice').waitFor();
    const ended = page.waitForResponse(/revoke-self/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    expect((await ended).ok()).toBe(true);
    expect(problems).toEqual([]);
  });

  test('that the method does not accept is refused with the reason, as is a browser without one', async () => {
    const mallory = await issue('guest', 'mallory');
    for (const [issued, reason] of [
      [mallory, 'failed to match all constraints for this login certificate'],
      [undefined, 'client certificate must be supplied'],
    ] as const) {
      const { page } = await openWith(issued, `${keelson.https}/ui/policies`);
      await page.getByRole('button', { name: BUTTON }).click();
      await page.getByRole('alert').getByText(reason).waitFor();
      await page.getByText('A browser shows a certificate only when it connects.').waitFor();
      expect(await page.getByRole('button', { name: BUTTON }).isEnabled()).toBe(true);
      expect(await faultsInVariants(page, 'refused certificate')).toEqual({});
    }
  });

  test('is not offered where the browser shows none, without TLS', async () => {
    const { page } = await openWith(undefined, `${keelson.http}/ui/policies`);
    await page.getByLabel('Token').waitFor();
    expect(await page.getByRole('button', { name: BUTTON }).count()).toBe(0);
  });
});
