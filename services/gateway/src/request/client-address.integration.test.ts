/** The client address behind trusted proxies, and the limits that apply to it. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, TOKEN } from '../../test/stub-services.ts';

type Gateway = Awaited<ReturnType<typeof startGateway>>;
const PROXIES = { KEELSON_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, 2001:db8:f::/48' };

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- a document of the neighbours
  readonly document: any;
}

const call = (
  gateway: Gateway,
  forwarded: string | readonly string[] | undefined,
  { path = '/v1/pki/echo', from = '127.0.0.1' } = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = {
      'x-service-token': TOKEN,
      ...(forwarded !== undefined && { 'x-forwarded-for': forwarded as string }),
    };
    const sent = httpRequest(
      gateway.http + path,
      { headers, localAddress: from, agent: false },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            document: JSON.parse(text),
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end();
  });

const addressOf = async (...given: Parameters<typeof call>): Promise<string> =>
  (await call(...given)).document.data.head.remoteAddress;

describe('the address of a client', () => {
  let gateway: Gateway;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keelson-address-'));
    gateway = await startGateway(PROXIES);
  });
  afterAll(async () => {
    await gateway.stop();
    rmSync(folder, { recursive: true });
  });

  test.for([
    ['what a proxy says', '203.0.113.9', '203.0.113.9'],
    ['what the proxy nearest to it says', '198.51.100.1, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
    ['the farthest proxy where all are', '10.9.9.9, 10.1.2.3', '10.9.9.9'],
    ['the proxy that says nothing', undefined, '127.0.0.1'],
    ['what is said in several headers', ['198.51.100.1', '203.0.113.9'], '203.0.113.9'],
    ['that of IPv6', '2001:db8:1::9, 2001:db8:f::1', '2001:db8:1::9'],
    ['without its port', '203.0.113.9:4711', '203.0.113.9'],
    ['without brackets and port', '[2001:db8:1::9]:4711', '2001:db8:1::9'],
    ['of IPv4 written as IPv6', '::ffff:203.0.113.9', '203.0.113.9'],
    ['not what the client itself wrote', 'unknown, 203.0.113.9', '203.0.113.9'],
  ] as const)('is %s', async ([, forwarded, address]) => {
    for (const path of ['/v1/pki/echo', '/api/v2/echo'])
      expect(await addressOf(gateway, forwarded, { path })).toBe(address);
  });

  test('is never taken from an untrusted sender', async () => {
    expect(await addressOf(gateway, '203.0.113.9', { from: '127.0.0.2' })).toBe('127.0.0.2');
    const alone = await startGateway();
    expect(await addressOf(alone, '203.0.113.9')).toBe('127.0.0.1');
    await alone.stop();
  });

  test('must exist', async () => {
    const { status, document } = await call(gateway, 'unknown');
    expect([status, document.errors[0]]).toEqual([
      400,
      'the header X-Forwarded-For must be a list of IP addresses',
    ]);
  });

  test('is in the audit entry and in the log', async () => {
    const file = join(folder, 'audit.log');
    gateway.state.devices = [
      {
        path: 'file/',
        type: 'file',
        options: { file_path: file, log_raw: 'true' },
        salt: Buffer.alloc(32),
        accessor: '',
      },
    ];
    gateway.state.auditGeneration = 1;
    await call(gateway, '203.0.113.77');
    gateway.state.auditGeneration = 0;
    expect(readFileSync(file, 'utf8')).toContain('"remote_address":"203.0.113.77"');
    expect(gateway.lines.at(-1)).toContain('"remote_address":"203.0.113.77"');
  });

  test('is refused as a setting where it is malformed', async () => {
    await expect(startGateway({ KEELSON_TRUSTED_PROXIES: '10.0.0.0/8,lb.local' })).rejects.toThrow(
      'KEELSON_TRUSTED_PROXIES: invalid CIDR or IP address: "lb.local"',
    );
  });
});

describe('requests on /v1', () => {
  /** More than a limit of 5 lets through, in however many seconds they take. */
  const burst = async (gateway: Gateway, forwarded?: string): Promise<Answer[]> =>
    Promise.all(Array.from({ length: 200 }, () => call(gateway, forwarded)));
  const refused = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 429);

  test('are limited for each client address, by a /64 of IPv6', async () => {
    const gateway = await startGateway({ ...PROXIES, KEELSON_CLIENT_RATE_LIMIT: '5' });
    const [first] = refused(await burst(gateway, '203.0.113.9'));
    expect(first?.headers).toMatchObject({ 'retry-after': '1', 'x-ratelimit-limit': '5' });
    expect(first?.document.errors[0]).toContain('rate limit');
    const addresses = Array.from({ length: 200 }, (_, index) => `2001:db8:1:2::${index + 1}`);
    const answers = await Promise.all(addresses.map((address) => call(gateway, address)));
    expect(refused(answers)).not.toEqual([]);
    expect((await call(gateway, '203.0.113.10')).status).toBe(200);
    await gateway.stop();
  });

  test('are not limited for the local machine, nor when the limit is off', async () => {
    const gateway = await startGateway({ ...PROXIES, KEELSON_CLIENT_RATE_LIMIT: '5' });
    expect(refused(await burst(gateway))).toEqual([]);
    await gateway.stop();
    const unlimited = await startGateway({ ...PROXIES, KEELSON_CLIENT_RATE_LIMIT: 'off' });
    expect(refused(await burst(unlimited, '203.0.113.9'))).toEqual([]);
    await unlimited.stop();
  });
});
