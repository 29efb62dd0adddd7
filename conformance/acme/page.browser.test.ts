/** A page of another origin as an ACME client, in Chromium (RFC 8555 §6.1). */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, launchChromium, openPage, type Page } from '@keelson/testkit/chromium';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeSite, startAcmeSite } from './acme-site.ts';

let site: AcmeSite;
let browser: Browser;
let page: Page;
const elsewhere = createServer((_, response) =>
  response.setHeader('content-type', 'text/html').end('<title>elsewhere</title>'),
);

beforeAll(async () => {
  site = await startAcmeSite();
  elsewhere.listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  browser = await launchChromium();
  const { port } = elsewhere.address() as AddressInfo;
  ({ page } = await openPage(browser, `http://127.0.0.1:${port}/`, { ignoreHTTPSErrors: true }));
}, 180_000);
afterAll(async () => {
  await browser.close();
  elsewhere.closeAllConnections();
  elsewhere.close();
  await site[Symbol.asyncDispose]();
});

/** Runs in the page: creates an account and an order, and returns what it could read. */
const orderFrom = async (directoryUrl: string) => {
  const base64url = (bytes: Uint8Array): string =>
    btoa(String.fromCharCode(...bytes))
      .replace(/=+$/, '')
      .replaceAll('+', '-')
      .replaceAll('/', '_');
  const encode = (value: unknown): string =>
    base64url(new TextEncoder().encode(JSON.stringify(value)));
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const key = await crypto.subtle.generateKey(algorithm, true, ['sign']);
  const { x, y } = await crypto.subtle.exportKey('jwk', key.publicKey);
  const directory = (await (await fetch(directoryUrl)).json()) as Record<
    'newNonce' | 'newAccount' | 'newOrder',
    string
  >;
  const head = await fetch(directory.newNonce, { method: 'HEAD' });
  let nonce = head.headers.get('replay-nonce');
  const post = async (url: string, signer: object, payload: unknown) => {
    const protectedText = encode({ alg: 'ES256', nonce, url, ...signer });
    const text = encode(payload);
    const signature = await crypto.subtle.sign(
      { name: 'ECDSA', hash: 'SHA-256' },
      key.privateKey,
      new TextEncoder().encode(`${protectedText}.${text}`),
    );
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/jose+json' },
      body: JSON.stringify({
        protected: protectedText,
        payload: text,
        signature: base64url(new Uint8Array(signature)),
      }),
    });
    nonce = answer.headers.get('replay-nonce');
    return answer;
  };
  const account = await post(directory.newAccount, { jwk: { kty: 'EC', crv: 'P-256', x, y } }, {});
  const kid = account.headers.get('location');
  const identifiers = [{ type: 'dns', value: 'browser.example.com' }];
  const order = await post(directory.newOrder, { kid }, { identifiers });
  return {
    statuses: [account.status, order.status],
    order: order.headers.get('location'),
    index: order.headers.get('link'),
    document: await order.json(),
  };
};

const tune = (...headers: readonly string[]): Promise<unknown> =>
  site.call('POST', 'sys/mounts/pki/tune', { allowed_response_headers: headers });

test('orders once the mount is shared, and not before', { timeout: 120_000 }, async () => {
  const directory = site.directory();
  await expect(page.evaluate(orderFrom, directory)).rejects.toThrow('Failed to fetch');
  await tune('Access-Control-Allow-Origin');
  const ordered = await page.evaluate(orderFrom, directory);
  expect(ordered).toMatchObject({
    statuses: [201, 201],
    order: expect.stringContaining('/acme/order/'),
    index: expect.stringContaining(directory),
    document: { status: 'pending' },
  });
});

test.for(['pki/roles/web', 'pki/crl', 'sys/mounts', 'sys/health', 'pki/acme/new-eab'])(
  'OPTIONS of %s is refused for every caller',
  async (path) => {
    await tune('Access-Control-Allow-Origin');
    await expect(site.call('OPTIONS', path)).rejects.toThrow(`OPTIONS ${path}: 405`);
  },
);
