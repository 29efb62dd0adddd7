/** Rate limit quotas over HTTP: the gateway counts the requests of each address. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KeelsonProcess, startKeelson } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let keelson: KeelsonProcess;
const folder = mkdtempSync(join(tmpdir(), 'keelson-quotas-'));
beforeAll(async () => {
  keelson = await startKeelson({ dataFolder: join(folder, 'data') });
});
afterAll(async () => {
  await keelson.stop();
  rmSync(folder, { recursive: true });
});

const ask = (method: string, path: string, body?: object): Promise<Response> =>
  fetch(`${keelson.http}/v1/${path}`, {
    method,
    headers: { 'x-service-token': keelson.rootToken, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

const put = async (name: string, quota: object): Promise<void> => {
  expect((await ask('POST', `sys/quotas/rate-limit/${name}`, quota)).status).toBe(204);
};

const statuses = async (times: number, path: string): Promise<readonly number[]> => {
  const found: number[] = [];
  for (let turn = 0; turn < times; turn += 1) found.push((await ask('GET', path)).status);
  return found;
};

/** Status of a request from another address of this machine. */
const askFrom = (localAddress: string, path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(`${keelson.http}/v1/${path}`, {
      localAddress,
      headers: { 'x-service-token': keelson.rootToken },
    })
      .on('response', (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end();
  });

test('a request too many is refused, whoever makes it, and says when to ask again', async () => {
  await put('policies', { path: 'sys/policies/*', rate: 3, interval: '1h' });
  expect(await statuses(4, 'sys/policies/acl?list=true')).toEqual([200, 200, 200, 429]);
  const refused = await fetch(`${keelson.http}/v1/sys/policies/acl/default`);
  expect(refused.status).toBe(429);
  expect(await refused.json()).toEqual({
    errors: ['request path "sys/policies/acl/default": rate limit quota exceeded'],
  });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
  expect(refused.headers.has('x-ratelimit-limit')).toBe(false);
  // Another path, and another client.
  expect(await statuses(1, 'sys/mounts')).toEqual([200]);
  expect(await askFrom('127.0.0.2', 'sys/policies/acl/default')).toBe(200);
});

test('a quota that is changed counts anew, and one that is deleted limits nothing', async () => {
  await put('audit', { path: 'sys/audit', rate: 1, interval: '1h' });
  expect(await statuses(2, 'sys/audit')).toEqual([200, 429]);
  await put('audit', { path: 'sys/audit', rate: 2, interval: '1h' });
  expect(await statuses(3, 'sys/audit')).toEqual([200, 200, 429]);
  await ask('DELETE', 'sys/quotas/rate-limit/audit');
  expect(await statuses(3, 'sys/audit')).toEqual([200, 200, 200]);
});

test('a rate below one is one request in a longer interval', async () => {
  await put('slow', { path: 'sys/tools/*', rate: 0.5, interval: 1800 });
  const answers = [
    await ask('POST', 'sys/tools/random/1', {}),
    await ask('POST', 'sys/tools/random/1', {}),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 429]);
  expect(Number(answers[1]?.headers.get('retry-after'))).toBeGreaterThan(3500);
});

test('answers state the limit, and audit devices record refusals, where the settings say so', async () => {
  const file = join(folder, 'audit.log');
  expect(
    (await ask('POST', 'sys/audit/file', { type: 'file', options: { file_path: file } })).status,
  ).toBe(204);
  await put('auth', { path: 'sys/auth', rate: 1, interval: '1h' });
  const recorded = () =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map(
        (line) => JSON.parse(line) as { type: string; error?: string; request: { path: string } },
      )
      .filter(({ request: { path } }) => path === 'sys/auth');
  await statuses(2, 'sys/auth');
  expect(recorded().map(({ type }) => type)).toEqual(['request', 'response']);
  const settings = {
    enable_rate_limit_response_headers: true,
    enable_rate_limit_audit_logging: true,
  };
  expect((await ask('POST', 'sys/quotas/config', settings)).status).toBe(204);
  const refused = await ask('GET', 'sys/auth');
  expect(refused.status).toBe(429);
  expect(refused.headers.get('x-ratelimit-limit')).toBe('1');
  expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
  expect(Number(refused.headers.get('x-ratelimit-reset'))).toBeGreaterThan(3000);
  expect(recorded().slice(2)).toMatchObject([
    { type: 'request' },
    { type: 'response', error: expect.stringContaining('rate limit quota exceeded') },
  ]);
});

