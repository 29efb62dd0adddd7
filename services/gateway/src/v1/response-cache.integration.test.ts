/** Answers without credentials are given again only while sys and the service say that they hold. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startGateway, TOKEN } from '../../test/neighbours.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.state.decisions = {};
  gateway.state.isStillValid = true;
});

const PATH = '/v1/pki/open/numbered';

const ask = async (path = PATH, init?: RequestInit) => {
  const response = await fetch(gateway.http + path, init);
  const document = (await response.json()) as { data?: { number: number } };
  return { status: response.status, number: document.data?.number, headers: response.headers };
};

const post = (body: string) => ({ method: 'POST', body });

test('a cached response is returned with its own id, log line and count', async () => {
  const { number } = await ask();
  const again = await ask(PATH, { headers: { 'x-request-id': 'again-1' } });
  expect([again.status, again.number]).toEqual([200, number]);
  expect(Object.fromEntries(again.headers)).toMatchObject({
    'x-request-id': 'again-1',
    'cache-control': 'no-store',
    'content-type': 'application/json',
    'content-length': expect.any(String),
  });
  const line = gateway.lines.find((one) => one.includes('again-1')) ?? '{}';
  expect(JSON.parse(line)).toMatchObject({ method: 'GET', path: PATH, status: 200 });
});

test('a cached response is counted like any other', async () => {
  const counted = async (): Promise<number> => {
    const text = await (await fetch(`${gateway.http}/metrics`)).text();
    const found =
      /keelson_http_requests_total\{group="v1\/pki",method="GET",status="200"\} (\d+)/.exec(text);
    return Number(found?.[1] ?? 0);
  };
  await ask();
  const before = await counted();
  await ask();
  await ask();
  expect(await counted()).toBe(before + 2);
});

describe('the service is asked again', () => {
  test('when a decision may have changed', async () => {
    const { number } = await ask();
    expect((await ask()).number).toBe(number);
    gateway.state.decisions = {};
    expect((await ask()).number).not.toBe(number);
  });

  test('when it reports that its response is no longer valid', async () => {
    const { number } = await ask();
    expect((await ask()).number).toBe(number);
    gateway.state.isStillValid = false;
    expect((await ask()).number).not.toBe(number);
  });

  test.for([
    ['a token', { headers: { 'x-service-token': TOKEN } }],
    ['a token under its deployed name', { headers: { 'x-vault-token': TOKEN } }],
    ['a bearer token', { headers: { authorization: `Bearer ${TOKEN}` } }],
    ['a namespace', { headers: { 'x-service-namespace': 'team/' } }],
    ['a condition', { headers: { 'if-modified-since': 'Sat, 21 Nov 2026 12:00:00 GMT' } }],
    ['a body', post('one')],
  ] as const)('for a request with %s', async ([, init]) => {
    const { number } = await ask();
    const other = await ask(PATH, init);
    expect([other.status, other.number]).not.toEqual([200, number]);
    expect((await ask()).number).toBe(number);
  });

  test('for another query', async () => {
    const { number } = await ask();
    expect((await ask(`${PATH}?page=2`)).number).not.toBe(number);
  });

  test('for another body', async () => {
    const { number } = await ask(PATH, post('one'));
    expect((await ask(PATH, post('two'))).number).not.toBe(number);
    expect((await ask(PATH, post('one'))).number).toBe(number);
  });
});

test('what was answered to a token is not returned without one', async () => {
  const path = `${PATH}?token`;
  const { number } = await ask(path, { headers: { 'x-service-token': TOKEN } });
  expect((await ask(path)).number).not.toBe(number);
});

test('a sealed system returns nothing from its cache, which is empty after unsealing', async () => {
  const { number } = await ask();
  gateway.state.isSealed = true;
  expect((await ask()).status).toBe(503);
  gateway.state.isSealed = false;
  expect((await ask()).number).not.toBe(number);
});

test('every request is audited from the moment a device is enabled', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-audit-'));
  const file_path = join(folder, 'audit.log');
  await ask();
  await ask();
  const { state } = gateway;
  state.devices = [
    { path: 'file/', type: 'file', options: { file_path }, salt: Buffer.alloc(32), accessor: 'a' },
  ];
  state.auditGeneration += 1;
  state.decisions = {};
  await ask();
  await ask();
  state.devices = [];
  state.auditGeneration += 1;
  state.decisions = {};
  // Request and answer of both.
  expect(readFileSync(file_path, 'utf8').match(/"path":"pki\/open\/numbered"/g)).toHaveLength(4);
  rmSync(folder, { recursive: true });
});
