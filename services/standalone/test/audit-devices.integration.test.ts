/** Audit devices through the whole control plane: one that cannot be written to locks nobody out. */
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type KeelsonProcess, startKeelson } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let folder: string;
let keelson: KeelsonProcess;
const start = (env: Readonly<Record<string, string>> = {}) =>
  startKeelson({ dataFolder: join(folder, 'data'), env });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-audit-'));
  keelson = await start();
});
afterAll(async () => {
  await keelson.stop();
  rmSync(folder, { recursive: true });
});

const call = async (
  method: string,
  path: string,
  body?: object,
  token: string = keelson.rootToken,
) => {
  const response = await fetch(`${keelson.http}/v1/${path}`, {
    method,
    headers: { 'x-service-token': token },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  // oxlint-disable-next-line typescript/no-unsafe-assignment -- documents of many shapes
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
};
const enable = (name: string, type: string, options: object) =>
  call('PUT', `sys/audit/${name}`, { type, options });
const lookUp = async () => (await call('GET', 'auth/token/lookup-self')).status;

/** A receiver of entries that can vanish. */
const openReceiver = async () => {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.resume());
    // The receiver vanishes while the writer is connected.
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    address: typeof address === 'object' ? `127.0.0.1:${address?.port}` : '',
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
};

test('the newest requests are shown in short, to tokens with sudo alone', async () => {
  const recent = async (token?: string) =>
    call('GET', 'sys/internal/ui/recent-requests', undefined, token);
  expect((await recent()).body.data).toEqual({ requests: [] });
  await enable('log', 'file', { file_path: join(folder, 'recent.log') });
  await call('PUT', 'sys/policies/acl/reads', {
    policy: 'path "sys/internal/ui/*" { capabilities = ["read"] }',
  });
  for (let at = 0; at < 3; at += 1) await call('GET', 'sys/mounts');
  await call('GET', `${'long/'.repeat(100)}path`);
  const { requests } = (await recent()).body.data;
  const shortened = requests.map((one: Readonly<Record<string, unknown>>) =>
    [one['operation'], one['path'], one['status'], one['display_name']].join(' '),
  );
  expect(shortened).toEqual([
    // No mount serves the path, so nobody is looked up.
    `read ${'long/'.repeat(40)} 404 `,
    'read sys/mounts 200 root',
    'update sys/policies/acl/reads 204 root',
  ]);
  const made = await call('POST', 'auth/token/create', { policies: ['reads'] });
  expect((await recent(made.body.auth.client_token)).status).toBe(403);
  expect((await recent('')).status).toBe(403);
  expect(JSON.stringify((await recent()).body)).not.toContain(made.body.auth.client_token);
  await call('DELETE', 'sys/audit/log');
});

test('a device that cannot be written to is not enabled', async () => {
  const gone = await openReceiver();
  await gone.close();
  for (const [type, options] of [
    ['file', { file_path: join(folder, 'absent', 'audit.log') }],
    ['file', { file_path: folder }],
    ['socket', { address: gone.address }],
  ] as const) {
    const { status, body } = await enable('bad', type, options);
    expect([status, body.errors[0]]).toEqual([
      400,
      expect.stringContaining('the audit device cannot be written to: '),
    ]);
  }
  expect((await call('GET', 'sys/audit')).body.data).toEqual({});
  expect(await lookUp()).toBe(200);
});

test('a device refused for its options touches no file', async () => {
  const file_path = join(folder, 'script.sh');
  expect((await enable('bad', 'file', { file_path, mode: '0755' })).status).toBe(400);
  expect(() => readFileSync(file_path)).toThrow('ENOENT');
});

test('no device may use the files of the server itself', async () => {
  const data = join(folder, 'data');
  symlinkSync(data, join(folder, 'link'));
  const before = ['unseal.key', 'first-run.json'].map((name) => readFileSync(join(data, name)));
  for (const file_path of [
    join(data, 'unseal.key'),
    join(data, 'first-run.json'),
    join(data, 'sys.sqlite'),
    join(data, 'keelson.log'),
    join(data, 'audit.log'),
    join(folder, 'link', 'unseal.key'),
  ]) {
    const { status, body } = await enable('bad', 'file', { file_path });
    expect([status, body.errors[0]]).toEqual([
      400,
      expect.stringContaining('file_path names a file or a folder of Keelson itself'),
    ]);
  }
  const linked = join(folder, 'linked.log');
  linkSync(join(data, 'unseal.key'), linked);
  expect((await enable('bad', 'file', { file_path: linked })).body.errors[0]).toContain(
    'file_path is a file with another name (a hard link)',
  );
  rmSync(linked);
  const after = ['unseal.key', 'first-run.json'].map((name) => readFileSync(join(data, name)));
  expect(after).toEqual(before);
  expect(() => readFileSync(join(data, 'audit.log'))).toThrow('ENOENT');
  expect((await call('GET', 'sys/audit')).body.data).toEqual({});
});

test('a device starts with its test entry', async () => {
  const file_path = join(folder, 'audit.log');
  expect((await enable('file', 'file', { file_path })).status).toBe(204);
  expect(await lookUp()).toBe(200);
  const paths = readFileSync(file_path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { request: { path: string } }).request.path);
  expect(paths).toEqual(['sys/audit/test', 'auth/token/lookup-self', 'auth/token/lookup-self']);
});

