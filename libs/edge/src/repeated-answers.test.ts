import type { Principal } from '@keelson/proto/edge/v1/edge';
import { beforeEach, describe, expect, test } from 'vitest';
import { edgeRequest, serviceOf } from './edge.contract.ts';
import { edgeResponse } from './edge-service.ts';
import { type RepeatingService, repeatAnswers } from './repeated-answers.ts';

const PRINCIPAL: Principal = {
  kind: 'user',
  id: 'user-1',
  organization: '',
  tokenId: 'at-1',
  displayName: 'ada',
  siteAdmin: false,
};

let made: number;
let stands: boolean | undefined;
let edge: RepeatingService;

beforeEach(() => {
  made = 0;
  stands = true;
  edge = repeatAnswers(
    serviceOf(() => {
      made += 1;
      const response = edgeResponse(200, {}, Buffer.from(String(made)));
      return Promise.resolve(
        stands === undefined
          ? response
          : { ...response, stands: () => Promise.resolve(stands === true) },
      );
    }),
  );
});

const ask = async (given: Parameters<typeof edgeRequest>[0] = {}): Promise<string> => {
  const { body } = await edge.handle(edgeRequest({ path: '/a', principal: PRINCIPAL, ...given }));
  return Buffer.from(body as Uint8Array).toString();
};

const askTwice = async (): Promise<void> => {
  await ask();
  await ask();
};

test('what was asked for long ago counts as not asked for', async () => {
  await ask();
  for (let index = 0; index < 40_000; index += 1) await ask({ path: `/other/${index}` });
  const again = await ask();
  expect(await ask()).not.toBe(again);
});

describe('an answer that stands', () => {
  test('is given again from the second time on', async () => {
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual(['1', '2', '2', '2']);
  });

  test('is made anew once it stands no longer, and then given again', async () => {
    await askTwice();
    stands = false;
    expect(await ask()).toBe('3');
    stands = true;
    expect([await ask(), await ask()]).toEqual(['3', '3']);
  });

  test('is made anew once it was forgotten', async () => {
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
  ] as const)('is not given to %s', async ([, given]) => {
    await askTwice();
    expect(await ask(given)).toBe('3');
    expect(await ask()).toBe('2');
  });

  test('does not depend on what clients say of themselves', async () => {
    await ask({ headers: { accept: '*/*', 'user-agent': 'one' } });
    await ask();
    expect(await ask({ headers: { 'user-agent': 'two' } })).toBe('2');
  });
});

test('an answer that says nothing of it is made for each request', async () => {
  stands = undefined;
  expect([await ask(), await ask(), await ask()]).toEqual(['1', '2', '3']);
});
