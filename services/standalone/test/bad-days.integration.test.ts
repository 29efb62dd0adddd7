/**
 * The bad days of an operator. Each time, the places that an operator looks at name the fault and the next step: the
 * command line, readiness, the alert that rings, and the doctor. The console is tested in services/console.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ManualClock } from '@keelson/clock';
import { openSelfIssuedCertificate } from '@keelson/gateway-service';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Alarms, keelson, lookAt, startAlarms } from './operators-view.ts';

const DAY_MS = 86_400_000;

let folder: TemporaryDirectory;
let alarms: Alarms;
let home: KeelsonProcess;
let certificate: Readonly<Record<string, string>>;
const at = (name: string): string => join(folder.path, name);

/** Writes the files of a certificate of 90 days that was made so long ago. */
const certify = async (daysAgo: number): Promise<void> => {
  const issued = await openSelfIssuedCertificate({
    folder: at(`certificate-${daysAgo}`),
    names: ['localhost', '127.0.0.1'],
    clock: new ManualClock(Date.now() - daysAgo * DAY_MS),
  });
  issued.close();
  const { cert, key } = issued.current();
  writeFileSync(at('server.key'), key, { mode: 0o600 });
  writeFileSync(at('server.pem'), cert);
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  await certify(0);
  certificate = {
    KEELSON_TLS_CERTIFICATE_FILE: at('server.pem'),
    KEELSON_TLS_KEY_FILE: at('server.key'),
  };
  [alarms, home] = await Promise.all([
    startAlarms(at('alarms')),
    // The variables of the command line are exported in the shell that starts the server.
    startKeelson({
      dataFolder: at('home'),
      env: {
        ...certificate,
        KEELSON_ADDR: 'http://127.0.0.1:8200',
        KEELSON_CACERT: at('server.pem'),
        KEELSON_TOKEN: 'hvs.of-the-shell',
        KEELSON_API_TOKEN: 'of-the-shell',
        KEELSON_CONFIG_DIR: at('config'),
      },
    }),
  ]);
  alarms.watch('keelson-home', home);
});
afterAll(async () => {
  await home?.stop();
  await alarms?.stop();
  await folder?.[Symbol.asyncDispose]();
});