test('an entry names the caller by the display_name and the metadata of its token', async () => {
  const meta = { user: 'alice@example.com', ticket: 'OPS-7' };
  const created = await call('POST', 'auth/token/create', { display_name: 'ci 7', meta });
  await call('GET', 'auth/token/lookup-self', undefined, created.body.auth.client_token);
  const entries = readFileSync(join(folder, 'audit.log'), 'utf8').trim().split('\n');
  const { auth, request, response } = JSON.parse(entries.at(-1) ?? '') as {
    auth: object;
    request: { id: string };
    response: { data: { request_id: string; mount_type: string; data: { id: string } } };
  };
  expect(auth).toMatchObject({ display_name: 'token-ci-7', policies: ['root'], metadata: meta });
  expect(response.data.request_id).toBe(request.id);
  expect(response.data.data.id).toMatch(/^hmac-sha256:/);
});

interface ApiEntry {
  readonly auth: object;
  readonly request: { readonly path: string; readonly data?: { readonly data: object } };
  readonly response?: {
    readonly warnings?: readonly string[];
    readonly data?: { readonly data: object };
  };
}

test('warnings of /v1 and /api/v2, and resources of /api/v2, are readable in their audit entries', async () => {
  const file_path = join(folder, 'warnings.log');
  expect((await enable('warnings', 'file', { file_path })).status).toBe(204);
  const api = async (method: string, path: string, type: string, attributes: object) => {
    const response = await fetch(`${keelson.http}/api/v2/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${keelson.apiToken}`,
        'content-type': 'application/vnd.api+json',
      },
      body: JSON.stringify({ data: { type, attributes } }),
    });
    const document = (await response.json()) as { data: { id: string } };
    return document.data.id;
  };
  await api('POST', 'organizations', 'organizations', { name: 'watched', email: 'a@b.example' });
  const assessed = { name: 'assessed', 'assessments-enabled': true };
  const id = await api('POST', 'organizations/watched/workspaces', 'workspaces', assessed);
  await api('PATCH', `workspaces/${id}`, 'workspaces', { description: 'changed' });
  await call('POST', 'auth/token/create', { ttl: '9000h' });
  const entries = readFileSync(file_path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ApiEntry);
  const warnings = entries.flatMap(({ response }) => response?.warnings ?? []);
  const created = entries.find(
    ({ response, request }) =>
      response && request.path === 'api/v2/organizations/watched/workspaces',
  );
  expect(created?.auth).toMatchObject({
    display_name: 'admin',
    metadata: { token_id: expect.stringMatching(/^at-/) as unknown, site_admin: 'true' },
  });
  expect(created?.request.data?.data).toMatchObject({
    type: 'workspaces',
    attributes: { name: 'assessed' },
  });
  expect(created?.response?.data?.data).toMatchObject({
    type: 'workspaces',
    id,
    attributes: { name: 'assessed', 'execution-mode': expect.stringMatching(/^hmac-/) as unknown },
    relationships: { organization: { data: { type: 'organizations', id: 'watched' } } },
  });
  expect(warnings).toEqual([
    expect.stringContaining('assessments-enabled was not given'),
    expect.stringContaining('ttl'),
  ]);
  expect((await call('DELETE', 'sys/audit/warnings')).status).toBe(204);
});

const UNRECORDED = ['sys/health', 'sys/seal-status', 'sys/leader', 'sys/init'];
const readiness = async () => {
  const answer = await fetch(`${keelson.http}/readyz`);
  return { status: answer.status, body: (await answer.json()) as { impaired?: object } };
};

test('a device whose folder is missing after a start is named, and what load balancers ask is answered', async () => {
  const gone = join(folder, 'gone');
  mkdirSync(gone);
  expect((await enable('away', 'file', { file_path: join(gone, 'audit.log') })).status).toBe(204);
  expect(await lookUp()).toBe(200);
  for (const path of UNRECORDED) expect((await call('GET', path)).status).toBe(200);
  expect((await fetch(`${keelson.http}/readyz`)).status).toBe(200);
  const entries = readFileSync(join(gone, 'audit.log'), 'utf8');
  expect(entries).toContain('auth/token/lookup-self');
  for (const path of UNRECORDED) expect(entries).not.toContain(path);
  expect((await call('DELETE', 'sys/audit/file')).status).toBe(204);
  expect((await readiness()).body).not.toHaveProperty('impaired');

  await keelson.stop();
  rmSync(gone, { recursive: true });
  keelson = await start();
  expect(await readiness()).toEqual({
    status: 200,
    body: expect.objectContaining({
      impaired: { gateway: ['the audit device away/ cannot be written to (ENOENT)'] },
    }),
  });
  expect(await lookUp()).toBe(500);
  for (const path of UNRECORDED) expect((await call('GET', path)).status).toBe(200);
  mkdirSync(gone);
  expect(await lookUp()).toBe(200);
  expect((await readiness()).body).not.toHaveProperty('impaired');
  expect((await enable('file', 'file', { file_path: join(folder, 'audit.log') })).status).toBe(204);
  expect((await call('DELETE', 'sys/audit/away')).status).toBe(204);
});

