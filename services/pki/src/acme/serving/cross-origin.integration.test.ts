/** Pages of other origins, which are served if the mount's tuning allows it (RFC 8555 §6.1). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AcmeClient } from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';
import { aMount } from '../../../test/open-pki.ts';

let acme: OpenAcme;
beforeAll(async () => {
  acme = await openAcme();
}, 60_000);
afterAll(() => acme.close());

const SHARED = aMount({ allowedResponseHeaders: ['access-control-Allow-Origin'] });
const EXPOSED = 'Link, Location, Replay-Nonce, Retry-After';

const client = (mount = SHARED): AcmeClient => new AcmeClient(acme.pki, 'acme/', undefined, mount);

describe('a mount that is tuned for cross-origin access', () => {
  test('lets pages read every response and its headers', async () => {
    const page = client();
    const answers = [
      await page.get('directory'),
      await page.get('new-nonce', 'HEAD'),
      await page.register(),
      await page.order('localhost'),
      await page.order(''),
      await page.post('order/none'),
      await page.get('renewal-info/none'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 201, 400, 404, 400]);
    for (const answer of answers) {
      expect(answer.header('access-control-allow-origin')).toBe('*');
      expect(answer.header('access-control-expose-headers')).toBe(EXPOSED);
    }
  });

  test.for([
    ['directory', 'GET, POST'],
    ['new-nonce', 'GET, POST, HEAD'],
    ['new-account', 'POST'],
    ['order/none/finalize', 'POST'],
    ['challenge/none/http-01', 'POST'],
    ['renewal-info/none', 'GET'],
  ] as const)('lists what is allowed for %s: %s', async ([resource, methods]) => {
    const answer = await client().get(resource, 'OPTIONS');
    expect([answer.status, answer.bytes.byteLength]).toEqual([204, 0]);
    expect(answer.header('access-control-allow-origin')).toBe('*');
    expect(answer.header('access-control-allow-methods')).toBe(methods);
    expect(answer.header('access-control-allow-headers')).toBe('Content-Type');
    expect(answer.header('access-control-max-age')).toBe('86400');
  });

  test('exposes nothing else', async () => {
    for (const path of ['ca/pem', 'crl']) {
      const read = await acme.pki.call('GET', path, undefined, { mount: SHARED });
      expect([read.status, read.headers.get('access-control-allow-origin')]).toEqual([
        200,
        undefined,
      ]);
      const asked = await acme.pki.call('OPTIONS', path, undefined, { mount: SHARED });
      expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([
        405,
        undefined,
      ]);
    }
  });
});

test('another mount is readable by no page, and does not answer preflight requests', async () => {
  for (const allowedResponseHeaders of [[], ['Location', 'Replay-Nonce', 'Link']]) {
    const page = client(aMount({ allowedResponseHeaders }));
    expect((await page.get('directory')).header('access-control-allow-origin')).toBeUndefined();
    const asked = await page.get('new-order', 'OPTIONS');
    expect([asked.status, asked.header('access-control-allow-methods')]).toEqual([405, undefined]);
  }
});