const call = async (
  { http }: Pick<KeelsonProcess, 'http'>,
  token: string,
  method: string,
  path: string,
  body?: object,
): Promise<number> => {
  const answer = await fetch(`${http}/v1/${path}`, {
    method,
    headers: { 'x-service-token': token },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  await answer.arrayBuffer();
  return answer.status;
};

const sharesOf = (name: string): readonly string[] =>
  (
    JSON.parse(readFileSync(at(join(name, 'first-run.json')), 'utf8')) as {
      readonly unseal_keys: readonly string[];
    }
  ).unseal_keys.slice(0, 3);

const WELL = { status: { code: 0 }, ready: { http: 200 }, doctor: { code: 0 } };

test('on a good day nothing is reported', async () => {
  const view = await lookAt(home, certificate);
  expect(view).toMatchObject(WELL);
  expect(view.ready).not.toHaveProperty('impaired');
  expect(view.doctor.out).not.toContain('fault');
});

describe('restored on another machine, without the folder of the audit device', () => {
  test('the answer, the command line, readiness, an alert and the doctor name the device', async () => {
    mkdirSync(at('log'));
    const device = { type: 'file', options: { file_path: at('log/audit.log') } };
    expect(await call(home, home.rootToken, 'PUT', 'sys/audit/daily', device)).toBe(204);
    const asRoot = { KEELSON_ADDR: home.http, KEELSON_TOKEN: home.rootToken };
    expect((await keelson(['backup', at('home.snapshot')], asRoot)).code).toBe(0);
    expect(await call(home, home.rootToken, 'DELETE', 'sys/audit/daily')).toBe(204);
    rmSync(at('log'), { recursive: true });

    const spare = await startKeelson({ dataFolder: at('spare') });
    alarms.watch('keelson-spare', spare);
    try {
      const onSpare = { KEELSON_ADDR: spare.http, KEELSON_TOKEN: spare.rootToken };
      const restored = await keelson(['restore', at('home.snapshot'), '--force'], onSpare);
      expect(restored).toMatchObject({ code: 0, err: '' });
      expect(restored.out).toContain('audit device daily/');
      let unsealed = restored;
      for (const share of sharesOf('home')) unsealed = await keelson(['unseal'], onSpare, share);
      const fault = 'the audit device daily/ cannot be written to (ENOENT)';
      expect(unsealed.out).toContain(fault);
      expect(await call(spare, home.rootToken, 'GET', 'sys/mounts')).toBe(500);

      const { status, ready, doctor } = await lookAt(spare);
      expect([status.code, status.out]).toEqual([2, expect.stringContaining(fault)]);
      expect(ready.impaired?.['gateway']).toContain(fault);
      expect([doctor.code, doctor.out]).toEqual([
        2,
        expect.stringMatching(/fault\s+\S*log\/audit\.log.*audit device daily\//),
      ]);
      await expect.poll(() => alarms.ringing('keelson-spare')).toContain('KeelsonServiceImpaired');
    } finally {
      alarms.forget('keelson-spare');
      await spare.stop();
    }
  });
});

describe('the certificate of HTTPS', () => {
  const reload = (): void => void process.kill(home.pid, 'SIGHUP');
  const impairedBy = async (): Promise<string> =>
    JSON.stringify((await lookAt(home, certificate)).ready.impaired ?? {});
  const expectFault = async (fault: string, next: string): Promise<void> => {
    await expect.poll(impairedBy).toContain(fault);
    const { status, doctor } = await lookAt(home, certificate);
    expect([status.code, status.out]).toEqual([2, expect.stringContaining(fault)]);
    expect(status.out).toContain(next);
    expect([doctor.code, doctor.out]).toEqual([2, expect.stringContaining(fault)]);
    await expect.poll(() => alarms.ringing('keelson-home')).toContain('KeelsonServiceImpaired');
  };

  test('that ends in five days is named, and rings', async () => {
    await certify(85);
    reload();
    await expectFault('the certificate of HTTPS expires at', 'renew it');
    await expect
      .poll(() => alarms.ringing('keelson-home'))
      .toContain('KeelsonEdgeCertificateExpires');
  });

  test('that has ended is named, and rings', async () => {
    await certify(91);
    reload();
    await expectFault('the certificate of HTTPS expired at', 'Replace it');
    expect(await alarms.ringing('keelson-home')).toContain('KeelsonEdgeCertificateExpires');
  });

  test('that was renewed without its key is named, while the former one is served', async () => {
    await certify(0);
    writeFileSync(at('server.key'), readFileSync(at('certificate-91/ca-key.pem')));
    reload();
    await expectFault('are not a certificate and its private key', 'server.key');
    await certify(0);
    reload();
    await expect.poll(impairedBy).toBe('{}');
    await expect.poll(() => alarms.ringing('keelson-home')).toEqual([]);
  });
});

describe('sealed', () => {
  test('the command line and readiness say how to open it, and the alert of the seal alone rings', async () => {
    expect(await call(home, home.rootToken, 'PUT', 'sys/seal')).toBe(204);
    const { status, ready, doctor } = await lookAt(home, certificate);
    expect([status.code, status.out]).toEqual([2, expect.stringContaining('keelson unseal')]);
    expect(ready).toMatchObject({ http: 503, seal: 'sealed' });
    expect(doctor.code).toBe(0);
    await expect.poll(() => alarms.ringing('keelson-home')).toContain('KeelsonSealed');
    expect(await alarms.ringing('keelson-home')).not.toContain('KeelsonDown');
    for (const share of sharesOf('home'))
      await keelson(['unseal'], { KEELSON_ADDR: home.http }, share);
    await expect.poll(() => alarms.ringing('keelson-home')).toEqual([]);
  });
});

describe('the disk of the data folder is full', () => {
  test('the command line, readiness, an alert and the doctor say so, until there is room', async () => {
    mkdirSync(at('small'));
    const small = await startKeelson({
      dataFolder: at('small'),
      diskBytes: 32 * 1024 * 1024,
      env: { KEELSON_LOG_FILE: '-' },
    });
    alarms.watch('keelson-small', small);
    try {
      const seen = { http: small.http, dataFolder: join(small.root, small.dataFolder) };
      const { bavail, bsize } = statfsSync(seen.dataFolder);
      const fill = join(seen.dataFolder, 'fill');
      writeFileSync(fill, Buffer.alloc(bavail * bsize));
      expect(await call(small, small.rootToken, 'PUT', 'sys/mounts/lab', { type: 'pki' })).toBe(
        507,
      );

      const fault = 'the disk of the store is full';
      const { status, ready, doctor } = await lookAt(seen);
      expect([status.code, status.out]).toEqual([2, expect.stringContaining(`sys: ${fault}`)]);
      expect(ready).toMatchObject({
        http: 200,
        status: 'ready',
        impaired: { sys: [expect.stringContaining(`${fault}: writes are refused`)] },
      });
      expect([doctor.code, doctor.out]).toEqual([
        2,
        expect.stringMatching(/fault\s+.*0\.0 GiB free/),
      ]);
      await expect.poll(() => alarms.ringing('keelson-small')).toContain('KeelsonDiskFull');
      expect(await alarms.ringing('keelson-small')).toContain('KeelsonDiskAlmostFull');

      rmSync(fill);
      await expect
        .poll(async () => (await lookAt(seen)).ready, { timeout: 30_000 })
        .not.toHaveProperty('impaired');
      expect(await call(small, small.rootToken, 'PUT', 'sys/mounts/lab', { type: 'pki' })).toBe(
        204,
      );
      await expect.poll(() => alarms.ringing('keelson-small')).not.toContain('KeelsonDiskFull');
    } finally {
      alarms.forget('keelson-small');
      await small.stop();
    }
  });
});

describe('slow requests', () => {
  interface RequestLine {
    readonly path: string;
    readonly route?: string;
  }
  const lineOf = (path: string): RequestLine | undefined =>
    readFileSync(at('home/keelson.log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RequestLine)
      .findLast((line) => line.path === path);

  test('are found in the log by route, mount or organization, caller and size', async () => {
    expect(await call(home, home.rootToken, 'PUT', 'sys/mounts/lab', { type: 'pki' })).toBe(204);
    expect(await call(home, home.rootToken, 'GET', 'lab/roles/web')).toBe(404);
    await expect
      .poll(() => lineOf('/v1/lab/roles/web'))
      .toMatchObject({
        method: 'GET',
        route: '/roles/:name',
        mount: 'lab/',
        caller: 'root',
        status: 404,
        bytes: 13,
      });
    const shown = await fetch(`${home.http}/api/v2/organizations/acme/workspaces?q=a`, {
      headers: { authorization: `Bearer ${home.apiToken}` },
    });
    expect(shown.status).toBe(404);
    await expect
      .poll(() => lineOf('/api/v2/organizations/acme/workspaces'))
      .toMatchObject({
        route: '/organizations/:organization_name/workspaces',
        organization: 'acme',
        caller: 'admin',
        bytes: expect.any(Number) as unknown,
      });
  });
});

test('a full log is moved away as docs/ports.md says, and a new one begins', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/ports.md'), 'utf8');
  const [command = ''] = /fuser -s -k -HUP \S+/.exec(page) ?? [];
  const log = at('home/keelson.log');
  renameSync(log, `${log}.1`);
  execFileSync('sh', ['-c', command.replace('/var/lib/keelson', home.dataFolder)], {
    stdio: 'ignore',
  });
  await expect.poll(() => existsSync(log)).toBe(true);
  expect((await lookAt(home, certificate)).status.code).toBe(0);
});

describe('a leaked token', () => {
  interface Listed {
    readonly accessor: string;
    readonly display_name: string;
  }
  const onHome = (): Record<string, string> => ({
    KEELSON_ADDR: home.http,
    KEELSON_TOKEN: home.rootToken,
  });
  const listed = async (): Promise<readonly Listed[]> =>
    JSON.parse((await keelson(['token', 'list', '--json'], onHome())).out) as readonly Listed[];

  test('is found by its name, is refused once its accessor is revoked, and who used it is recorded', async () => {
    const file = at('leak.log');
    const device = { type: 'file', options: { file_path: file } };
    expect(await call(home, home.rootToken, 'PUT', 'sys/audit/leak', device)).toBe(204);
    const given = ['token', 'create', '--policy', 'default', '--display-name', 'build'];
    const token = (await keelson(given, onHome())).out.trim();
    expect(await call(home, token, 'GET', 'auth/token/lookup-self')).toBe(200);
    const leaked = (await listed()).find(({ display_name }) => display_name.endsWith('build'));
    const revoked = await keelson(
      ['token', 'revoke', '--accessor', leaked?.accessor ?? ''],
      onHome(),
    );
    expect(revoked).toMatchObject({ code: 0, err: '' });
    expect(await call(home, token, 'GET', 'auth/token/lookup-self')).toBe(403);
    expect(await listed()).not.toContainEqual(leaked);
    const used = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as { auth?: { display_name?: string }; request: { path: string } },
      )
      .filter(({ auth }) => auth?.display_name === leaked?.display_name);
    expect(used.map(({ request }) => request.path)).toContain('auth/token/lookup-self');
    for (const text of [readFileSync(file, 'utf8'), readFileSync(at('home/keelson.log'), 'utf8')])
      expect(text).not.toContain(token);
    expect(await call(home, home.rootToken, 'DELETE', 'sys/audit/leak')).toBe(204);
  });
});

test('a customer who was deleted is in no file of the folder into which a snapshot is restored', async () => {
  const asRoot = { KEELSON_ADDR: home.http, KEELSON_TOKEN: home.rootToken };
  const name = 'zebrafinch';
  const authorization = { authorization: `Bearer ${home.apiToken}` };
  const made = await fetch(`${home.http}/api/v2/organizations`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/vnd.api+json' },
    body: JSON.stringify({
      data: { type: 'organizations', attributes: { name, email: 'a@b.example' } },
    }),
  });
  expect(made.status).toBe(201);
  expect(await call(home, home.rootToken, 'PUT', `sys/namespaces/${name}`, {})).toBe(200);
  expect(
    (
      await fetch(`${home.http}/api/v2/organizations/${name}`, {
        method: 'DELETE',
        headers: authorization,
      })
    ).status,
  ).toBe(204);
  expect(await call(home, home.rootToken, 'DELETE', `sys/namespaces/${name}`)).toBeLessThan(300);
  expect((await keelson(['backup', at('without.snapshot')], asRoot)).code).toBe(0);
  const stores = (folder: string): readonly string[] =>
    readdirSync(at(folder))
      .filter((file) => file.includes('.sqlite'))
      .filter((file) => readFileSync(at(join(folder, file))).includes(name));
  expect(stores('home')).not.toEqual([]);

  const renewed = await startKeelson({ dataFolder: at('renewed') });
  try {
    const onRenewed = { KEELSON_ADDR: renewed.http, KEELSON_TOKEN: renewed.rootToken };
    const restored = await keelson(['restore', at('without.snapshot'), '--force'], onRenewed);
    expect(restored).toMatchObject({ code: 0, err: '' });
    for (const share of sharesOf('home')) await keelson(['unseal'], onRenewed, share);
    expect(await call(renewed, home.rootToken, 'GET', 'sys/mounts')).toBe(200);
    expect(stores('renewed')).toEqual([]);
  } finally {
    await renewed.stop();
  }
});

test('a person who leaves is found, suspended and deleted, and every token is refused from then on', async () => {
  const asAdmin = { KEELSON_ADDR: home.http, KEELSON_API_TOKEN: home.apiToken };
  const user = (...given: readonly string[]) => keelson(['user', ...given], asAdmin);
  const send = async (path: string, type: string, attributes: object, token = home.apiToken) => {
    const answer = await fetch(`${home.http}/api/v2/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/vnd.api+json',
      },
      body: JSON.stringify({ data: { type, attributes } }),
    });
    expect(answer.status).toBe(201);
    return ((await answer.json()) as { data: { id: string; attributes: { token: string } } }).data;
  };
  const { id } = await send('admin/users', 'users', { username: 'leaver', email: 'l@b.example' });
  const { attributes } = await send(`users/${id}/authentication-tokens`, 'authentication-tokens', {
    description: 'laptop',
  });
  const asLeaver = async (): Promise<number> => {
    const authorization = `Bearer ${attributes.token}`;
    return (await fetch(`${home.http}/api/v2/account/details`, { headers: { authorization } }))
      .status;
  };
  expect(await asLeaver()).toBe(200);
  expect((await user('list')).out).toMatch(/^leaver +l@b.example +false +false$/m);
  for (const [action, text] of [
    ['disable-two-factor', 'the user has no two-factor authentication'],
    ['remove-passkeys', 'the user has no passkey'],
  ] as const)
    expect(await user(action, 'leaver')).toMatchObject({
      code: 1,
      err: expect.stringContaining(text),
    });
  expect(await user('end-sessions', 'leaver')).toMatchObject({
    code: 0,
    out: 'leaver is signed out everywhere.\n',
  });
  expect(await asLeaver()).toBe(200);
  expect(await user('suspend', 'leaver')).toMatchObject({ code: 0, out: 'leaver is suspended.\n' });
  expect(await asLeaver()).toBe(401);
  expect((await user('list')).out).toMatch(/^leaver +l@b.example +false +true$/m);
  expect(await user('delete', 'leaver')).toMatchObject({ code: 0, err: '' });
  expect(await asLeaver()).toBe(401);
  expect((await user('list')).out).not.toContain('leaver');
  expect(await user('delete', 'leaver')).toMatchObject({
    code: 1,
    err: 'There is no user leaver: `keelson user list`.\n',
  });
});
