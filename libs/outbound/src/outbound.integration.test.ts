import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { temporaryDirectory, writeCertificates } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPublicAddressPolicy } from './address-policy.ts';
import { createOutbound, outboundFailure, readBeginning } from './outbound.ts';

const server = createServer((request, response) => {
  if (request.url === '/redirect') {
    response.writeHead(302, { location: `http://[::1]:${port()}/` }).end();
  } else response.end('x'.repeat(100_000));
});
const port = () => (server.address() as AddressInfo).port;
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '::', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

const outboundTo = (...ranges: readonly string[]) =>
  createOutbound({ policy: createPublicAddressPolicy(ranges), timeoutMs: 20_000 });

const failureOf = async (url: string, ...ranges: readonly string[]) => {
  const outbound = outboundTo(...ranges);
  const failed = await outbound.fetch(url).catch(outboundFailure);
  await outbound.close();
  return failed;
};

describe('a request', () => {
  test('reaches an address that was added, by name and by number', async () => {
    const outbound = outboundTo('127.0.0.1', '::1');
    for (const host of ['127.0.0.1', 'localhost']) {
      const response = await outbound.fetch(`http://${host}:${port()}/`);
      expect([response.status, await readBeginning(response, 10)]).toEqual([200, 'x'.repeat(10)]);
    }
    await outbound.close();
  });

  test.for(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost', '2130706433'])(
    'to %s is refused',
    async (host) =>
      expect(await failureOf(`http://${host}:${port()}/`)).toMatch(
        /^the address policy permits no address of /,
      ),
  );

  test('does not follow a redirect to a refused address', async () =>
    expect(await failureOf(`http://127.0.0.1:${port()}/redirect`, '127.0.0.1')).toBe(
      'the address policy permits no address of ::1',
    ));

  test('that fails says why', async () =>
    expect(await failureOf('http://127.0.0.1:2/', '127.0.0.1')).toBe('ECONNREFUSED'));
});

test('the addresses of a host are those that are permitted', async () => {
  const outbound = outboundTo('127.0.0.1');
  expect(await outbound.addressesOf('127.0.0.1')).toEqual(['127.0.0.1']);
  await expect(outbound.addressesOf('::1')).rejects.toThrow('permits no address of ::1');
  await outbound.close();
});

test('an authority that is named is trusted in place of those of the system', async () => {
  await using folder = await temporaryDirectory();
  const { authorityFile, certificateFile, keyFile } = await writeCertificates(folder.path);
  const secure = createTlsServer(
    { cert: readFileSync(certificateFile), key: readFileSync(keyFile) },
    (_, response) => response.end('secure'),
  );
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/`;
  const policy = createPublicAddressPolicy(['127.0.0.1']);
  const trusting = createOutbound({
    policy,
    timeoutMs: 20_000,
    ca: readFileSync(authorityFile, 'utf8'),
  });
  const response = await trusting.fetch(url);
  expect(await readBeginning(response, 10)).toBe('secure');
  expect(await failureOf(url, '127.0.0.1')).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  await trusting.close();
  await new Promise((resolve) => secure.close(resolve));
});
