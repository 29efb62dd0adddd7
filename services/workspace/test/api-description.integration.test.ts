import { bufferedBody } from '@keelson/edge';
import { Dialect, RequestHead } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './workspace-harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const get = async (name: string, headers: Record<string, string> = {}) => {
  const { head, body } = await harness.service.edge.handle({
    head: messageOf(RequestHead, {
      requestId: 'req',
      method: 'GET',
      path: `/openapi/${name}.json`,
      headers,
      dialect: Dialect.SPECIFICATION,
    }),
    body: bufferedBody(new Uint8Array()),
    signal: new AbortController().signal,
  });
  const answered = new Map(head.headers.map(({ name: key, value }) => [key, value]));
  return {
    status: head.status,
    headers: answered,
    text: Buffer.from(body as Uint8Array).toString(),
  };
};

test.for(['stable', 'prerelease'])('the API is described under %s.json', async (name) => {
  const { status, headers, text } = await get(name);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
  const document = JSON.parse(text) as {
    servers: unknown;
    paths: Record<string, Record<string, { requestBody?: unknown }>>;
  };
  expect(document.servers).toEqual([{ url: '/api/v2' }]);
  const created = document.paths['/organizations/{organization_name}/workspaces'];
  expect(JSON.stringify(created?.['post']?.requestBody)).toContain('execution-mode');
});

test('a description that the client has already is not sent again', async () => {
  const modified = (await get('stable')).headers.get('last-modified') ?? '';
  const again = await get('stable', { 'if-modified-since': modified });
  expect([again.status, again.text]).toEqual([304, '']);
  const before = new Date(Date.parse(modified) - 1000).toUTCString();
  expect((await get('stable', { 'if-modified-since': before })).status).toBe(200);
  expect((await get('stable', { 'if-modified-since': 'no date' })).status).toBe(200);
});
