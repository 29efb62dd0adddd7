/**
 * Snapshots of a whole control plane with its states in object storage: taken under load, restored elsewhere,
 * and refused when damaged.
 */
import { execFile, execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import {
  bareEnvironment,
  bundledProcess,
  type KeelsonProcess,
  type S3Server,
  startKeelson,
  startS3,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REFUSED_SNAPSHOTS } from '../refused-snapshots.ts';

const SNAPSHOT = 'sys/storage/raft/snapshot';
const JSON_API = 'application/vnd.api+json';
/** Name of a scheduled snapshot that is newer than those of the test. */
const LATEST = 'keelson-29990101T000000000Z.snapshot';

let folder: TemporaryDirectory;
let source: KeelsonProcess;
let target: KeelsonProcess;
let snapshot: Buffer;
let objects: S3Server;
let targetSettings: Readonly<Record<string, string>>;
let sourceSettings: Readonly<Record<string, string>>;

interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- documents of many shapes, asserted by the tests
  readonly body: any;
}

const answerOf = async (response: Response): Promise<Answer> => {
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
};

const v1 = async (
  to: KeelsonProcess,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> =>
  answerOf(
    await fetch(`${to.http}/v1/${path}`, {
      method,
      headers: { 'X-Service-Token': token },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );

const api = async (
  to: KeelsonProcess,
  token: string,
  method: string,
  path: string,
  data?: unknown,
): Promise<Answer> =>
  answerOf(
    await fetch(`${to.http}/api/v2/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': JSON_API },
      ...(data !== undefined && { body: JSON.stringify({ data }) }),
    }),
  );

const take = async (from: KeelsonProcess, token = from.rootToken): Promise<Response> =>
  fetch(`${from.http}/v1/${SNAPSHOT}`, { headers: { 'X-Service-Token': token } });

const restore = async (
  to: KeelsonProcess,
  body: Uint8Array,
  { path = SNAPSHOT, token = to.rootToken } = {},
): Promise<Answer> =>
  answerOf(
    await fetch(`${to.http}/v1/${path}`, {
      method: 'POST',
      headers: { 'X-Service-Token': token },
      body,
    }),
  );

/** The services open their stores after sys; until then they answer 503. */
const untilReady = async (to: KeelsonProcess): Promise<void> => {
  const open = [
    () => v1(to, source.rootToken, 'GET', 'pki/config/crl'),
    () => api(to, source.apiToken, 'GET', 'organizations/acme'),
  ];
  for (const call of open) while ((await call()).status === 503);
};

/** Number of a new CRL. */
const crlNumberOf = async (of: KeelsonProcess): Promise<bigint> => {
  expect((await v1(of, source.rootToken, 'GET', 'pki/crl/rotate')).status).toBe(200);
  const list = await (await fetch(`${of.http}/v1/pki/crl/pem`)).text();
  const printed = execFileSync('openssl', ['crl', '-noout', '-crlnumber'], { input: list });
  return BigInt(printed.toString().trim().split('=')[1] ?? '');
};

const unsealKeysOf = async ({ dataFolder }: KeelsonProcess): Promise<readonly string[]> => {
  const facts = await readFile(join(dataFolder, 'first-run.json'), 'utf8');
  return (JSON.parse(facts) as { readonly unseal_keys: readonly string[] }).unseal_keys;
};

/** The newest restoration of a store; empty if there was none. */
const restorationOf = ({ dataFolder }: KeelsonProcess, service: string): string => {
  const database = new DatabaseSync(join(dataFolder, `${service}.sqlite`), { readOnly: true });
  try {
    const row = database
      .prepare("SELECT stored FROM record WHERE path = 'node/core/restoration'")
      .get();
    return row === undefined ? '' : Buffer.from(row['stored'] as Uint8Array).toString();
  } finally {
    database.close();
  }
};

const COMMAND = await bundledProcess('services/cli/src/main.ts');

/** The command line, which ends with this code and text. */
const keelson = async (
  given: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly out: string }> => {
  const ended = await promisify(execFile)(process.execPath, [COMMAND, ...given], {
    env: { ...bareEnvironment(folder.path), ...env },
  }).catch((failed: { code: number; stdout: string; stderr: string }) => failed);
  return { code: 'code' in ended ? ended.code : 0, out: ended.stdout + ended.stderr };
};

/** Entries of a tar archive under gzip. */
const entriesOf = (archive: Uint8Array): Map<string, Buffer> => {
  const tar = gunzipSync(archive);
  const entries = new Map<string, Buffer>();
  for (let at = 0; at < tar.length && tar[at] !== 0; ) {
    const name = tar.toString('latin1', at, at + 100).replace(/\0.*$/, '');
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8);
    entries.set(name, tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return entries;
};

const stateOf = (name: string): string =>
  JSON.stringify({
    version: 4,
    serial: 1,
    lineage: name,
    outputs: { name: { value: name, type: 'string' } },
    resources: [],
  });

const loadState = async (from: KeelsonProcess, name: string): Promise<string> => {
  const path = `organizations/acme/workspaces/${name}`;
  const { body } = await api(from, source.apiToken, 'GET', path);
  const version = await api(
    from,
    source.apiToken,
    'GET',
    `workspaces/${body.data.id}/current-state-version`,
  );
  const address = new URL(version.body.data.attributes['hosted-state-download-url']);
  return (await fetch(`${from.http}${address.pathname}${address.search}`)).text();
};

/** Names in the order in which their creation was acknowledged. */
const acknowledged: string[] = [];
let isLoaded = true;
/** Each writes until `isLoaded` is false. */
const load = async (writer: number): Promise<void> => {
  for (let n = 0; isLoaded; n += 1) {
    const name = `w-${writer}-${n}`;
    const policy = await v1(source, source.rootToken, 'POST', `sys/policies/acl/${name}`, {
      policy: `path "x/${name}" { capabilities = ["read"] }`,
    });
    const role = await v1(source, source.rootToken, 'POST', `pki/roles/${name}`, {
      allow_any_name: true,
    });
    const workspace = await api(source, source.apiToken, 'POST', 'organizations/acme/workspaces', {
      type: 'workspaces',
      attributes: { name },
    });
    expect([policy.status, role.status, workspace.status]).toEqual([204, 200, 201]);
    const path = `workspaces/${workspace.body.data.id}`;
    await api(source, source.apiToken, 'POST', `${path}/actions/lock`, {});
    const state = Buffer.from(stateOf(name));
    const stored = await api(source, source.apiToken, 'POST', `${path}/state-versions`, {
      type: 'state-versions',
      attributes: {
        serial: 1,
        md5: createHash('md5').update(state).digest('hex'),
        state: state.toString('base64'),
      },
    });
    expect(stored.status).toBe(201);
    acknowledged.push(name);
  }
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  objects = await startS3();
  const { access } = objects;
  const env = {
    KEELSON_RATE_LIMIT: 'off',
    KEELSON_OBJECT_STORAGE_ENDPOINT: access.endpoint,
    KEELSON_OBJECT_STORAGE_BUCKET: access.bucket,
    KEELSON_OBJECT_STORAGE_ACCESS_KEY_ID: access.accessKeyId,
    KEELSON_OBJECT_STORAGE_SECRET_ACCESS_KEY: access.secretAccessKey,
  };
  targetSettings = env;
  sourceSettings = { ...env, KEELSON_BACKUP_EVERY_SECONDS: '3600' };
  [source, target] = await Promise.all([
    startKeelson({ dataFolder: join(folder.path, 'source'), env: sourceSettings }),
    startKeelson({ dataFolder: join(folder.path, 'target'), env }),
  ]);
  await v1(source, source.rootToken, 'POST', 'sys/mounts/pki', { type: 'pki' });
  await v1(source, source.rootToken, 'POST', 'pki/root/generate/internal', {
    common_name: 'Root',
    key_type: 'ec',
  });
  await api(source, source.apiToken, 'POST', 'organizations', {
    type: 'organizations',
    attributes: { name: 'acme', email: 'ops@example.com' },
  });
});
afterAll(async () => {
  await Promise.all([source, target].map((process) => process?.stop()));
  await objects?.[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

describe('a snapshot', () => {
  let before: readonly string[];

  test('is taken while others write', async () => {
    const writers = [1, 2, 3].map(load);
    while (acknowledged.length < 30) await v1(source, source.rootToken, 'GET', 'sys/mounts');
    before = [...acknowledged];
    const response = await take(source);
    snapshot = Buffer.from(await response.arrayBuffer());
    isLoaded = false;
    await Promise.all(writers);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/gzip');
  });

  test('has the entries that clients look for, with a manifest and digests of all', () => {
    const entries = entriesOf(snapshot);
    const names = [...entries.keys()];
    expect(names[0]).toBe('meta.json');
    // The public client refuses an archive whose last entry is missing or empty.
    expect(names.slice(-2)).toEqual(['SHA256SUMS', 'SHA256SUMS.sealed']);
    expect(entries.get('SHA256SUMS.sealed')?.length).toBeGreaterThan(0);
    const sums = names
      .slice(0, -2)
      .map((name) => {
        const digest = createHash('sha256')
          .update(entries.get(name) ?? '')
          .digest('hex');
        return `${digest}  ${name}\n`;
      })
      .join('');
    expect(entries.get('SHA256SUMS')?.toString()).toBe(sums);
    expect(JSON.parse(String(entries.get('meta.json')))).toMatchObject({
      format: 1,
      cluster_name: 'keelson',
      positions: {
        sys: expect.any(Number),
        pki: expect.any(Number),
        workspace: expect.any(Number),
      },
    });
  });

  test('contains no secret in clear', async () => {
    const content = gunzipSync(snapshot);
    for (const secret of [source.rootToken, source.apiToken, 'PRIVATE KEY', 'ops@example.com'])
      expect(content.includes(secret)).toBe(false);
  });

  test('is refused to tokens without sudo', async () => {
    await v1(source, source.rootToken, 'POST', 'sys/policies/acl/reader', {
      policy: `path "${SNAPSHOT}" { capabilities = ["read", "update"] }`,
    });
    const made = await v1(source, source.rootToken, 'POST', 'auth/token/create', {
      policies: ['reader'],
    });
    const token = made.body.auth.client_token as string;
    expect((await take(source, token)).status).toBe(403);
    expect((await restore(source, snapshot, { token })).status).toBe(403);
    expect((await take(source, '')).status).toBe(403);
  });

  test.for(REFUSED_SNAPSHOTS)('%s is refused, and nothing is changed', async ([, make, text]) => {
    await v1(target, target.rootToken, 'POST', 'sys/policies/acl/kept', {
      policy: 'path "kept" { capabilities = ["read"] }',
    });
    const own = Buffer.from(await (await take(target)).arrayBuffer());
    const refused = await restore(target, make({ own, foreign: snapshot }));
    expect(refused.status).toBe(400);
    expect(refused.body.errors[0]).toContain(text);
    const kept = await v1(target, target.rootToken, 'GET', 'sys/policies/acl/kept');
    expect(kept.status).toBe(200);
  });

  test('restored elsewhere by force seals, and has every write acknowledged before it was taken', async () => {
    const restored = await restore(target, snapshot, { path: `${SNAPSHOT}-force` });
    const warnings = [expect.stringContaining('was renamed to first-run.replaced.json')];
    expect(restored).toEqual({ status: 200, body: { warnings } });
    expect(await readdir(target.dataFolder)).not.toContain('first-run.json');
    const status = await v1(target, '', 'GET', 'sys/seal-status');
    expect(status.body).toMatchObject({ initialized: true, sealed: true });
    let opened: Answer = status;
    for (const key of (await unsealKeysOf(source)).slice(0, status.body.t as number))
      opened = await v1(target, '', 'POST', 'sys/unseal', { key });
    expect(opened.body.sealed).toBe(false);
    await untilReady(target);
    const names = async (path: string): Promise<readonly string[]> =>
      (await v1(target, source.rootToken, 'LIST', path)).body.data.keys;
    const policies = new Set(await names('sys/policies/acl'));
    const roles = new Set(await names('pki/roles'));
    expect(before.length).toBeGreaterThanOrEqual(30);
    for (const name of before) {
      expect(policies).toContain(name);
      expect(roles).toContain(name);
      const path = `organizations/acme/workspaces/${name}`;
      expect((await api(target, source.apiToken, 'GET', path)).status).toBe(200);
      expect(await loadState(target, name)).toBe(stateOf(name));
    }
    // The former records of the target are gone.
    expect(policies).not.toContain('kept');
    expect((await v1(target, target.rootToken, 'GET', 'sys/mounts')).status).toBe(403);
  });

  test('goes on: certificates are issued, workspaces made and listed, and it is itself copied', async () => {
    const issued = await v1(target, source.rootToken, 'POST', 'pki/issue/w-1-0', {
      common_name: 'after.example.com',
      ttl: '1h',
    });
    expect(issued.status).toBe(200);
    const made = await api(target, source.apiToken, 'POST', 'organizations/acme/workspaces', {
      type: 'workspaces',
      attributes: { name: 'after' },
    });
    expect(made.status).toBe(201);
    const found = await api(
      target,
      source.apiToken,
      'GET',
      'organizations/acme/workspaces?search[name]=after',
    );
    expect(found.body.data).toHaveLength(1);
    expect((await take(target, source.rootToken)).status).toBe(200);
  });

  test('opens at later starts with the key file of either cluster, and with no other', async () => {
    const keyFile = join(target.dataFolder, 'unseal.key');
    // The target's own key file, which is valid since the source's key shares were entered.
    await target.stop();
    target = await startKeelson({ dataFolder: target.dataFolder, env: targetSettings });
    const read = await v1(target, source.rootToken, 'GET', 'sys/policies/acl/w-1-0');
    expect(read.status).toBe(200);
    await target.stop();
    await writeFile(keyFile, randomBytes(32).toString('base64'));
    const refused = startKeelson({ dataFolder: target.dataFolder, env: targetSettings });
    await expect(refused).rejects.toThrow(`${keyFile}: the unseal key is missing or does not open`);
    await copyFile(join(source.dataFolder, 'unseal.key'), keyFile);
    target = await startKeelson({ dataFolder: target.dataFolder, env: targetSettings });
    const merkle = await v1(target, source.rootToken, 'POST', 'sys/replication/merkle-check');
    expect(JSON.stringify(merkle.body)).not.toContain('"corrupted_root":true');
  });

  test('of the same cluster takes back what was written since, and needs no force', async () => {
    await v1(source, source.rootToken, 'POST', 'sys/policies/acl/since', {
      policy: 'path "since" { capabilities = ["read"] }',
    });
    const published = await crlNumberOf(source);
    expect((await restore(source, snapshot)).status).toBe(204);
    // Its key file opens the seal again.
    expect((await v1(source, '', 'GET', 'sys/seal-status')).body.sealed).toBe(false);
    await untilReady(source);
    const since = await v1(source, source.rootToken, 'GET', 'sys/policies/acl/since');
    expect(since.status).toBe(404);
    const kept = await v1(source, source.rootToken, 'GET', 'sys/policies/acl/w-1-0');
    expect(kept.status).toBe(200);
    // Clients ignore a list whose number is lower than one they have seen.
    expect(await crlNumberOf(source)).toBeGreaterThan(published);
  });

  /** Begins a restoration and kills the process. @returns whether it was early enough: a restoration takes milliseconds */
  const isKilledBetweenStores = async (): Promise<boolean> => {
    const former = {
      workspace: restorationOf(source, 'workspace'),
      sys: restorationOf(source, 'sys'),
    };
    await v1(source, source.rootToken, 'POST', 'sys/policies/acl/since', {
      policy: 'path "since" { capabilities = ["read"] }',
    });
    const answer = restore(source, snapshot).catch(() => undefined);
    // The workspace store is the first that is replaced, that of sys the last.
    while (restorationOf(source, 'workspace') === former.workspace) await new Promise(setImmediate);
    await Promise.all([answer, source.stop('SIGKILL')]);
    return restorationOf(source, 'sys') === former.sys;
  };

  test('is finished by the next start when the process is killed between two stores', async () => {
    while (!(await isKilledBetweenStores())) {
      source = await startKeelson({ dataFolder: source.dataFolder, env: sourceSettings });
      await untilReady(source);
    }
    const doctor = await keelson(['doctor', source.dataFolder]);
    expect([doctor.code, doctor.out]).toEqual([
      2,
      expect.stringMatching(/fault .*sys\.sqlite .* records of an interrupted restoration wait/),
    ]);
    source = await startKeelson({ dataFolder: source.dataFolder, env: sourceSettings });
    await untilReady(source);
    expect((await v1(source, source.rootToken, 'GET', 'sys/policies/acl/since')).status).toBe(404);
    for (const name of before.slice(0, 5)) {
      expect((await v1(source, source.rootToken, 'GET', `pki/roles/${name}`)).status).toBe(200);
      expect(await loadState(source, name)).toBe(stateOf(name));
    }
    const log = await readFile(join(source.dataFolder, 'keelson.log'), 'utf8');
    expect(log).toContain('the restoration of a snapshot was finished');
    expect(log).not.toContain(objects.access.secretAccessKey);
    expect((await take(source)).status).toBe(200);
  });

  test('is also taken by the server itself, into the object storage', async () => {
    const outcomes = await v1(source, source.rootToken, 'GET', 'sys/storage/backups');
    const { name, sha256 } = outcomes.body.data.last_success;
    const stored = await readFile(join(objects.bucketFolder, name));
    expect(createHash('sha256').update(stored).digest('hex')).toBe(sha256);
    expect(entriesOf(stored).has('SHA256SUMS.sealed')).toBe(true);
    expect(await readdir(join(objects.bucketFolder, 'contents'))).not.toEqual([]);
    expect(await readFile(join(objects.bucketFolder, `${name}.sha256`), 'utf8')).toContain(sha256);
  });

  describe('in the object storage', () => {
    let empty: KeelsonProcess;
    let settings: Readonly<Record<string, string>>;
    beforeAll(async () => {
      empty = await startKeelson({ dataFolder: join(folder.path, 'empty'), env: targetSettings });
      await writeFile(join(objects.bucketFolder, 'backups', LATEST), snapshot);
      const ofStorage = Object.entries(targetSettings).filter(([name]) =>
        name.startsWith('KEELSON_OBJECT_STORAGE_'),
      );
      settings = {
        ...Object.fromEntries(ofStorage),
        KEELSON_ADDR: empty.http,
        KEELSON_TOKEN: empty.rootToken,
      };
    });
    afterAll(() => empty?.stop());

    const fromStorage = (name: string, ...given: readonly string[]) =>
      keelson(['restore', '--object-storage', name, ...given], settings);

    test.for<[string, () => Readonly<Record<string, string>>, string, string]>([
      [
        'a name that is not there',
        () => ({}),
        'keelson-x.snapshot',
        `The newest: ${LATEST}, keelson-2`,
      ],
      ['keys of other clusters without --force', () => ({}), 'latest', 'snapshot-force'],
      [
        'settings that name no storage',
        () => ({ KEELSON_OBJECT_STORAGE_ENDPOINT: '', KEELSON_OBJECT_STORAGE_BUCKET: '' }),
        'latest',
        'KEELSON_OBJECT_STORAGE_ENDPOINT',
      ],
      [
        'a misspelt setting',
        () => ({ KEELSON_OBJECT_STORAGE_BUKET: 'x' }),
        'latest',
        'did you mean KEELSON_OBJECT_STORAGE_BUCKET',
      ],
      [
        'a wrong key of the storage',
        () => ({ KEELSON_OBJECT_STORAGE_SECRET_ACCESS_KEY: 'hunter2' }),
        'latest',
        'the object storage cannot be used (it answers 403',
      ],
      [
        'a prefix without snapshots',
        () => ({ KEELSON_OBJECT_STORAGE_PREFIX: 'elsewhere/' }),
        'latest',
        'elsewhere/backups/ has no snapshots',
      ],
    ])('%s: refused with what to do', async ([, make, name, text]) => {
      const refused = await keelson(['restore', '--object-storage', name], {
        ...settings,
        ...make(),
      });
      expect([refused.code, refused.out]).toEqual([1, expect.stringContaining(text)]);
      expect(refused.out).not.toMatch(/hunter2|secret-of-the-object-storage|hvs\./);
    });

    test('is restored without a file, although the process is killed and started with a wrong key', async () => {
      const keyFile = join(empty.dataFolder, 'unseal.key');
      const before = restorationOf(empty, 'workspace');
      const answer = fromStorage(LATEST, '--force');
      while (restorationOf(empty, 'workspace') === before) await new Promise(setImmediate);
      await empty.stop('SIGKILL');
      const ended = await answer;
      expect([ended.code, ended.out]).toEqual([1, expect.stringContaining('cannot be reached')]);
      const start = () => startKeelson({ dataFolder: empty.dataFolder, env: targetSettings });
      // Its own key is not that of the snapshot. Two attempts: the first finishes the restoration.
      for (let attempt = 0; attempt < 2; attempt += 1)
        await expect(start()).rejects.toThrow(`${keyFile}: the unseal key is missing or does not`);
      await copyFile(join(source.dataFolder, 'unseal.key'), keyFile);
      empty = await start();
      await untilReady(empty);
      expect(await loadState(empty, 'w-1-0')).toBe(stateOf('w-1-0'));
    });

    test('the latest is restored by name "latest"', async () => {
      const restored = await keelson(['restore', '--object-storage', 'latest', '--json'], {
        ...settings,
        KEELSON_ADDR: empty.http,
        KEELSON_TOKEN: source.rootToken,
      });
      expect(restored.code).toBe(0);
      expect(JSON.parse(restored.out)).toEqual({
        restored: true,
        name: LATEST,
        sealed: false,
      });
      await untilReady(empty);
    });
  });
});
