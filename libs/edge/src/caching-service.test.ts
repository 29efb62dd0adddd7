import type { Principal } from '@keelson/proto/edge/v1/edge';
import { beforeEach, describe, expect, test } from 'vitest';
import { type CachingService, cacheResponses } from './caching-service.ts';
import { edgeRequest, serviceOf } from './edge.contract.ts';
import { edgeResponse } from './edge-service.ts';

const PRINCIPAL: Principal = {
  kind: 'user',
  id: 'user-1',
  organization: '',
  tokenId: 'at-1',
  displayName: 'ada',
  siteAdmin: false,
};

let made: number;
let size: number;
let isStillValid: boolean | undefined;
let edge: CachingService;

beforeEach(() => {
  made = 0;
  size = 0;
  isStillValid = true;
  edge = cacheResponses(
    serviceOf(() => {
      made += 1;
      const response = edgeResponse(200, {}, Buffer.from(String(made).padEnd(size)));
      return Promise.resolve(
        isStillValid === undefined
          ? response
          : { ...response, isStillValid: () => Promise.resolve(isStillValid === true) },
      );
    }),
  );
});

const ask = async (given: Parameters<typeof edgeRequest>[0] = {}): Promise<string> => {
  const { body } = await edge.handle(edgeRequest({ path: '/a', principal: PRINCIPAL, ...given }));
  return Buffer.from(body as Uint8Array)
    .toString()
    .trimEnd();
};

const askTwice = async (): Promise<void> => {
  await ask();
  await ask();
};

test('a request that was last seen long ago counts as new', async () => {
  await ask();
  for (let index = 0; index < 40_000; index += 1) await ask({ path: `/other/${index}` });
  const again = await ask();
  expect(await ask()).not.toBe(again);
});

describe('the size of responses', () => {
  test('decides how many are cached; the least recently used are evicted', async () => {
    size = 900_000;
    const paths = Array.from({ length: 200 }, (_, index) => `/${index}`);
    for (const path of [...paths, ...paths]) await ask({ path });
    const before = made;
    // From the newest one on, so that requests for evicted ones evict only the oldest.
    for (const path of paths.toReversed()) await ask({ path });
    const cached = paths.length - (made - before);
    expect(cached * size).toBeGreaterThan(120_000_000);
    expect(cached * size).toBeLessThan(134_217_728);
  });

  test('is at most a megabyte', async () => {
    size = 1_048_577;
    await askTwice();
    const again = await ask();
    expect(await ask()).not.toBe(again);
  });
});

describe('a response that is still valid', () => {
  test('is returned again from the second request on', async () => {
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual(['1', '2', '2', '2']);
  });

  test('is requested again once it is no longer valid, and then cached again', async () => {
    await askTwice();
    isStillValid = false;
    expect(await ask()).toBe('3');
    isStillValid = true;
    expect([await ask(), await ask()]).toEqual(['3', '3']);
  });

  test('is requested again after the cache was cleared', async () => {
    await askTwice();
    edge.forget();
    expect(await ask()).toBe('3');
  });

  test.for([
    ['another path', { path: '/b' }],
    ['a query', { query: 'include=project' }],
    ['another method', { method: 'POST' }],
    ['a header that may matter', { headers: { 'if-none-match': '"1"' } }],
    ['an index to wait for', { headers: { 'x-service-index': 'eyJ9' } }],
    ['nobody', { principal: undefined }],
    ['another token', { principal: { ...PRINCIPAL, tokenId: 'at-2' } }],
    ['another user', { principal: { ...PRINCIPAL, id: 'user-2' } }],
    ['another kind of caller', { principal: { ...PRINCIPAL, kind: 'team' } }],
    ['a caller of an organization', { principal: { ...PRINCIPAL, organization: 'acme' } }],
    ['a renamed user', { principal: { ...PRINCIPAL, displayName: 'eve' } }],
    ['an administrator', { principal: { ...PRINCIPAL, siteAdmin: true } }],
  ] as const)('is not returned to %s', async ([, given]) => {
    await askTwice();
    expect(await ask(given)).toBe('3');
    expect(await ask()).toBe('2');
  });

  test('does not depend on headers in which clients describe themselves', async () => {
    await ask({ headers: { accept: '*/*', 'user-agent': 'one' } });
    await ask();
    expect(await ask({ headers: { 'user-agent': 'two' } })).toBe('2');
  });
});

test('a response without a validity check is requested each time', async () => {
  isStillValid = undefined;
  expect([await ask(), await ask(), await ask()]).toEqual(['1', '2', '3']);
});
