import type { Principal } from '@keelson/proto/edge/v1/edge';
import { beforeEach, describe, expect, test } from 'vitest';
import { edgeRequest, serviceOf } from './edge.contract.ts';
import { type EdgeService, edgeResponse } from './edge-service.ts';
import { repeatAnswers } from './repeated-answers.ts';

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
let edge: EdgeService;

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

describe('an answer that stands', () => {
  test('is given again', async () => {
    expect([await ask(), await ask(), await ask()]).toEqual(['1', '1', '1']);
  });

  test('is made anew once it stands no longer, and then given again', async () => {
    await ask();
    stands = false;
    expect(await ask()).toBe('2');
    stands = true;
    expect([await ask(), await ask()]).toEqual(['2', '2']);
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
    await ask();
    expect(await ask(given)).toBe('2');
    expect(await ask()).toBe('1');
  });

  test('does not depend on what clients say of themselves', async () => {
    await ask({ headers: { accept: '*/*', 'user-agent': 'one' } });
    expect(await ask({ headers: { 'user-agent': 'two' } })).toBe('1');
  });
});

test('an answer that says nothing of it is made for each request', async () => {
  stands = undefined;
  expect([await ask(), await ask()]).toEqual(['1', '2']);
});