test('a body that is over the limit is not read', async () => {
  await put('body', { path: 'sys/wrapping/wrap', rate: 1, interval: '1h' });
  await ask('POST', 'sys/wrapping/wrap', {});
  const status = await new Promise((resolve, reject) => {
    // The body never ends.
    const endless = request(`${keelson.http}/v1/sys/wrapping/wrap`, {
      method: 'POST',
      headers: { 'x-service-token': keelson.rootToken, 'content-length': 1000 },
    });
    endless
      .on('response', (response) => {
        resolve(response.statusCode);
        endless.destroy();
      })
      .on('error', reject)
      .flushHeaders();
  });
  expect(status).toBe(429);
});

test('a login or certificate too many is refused, and leaves nothing behind', async () => {
  const write = async (path: string, body: object) => {
    const answer = await ask('POST', path, body);
    return { status: answer.status, body: answer.status === 204 ? undefined : await answer.json() };
  };
  await write('sys/auth/staff', { type: 'userpass' });
  await write('auth/staff/users/ada', { password: 'correct horse' });
  await write('sys/quotas/lease-count/staff', { path: 'auth/staff', max_leases: 1 });
  const logIn = () => write('auth/staff/login/ada', { password: 'correct horse' });
  expect((await logIn()).status).toBe(200);
  expect(await logIn()).toEqual({
    status: 429,
    body: { errors: ['request path "auth/staff/login/ada": lease count quota exceeded'] },
  });
  await write('sys/mounts/leased', { type: 'pki' });
  await write('leased/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
  await write('leased/roles/web', { allow_any_name: true, generate_lease: true, key_type: 'ec' });
  await write('sys/quotas/lease-count/web', { path: 'leased/issue/web', max_leases: 1 });
  const issue = () => write('leased/issue/web', { common_name: 'a.example.com', ttl: '1h' });
  expect((await issue()).status).toBe(200);
  expect(await issue()).toEqual({
    status: 429,
    body: { errors: ['request path "leased/issue/web": lease count quota exceeded'] },
  });
  expect(await (await ask('LIST', 'leased/certs')).json()).toMatchObject({
    data: { keys: { length: 2 } },
  });
});

test('logins with a role are counted by its quota, and all others by that of the mount', async () => {
  const write = async (path: string, body: object) => (await ask('POST', path, body)).status;
  await write('sys/auth/machines', { type: 'approle' });
  for (const name of ['web', 'ci'])
    await write(`auth/machines/role/${name}`, {
      role_id: `the-${name}`,
      token_policies: 'default',
    });
  await put('machines', { path: 'auth/machines', rate: 4, interval: '1h' });
  await put('web', { path: 'auth/machines', role: 'web', rate: 2, interval: '1h' });
  const secretIdOf = async (name: string): Promise<string> => {
    const answer = await ask('POST', `auth/machines/role/${name}/secret-id`, {});
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { data: { secret_id: string } }).data.secret_id;
  };
  const [web, ci] = [await secretIdOf('web'), await secretIdOf('ci')];
  const logIn = (name: string, secret_id: string) =>
    write('auth/machines/login', { role_id: `the-${name}`, secret_id });
  expect([await logIn('web', web), await logIn('web', 'a-guess')]).toEqual([200, 400]);
  expect([await logIn('web', web), await logIn('web', web)]).toEqual([429, 429]);
  // The two requests for secret ids were counted by the quota of the mount.
  expect([await logIn('ci', ci), await logIn('nobody', ci)]).toEqual([200, 400]);
  expect([await logIn('ci', ci), await logIn('nobody', ci)]).toEqual([429, 429]);
  await ask('DELETE', 'sys/quotas/rate-limit/web');
  await ask('DELETE', 'sys/quotas/rate-limit/machines');
  expect(await logIn('web', web)).toBe(200);
});
