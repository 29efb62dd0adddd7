/** The session of the console: who may use its cookie, and what it opens. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_TOKEN, startGateway, TOKEN } from '../../test/stub-services.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const newKey = () => randomBytes(32).toString('base64url');
const PRESENTED = { 'x-service-token': TOKEN, authorization: `Bearer ${API_TOKEN}` };

const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(gateway.http + path, { method, headers });

/** @returns the cookie as a browser sends it */
const begin = async (key: string, headers: Record<string, string> = PRESENTED): Promise<string> => {
  const answer = await ask('PUT', '/session', { 'x-keelson-session': key, ...headers });
  expect(answer.status).toBe(204);
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return cookie;
};

const PATHS = ['/v1/pki/echo', '/api/v2/echo'] as const;

/** The answer without what differs between any two requests. */
const answerOf = async (path: string, headers: Record<string, string>): Promise<string> => {
  const answer = await ask('GET', path, { 'x-request-id': 'one', ...headers });
  return `${answer.status} ${await answer.text()}`;
};

test.for(PATHS)('the cookie opens %s together with the key of the page', async (path) => {
  const key = newKey();
  const cookie = await begin(key);
  const refused = await answerOf(path, {});
  const opened = await answerOf(path, PRESENTED);
  expect(opened).not.toBe(refused);
  expect(await answerOf(path, { cookie, 'x-keelson-session': key })).toBe(opened);
  expect(await answerOf(path, { cookie })).toBe(refused);
  expect(await answerOf(path, { 'x-keelson-session': key })).toBe(refused);
  expect(await answerOf(path, { cookie, 'x-keelson-session': newKey() })).toBe(refused);
  const other = newKey();
  const renamed = cookie.replace(/=.*/, '') + (await begin(other)).replace(/^[^=]*/, '');
  expect(await answerOf(path, { cookie: renamed, 'x-keelson-session': key })).toBe(refused);
  expect(await answerOf(path, { cookie: cookie.slice(0, -3), 'x-keelson-session': key })).toBe(
    refused,
  );
});

test('the cookie shows no token, and scripts and other sites do not have it', async () => {
  const answer = await ask('PUT', '/session', { 'x-keelson-session': newKey(), ...PRESENTED });
  const cookie = answer.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(
    /^keelson-session-[\da-f]{16}=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  expect(Buffer.from(cookie, 'base64url').toString('latin1')).not.toContain('neighbour');
  expect(await answer.text()).toBe('');
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

test('a page that was loaded by HTTPS has it sent by HTTPS alone', async () => {
  const origin = { origin: 'https://keelson.example' };
  const answer = await ask('PUT', '/session', {
    'x-keelson-session': newKey(),
    ...PRESENTED,
    ...origin,
  });
  expect(answer.headers.get('set-cookie')).toMatch(/; Secure$/);
});

test('a token for one API is added to that for the other', async () => {
  const key = newKey();
  const first = await begin(key, { 'x-service-token': TOKEN });
  const both = await begin(key, { authorization: `Bearer ${API_TOKEN}`, cookie: first });
  for (const path of PATHS)
    expect((await ask('GET', path, { cookie: both, 'x-keelson-session': key })).status).toBe(200);
});

test('a token of the request itself takes precedence', async () => {
  const key = newKey();
  const cookie = await begin(key);
  const session = { cookie, 'x-keelson-session': key };
  expect(
    (await ask('GET', PATHS[0], { ...session, 'x-service-token': 'hvs.unknown' })).status,
  ).toBe(403);
});

test('signing out removes the cookie', async () => {
  const key = newKey();
  await begin(key);
  const answer = await ask('DELETE', '/session', { 'x-keelson-session': key });
  expect(answer.status).toBe(204);
  expect(answer.headers.get('set-cookie')).toMatch(
    /=; Max-Age=0; Path=\/; HttpOnly; SameSite=Strict$/,
  );
});

test.for([
  ['PUT', {}, 'x-keelson-session must be a key of 32 octets in base64url'],
  ['PUT', { 'x-keelson-session': 'short', ...PRESENTED }, 'x-keelson-session must be'],
  ['PUT', { 'x-keelson-session': newKey() }, 'a session needs a token'],
  ['DELETE', {}, 'x-keelson-session must be a key of 32 octets in base64url'],
] as const)('%s with %j is refused', async ([method, headers, text]) => {
  const answer = await ask(method, '/session', headers);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain(text);
  expect(answer.headers.has('set-cookie')).toBe(false);
});