test('after a restoration the devices of the snapshot record, and those since do not', async () => {
  const snapshotUrl = `${keelson.http}/v1/sys/storage/raft/snapshot`;
  const headers = { 'x-service-token': keelson.rootToken };
  const entries = (name: string): string => readFileSync(join(folder, `${name}.log`), 'utf8');
  const options = (name: string) => ({ file_path: join(folder, `${name}.log`) });
  expect((await enable('before', 'file', options('before'))).status).toBe(204);
  const snapshot = await (await fetch(snapshotUrl, { headers })).arrayBuffer();
  expect((await enable('since', 'file', options('since'))).status).toBe(204);
  expect((await call('DELETE', 'sys/audit/before')).status).toBe(204);
  const restored = await fetch(snapshotUrl, { method: 'POST', headers, body: snapshot });
  expect(restored.status).toBe(204);
  const former = [entries('before'), entries('since')];
  expect(await lookUp()).toBe(200);
  expect(entries('before')).not.toBe(former[0]);
  expect(entries('since')).toBe(former[1]);
  expect((await call('DELETE', 'sys/audit/before')).status).toBe(204);
});

test('the answer to a restoration names the devices of the snapshot that cannot be written to', async () => {
  const snapshotUrl = `${keelson.http}/v1/sys/storage/raft/snapshot`;
  const headers = { 'x-service-token': keelson.rootToken };
  const lost = join(folder, 'lost-folder');
  mkdirSync(lost);
  expect((await enable('lost', 'file', { file_path: join(lost, 'audit.log') })).status).toBe(204);
  const snapshot = await (await fetch(snapshotUrl, { headers })).arrayBuffer();
  expect((await call('DELETE', 'sys/audit/lost')).status).toBe(204);
  rmSync(lost, { recursive: true });
  const restored = await fetch(snapshotUrl, { method: 'POST', headers, body: snapshot });
  expect([restored.status, await restored.json()]).toEqual([
    200,
    { warnings: ['the audit device lost/ cannot be written to (ENOENT)'] },
  ]);
  expect((await call('DELETE', 'sys/audit/lost')).status).toBe(204);
});

test('a device that fails permanently blocks, and is disabled while audit is not required', async () => {
  const receiver = await openReceiver();
  expect((await enable('socket', 'socket', { address: receiver.address })).status).toBe(204);
  expect((await call('DELETE', 'sys/audit/file')).status).toBe(204);
  expect(await lookUp()).toBe(200);
  await receiver.close();
  // The first entries may still be accepted by a connection whose end has not arrived.
  await expect.poll(lookUp).toBe(500);
  expect((await call('DELETE', 'sys/audit/socket')).status).toBe(500);

  await keelson.stop();
  keelson = await start({ KEELSON_AUDIT_REQUIRED: 'false' });
  expect((await call('DELETE', 'sys/audit/socket')).status).toBe(204);
  await keelson.stop();
  const log = readFileSync(join(folder, 'data', 'keelson.log'), 'utf8');
  expect(log).toContain('requests are served even if no audit device records');
  expect(log).toContain('audit device did not accept an entry');
  keelson = await start();
  expect(await lookUp()).toBe(200);
});

test('a device with a damaged record accepts no entry: with another device requests succeed, alone it is disabled in the same way', async () => {
  const file = (name: string) => ({ file_path: join(folder, `${name}.log`) });
  expect((await enable('lost', 'file', file('lost'))).status).toBe(204);
  expect((await enable('kept', 'file', file('kept'))).status).toBe(204);
  await keelson.stop();
  const database = new DatabaseSync(join(folder, 'data', 'sys.sqlite'));
  database.prepare("UPDATE record SET stored = x'00' WHERE path = 'shared/core/audit/lost'").run();
  database.close();

  keelson = await start();
  expect(await lookUp()).toBe(200);
  expect((await call('DELETE', 'sys/audit/kept')).status).toBe(204);
  expect(await lookUp()).toBe(500);
  await keelson.stop();

  keelson = await start({ KEELSON_AUDIT_REQUIRED: 'false' });
  expect((await call('DELETE', 'sys/audit/lost')).status).toBe(204);
  await keelson.stop();
  keelson = await start();
  expect(await lookUp()).toBe(200);
});
