/** The real command against a real server: docs/command-line.md word for word, refusals, and secrets. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  bareEnvironment,
  type KeelsonProcess,
  type NatsServer,
  startKeelson,
  startNats,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { startKubernetesApi } from '@keelson/testkit/kubernetes-api';
import { DIRECTORY_BASE, startDirectory } from '@keelson/testkit/ldap-directory';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Ended, runProgram } from './run-program.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const PAGE = new URL('../../../docs/command-line.md', import.meta.url);

let folder: TemporaryDirectory;
let server: KeelsonProcess;
let nats: NatsServer;
let config: string;

const run = (
  file: string,
  given: readonly string[],
  { input = '', env = {} }: { input?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> =>
  runProgram(file, given, {
    cwd: folder.path,
    env: {
      ...bareEnvironment(folder.path),
      KEELSON_ADDR: server.http,
      KEELSON_CONFIG_DIR: config,
      ...env,
    },
    input,
  });

const keelson = (given: readonly string[], options?: Parameters<typeof run>[2]): Promise<Ended> =>
  run(process.execPath, [MAIN, ...given], options);

const asRoot = (given: readonly string[]): Promise<Ended> =>
  keelson(given, { env: { KEELSON_TOKEN: server.rootToken } });

beforeAll(async () => {
  folder = await temporaryDirectory();
  config = join(folder.path, 'config');
  // The page makes the server a primary, which publishes there.
  nats = await startNats({ jetstream: true });
  server = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_NATS_URL: nats.url, KEELSON_OUTBOUND_RANGES: '127.0.0.0/8' },
  });
  const v1 = (path: string, body: object): Promise<Response> =>
    fetch(`${server.http}/v1/${path}`, {
      method: 'POST',
      headers: { 'X-Service-Token': server.rootToken },
      body: JSON.stringify(body),
    });
  await v1('sys/mounts/pki', { type: 'pki', config: { max_lease_ttl: '8760h' } });
  await v1('pki/root/generate/internal', { common_name: 'Root', key_type: 'ec', ttl: '8000h' });
  await v1('pki/roles/web', { allow_any_name: true, key_type: 'ec', max_ttl: '24h' });
  const api = (path: string, type: string, attributes: object): Promise<Response> =>
    fetch(`${server.http}/api/v2/${path}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${server.apiToken}`,
        'Content-Type': 'application/vnd.api+json',
      },
      body: JSON.stringify({ data: { type, attributes } }),
    });
  await api('organizations', 'organizations', { name: 'acme', email: 'ops@example.com' });
  await api('organizations/acme/workspaces', 'workspaces', { name: 'web' });
  // The command as it is called: npm links it in the clone.
  const bin = join(folder.path, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'keelson'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, {
    mode: 0o755,
  });
});
afterAll(async () => {
  await server?.stop();
  await nats?.[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});
beforeEach(() => rmSync(config, { recursive: true, force: true }));

describe('the page', () => {
  test('works as written', { timeout: 300_000 }, async () => {
    const page = readFileSync(PAGE, 'utf8');
    const script = Array.from(
      page.matchAll(/^```sh\n([\s\S]*?)^```$/gm),
      ([, block]) => block,
    ).join('\n');
    const { code, out, err } = await run(
      'bash',
      ['--norc', '-eu', '-o', 'pipefail', '-c', script],
      {
        env: {
          PATH: `${join(folder.path, 'bin')}:${process.env['PATH']}`,
          ROOT: server.rootToken,
          API: server.apiToken,
          DATA: server.dataFolder,
        },
      },
    );
    expect([code, err]).toEqual([0, expect.not.stringContaining('Error')]);
    expect(out).toContain('www.example.com');
    expect(out).toContain('acme/web is locked.');
    expect(out).toMatch(/Restored .*\. The server serves again/);
    // Neither tokens nor keys are printed, but for the token that was asked for.
    for (const secret of [server.rootToken, server.apiToken, 'PRIVATE KEY'])
      expect(out + err).not.toContain(secret);
    expect(statSync(join(folder.path, 'www.key')).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder.path, 'snapshots'))).toHaveLength(1);
    expect(statSync(join(folder.path, 'first.snapshot')).mode & 0o777).toBe(0o600);
  });
});

describe('a refusal', () => {
  test('of an unknown command or option names the one that was meant, with code 64', async () => {
    const command = await keelson(['statsu']);
    expect([command.code, command.err]).toEqual([
      64,
      expect.stringContaining('Did you mean status'),
    ]);
    const option = await keelson(['status', '--jsno']);
    expect([option.code, option.err]).toEqual([64, expect.stringContaining('--json')]);
    expect((await keelson(['pki', 'issue', 'web'])).code).toBe(64);
    expect((await keelson(['replication', 'enable', 'drr'])).code).toBe(64);
  });

  test('without a token, or with a wrong one, says how to log in', async () => {
    const none = await keelson(['policy', 'list']);
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('keelson login')]);
    const wrong = await keelson(['policy', 'list'], { env: { VAULT_TOKEN: 'hvs.wrong' } });
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('keelson login')]);
    expect(wrong.err).not.toContain('hvs.wrong');
  });

  test('of a login keeps no token', async () => {
    const refused = await keelson(['login'], { input: 'hvs.wrong' });
    expect(refused.code).toBe(1);
    expect((await keelson(['token', 'lookup'])).err).toContain('There is no token');
  });

  test('without a server says how to start or name one', async () => {
    const answer = await keelson(['--address', 'http://127.0.0.1:1', 'status']);
    expect([answer.code, answer.err]).toEqual([1, expect.stringContaining('keelson start')]);
  });

  test('of a certificate names the setting of its CA, with which it is accepted', async () => {
    const refused = await keelson(['--address', server.https, 'status']);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('KEELSON_CACERT')]);
    const accepted = await keelson(['--address', server.https, 'status'], {
      env: { VAULT_CACERT: join(server.dataFolder, 'tls/ca.pem') },
    });
    expect([accepted.code, accepted.err]).toEqual([0, '']);
  });

  test('of a variable that cannot be meant names it, without a stack', async () => {
    const cases = [
      [{ KEELSON_ADDR: '127.0.0.1:8200' }, 'KEELSON_ADDR'],
      [{ KEELSON_ADDR: 'keelson.example.com' }, 'KEELSON_ADDR'],
      [{ KEELSON_CACERT: join(folder.path, 'absent.pem') }, 'KEELSON_CACERT'],
      [{ KEELSON_CACERT: MAIN }, 'KEELSON_CACERT'],
    ] as const;
    for (const [env, named] of cases) {
      const { code, err } = await keelson(['status'], { env: env as Record<string, string> });
      expect([env, code, err]).toEqual([env, 1, expect.stringMatching(/^[^\n]+\.\n$/)]);
      expect(err).toContain(named);
    }
  });

  test('of a token file that others can read says so', async () => {
    await keelson(['login'], { input: server.rootToken });
    chmodSync(join(config, 'token'), 0o644);
    const refused = await keelson(['token', 'lookup']);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('chmod 600')]);
  });

  test('of a signed token keeps no token, and one that a role accepts is kept', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const encode = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = (sub: string): string => {
      const exp = Math.floor(Date.now() / 1000) + 60;
      const data = `${encode({ alg: 'EdDSA' })}.${encode({ sub, exp })}`;
      return `${data}.${sign(null, Buffer.from(data), privateKey).toString('base64url')}`;
    };
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    await asRoot(['auth', 'enable', 'jwt', '--path', 'jobs']);
    await asRoot(['write', 'auth/jobs/config', `jwt_validation_pubkeys=${pem}`]);
    const role = ['role_type=jwt', 'user_claim=sub', 'bound_subject=job'];
    expect((await asRoot(['write', 'auth/jobs/role/ci', ...role])).code).toBe(0);
    const logIn = ['login', '--method', 'jwt', '--path', 'jobs', '--role', 'ci'];
    const refused = await keelson(logIn, { input: signed('other') });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('subject (sub)')]);
    expect((await keelson(['token', 'lookup'])).err).toContain('There is no token');
    expect((await keelson(logIn, { input: signed('job') })).code).toBe(0);
    expect((await keelson(['token', 'lookup'])).out).toContain('jobs-job');
  });

  test('of a service account keeps no token, and one that a role accepts is kept', async () => {
    const cluster = await startKubernetesApi();
    try {
      cluster.reviewers.add('reviewer');
      await asRoot(['auth', 'enable', 'kubernetes', '--path', 'pods']);
      const api = [`kubernetes_host=${cluster.url}`, `kubernetes_ca_cert=${cluster.caPem}`];
      await asRoot(['write', 'auth/pods/config', ...api, 'token_reviewer_jwt=reviewer']);
      const bound = ['bound_service_account_names=web', 'bound_service_account_namespaces=shop'];
      const role = ['write', 'auth/pods/role/web', ...bound, 'audience=keelson'];
      expect((await asRoot(role)).code).toBe(0);
      const logIn = ['login', '--method', 'kubernetes', '--path', 'pods', '--role', 'web'];
      const refused = await keelson(logIn, { input: cluster.issue('mall/web', ['keelson']) });
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('denied')]);
      expect((await keelson(['token', 'lookup'])).err).toContain('There is no token');
      const token = cluster.issue('shop/web', ['keelson']);
      expect((await keelson(logIn.slice(0, -2), { input: token })).err).toContain('--role');
      expect((await keelson(logIn, { input: `${token}\n` })).code).toBe(0);
      expect((await keelson(['token', 'lookup'])).out).toContain('pods-shop-web');
    } finally {
      await cluster.stop();
    }
  });

  test('of a person of a directory keeps no token for a wrong password', async () => {
    const directory = await startDirectory();
    try {
      await asRoot(['auth', 'enable', 'ldap', '--path', 'staff']);
      const people = `userdn=ou=people,${DIRECTORY_BASE}`;
      const config = ['write', 'auth/staff/config', `url=${directory.url}`, people, 'userattr=uid'];
      expect((await asRoot(config)).code).toBe(0);
      const logIn = ['login', '--method', 'ldap', '--path', 'staff', '--username', 'alice'];
      const refused = await keelson(logIn, { input: 'a guess' });
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('failed to bind')]);
      expect((await keelson(['token', 'lookup'])).err).toContain('There is no token');
      expect((await keelson(logIn, { input: 'password of alice\n' })).code).toBe(0);
      expect((await keelson(['token', 'lookup'])).out).toContain('staff-alice');
    } finally {
      await directory.stop();
    }
  });

  test('of a mount that does not exist is not an empty list', async () => {
    for (const command of ['list', 'roles', 'issuers', 'crl', 'expiring', 'health']) {
      const { code, out, err } = await asRoot(['pki', command, '--mount', 'nonexistent']);
      expect([command, code, out]).toEqual([command, 1, '']);
      expect(err).toContain('nonexistent');
    }
    const wrongType = await asRoot(['pki', 'list', '--mount', 'cubbyhole']);
    expect(wrongType).toMatchObject({ code: 1, out: '' });
  });

  test('of a token that does not exist says so; one that exists is listed with its last use, and ends', async () => {
    const api = (path: string) =>
      fetch(`${server.http}/api/v2/${path}`, {
        headers: { Authorization: `Bearer ${server.apiToken}` },
      });
    const account = (await (await api('account/details')).json()) as { data: { id: string } };
    const path = `users/${account.data.id}/authentication-tokens`;
    const made = await fetch(`${server.http}/api/v2/${path}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${server.apiToken}`,
        'Content-Type': 'application/vnd.api+json',
      },
      body: JSON.stringify({
        data: { type: 'authentication-tokens', attributes: { description: 'leaked' } },
      }),
    });
    const { data } = (await made.json()) as { data: { id: string } };
    const asAdmin = (given: readonly string[]) =>
      keelson(given, { env: { KEELSON_API_TOKEN: server.apiToken } });
    const listed = (await asAdmin(['token', 'list', '--api'])).out.split('\n');
    const rowOf = (text: string) => listed.find((row) => row.includes(text)) ?? '';
    expect(rowOf('leaked')).toMatch(
      new RegExp(`^${data.id} +${account.data.id} +leaked +never +2`),
    );
    // The token that was used, which does not end.
    expect(listed.some((row) => /20\d\d-\S+ +never$/.test(row))).toBe(true);
    const ended = await asAdmin(['token', 'revoke', '--api-token', data.id]);
    expect([ended.code, ended.out]).toEqual([0, 'Revoked.\n']);
    const again = await asAdmin(['token', 'revoke', '--api-token', data.id]);
    expect(again).toMatchObject({ code: 1, out: '' });
  });

  test('of a policy that does not exist says so, when it is read and when it is deleted', async () => {
    for (const command of ['read', 'delete'])
      expect(await asRoot(['policy', command, 'nonexistent'])).toEqual({
        code: 1,
        out: '',
        err: 'GET /v1/sys/policies/acl/nonexistent: it does not exist.\n',
      });
  });

  test('of a field or path that cannot be meant names it, with code 64', async () => {
    const noField = await asRoot(['write', 'pki/roles/web', 'allowed_domains']);
    expect(noField).toMatchObject({ code: 64, err: expect.stringContaining('NAME=VALUE') });
    const query = await asRoot(['list', 'pki/roles?list=true']);
    expect(query).toMatchObject({ code: 64, err: expect.stringContaining('without query') });
  });

  test('of the output ends the command with the reason, and silently at the end of a pipe', async () => {
    const env = { KEELSON_TOKEN: server.rootToken };
    const into = (target: string) =>
      run('bash', ['-c', `'${process.execPath}' '${MAIN}' read sys/mounts ${target}`], { env });
    expect(await into('> /dev/full')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^The output cannot be written: ENOSPC[^\n]*\n$/),
    });
    expect(await into('| true')).toMatchObject({ code: 0, err: '' });
  });

  test('of a backup leaves no file, and existing files as they are', async () => {
    const denied = await keelson(['backup', 'denied.snapshot'], {
      env: { KEELSON_TOKEN: 'hvs.wrong' },
    });
    expect(denied.code).toBe(1);
    expect(readdirSync(folder.path).filter((name) => name.startsWith('denied'))).toEqual([]);
    writeFileSync(join(folder.path, 'there.snapshot'), 'mine');
    const existing = await asRoot(['backup', 'there.snapshot']);
    expect([existing.code, existing.err]).toEqual([1, expect.stringContaining('not overwritten')]);
    const restored = await asRoot(['restore', 'there.snapshot']);
    expect([restored.code, restored.err]).toEqual([
      1,
      expect.stringContaining('not a snapshot of Keelson'),
    ]);
  });
});

test('a folder keeps the newest snapshots and files of other names', async () => {
  const kept = join(folder.path, 'kept');
  mkdirSync(kept);
  writeFileSync(join(kept, 'keelson-mine.snapshot'), '');
  for (let n = 0; n < 3; n += 1)
    expect((await asRoot(['backup', '--folder', kept, '--keep', '2'])).code).toBe(0);
  const names = readdirSync(kept);
  expect(names).toHaveLength(3);
  expect(names).toContain('keelson-mine.snapshot');
});

test('a sealed server is told by code 2, and unsealed with shares from standard input', async () => {
  expect((await asRoot(['seal'])).code).toBe(0);
  const sealed = await keelson(['status', '--json']);
  expect([sealed.code, JSON.parse(sealed.out)]).toMatchObject([2, { sealed: true, t: 3 }]);
  const refused = await asRoot(['policy', 'list']);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('keelson unseal')]);
  const facts = readFileSync(join(server.dataFolder, 'first-run.json'), 'utf8');
  const { unseal_keys: shares } = JSON.parse(facts) as { readonly unseal_keys: readonly string[] };
  for (const share of shares.slice(0, 3))
    expect((await keelson(['unseal'], { input: share })).code).toBe(0);
  expect((await keelson(['status'])).code).toBe(0);
});

test('a state is written to a new file that only its owner can read', async () => {
  const workspaces = await fetch(`${server.http}/api/v2/organizations/acme/workspaces/web`, {
    headers: { Authorization: `Bearer ${server.apiToken}` },
  });
  const { data } = (await workspaces.json()) as { readonly data: { readonly id: string } };
  const api = (path: string, body: object): Promise<Response> =>
    fetch(`${server.http}/api/v2/workspaces/${data.id}/${path}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${server.apiToken}`,
        'Content-Type': 'application/vnd.api+json',
      },
      body: JSON.stringify(body),
    });
  const asUser = (given: readonly string[]): Promise<Ended> =>
    keelson(given, { env: { KEELSON_API_TOKEN: server.apiToken } });
  const none = await asUser(['workspace', 'state', 'acme/web']);
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('current-state-version')]);
  const state = '{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[]}';
  await api('actions/lock', {});
  const stored = await api('state-versions', {
    data: {
      type: 'state-versions',
      attributes: {
        serial: 1,
        md5: createHash('md5').update(state).digest('hex'),
        state: Buffer.from(state).toString('base64'),
      },
    },
  });
  expect(stored.status).toBe(201);
  expect((await asUser(['workspace', 'state', 'acme/web'])).out).toBe(`${state}\n`);
  const file = join(folder.path, 'web.tfstate');
  const written = await asUser(['workspace', 'state', 'acme/web', '--output', file]);
  expect([written.code, written.out]).toEqual([0, `Wrote state 1 to ${file}.\n`]);
  expect(readFileSync(file, 'utf8')).toBe(state);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a root with the lifetime that it gets by default is good on its first day', async () => {
  for (const given of [
    ['mount', 'enable', 'pki', '--path', 'month'],
    ['write', 'month/root/generate/internal', 'common_name=Month', 'key_type=ec'],
  ])
    expect(await asRoot(given)).toMatchObject({ code: 0 });
  const { code, out } = await asRoot(['pki', 'health', '--mount', 'month']);
  expect([code, out]).toEqual([0, expect.stringMatching(/ 3[01] +good$/m)]);
});

test('holders of key shares make a root token', async () => {
  const { unseal_keys: shares } = JSON.parse(
    readFileSync(join(server.dataFolder, 'first-run.json'), 'utf8'),
  ) as { readonly unseal_keys: readonly string[] };
  const made = await keelson(['token', 'generate-root'], { input: shares.join('\n') });
  expect(made).toMatchObject({ code: 0 });
  const env = { KEELSON_TOKEN: made.out.trim() };
  expect((await keelson(['token', 'lookup'], { env })).out).toMatch(/^policies +\["root"\]$/m);
  expect((await keelson(['token', 'revoke'], { env })).code).toBe(0);
});

test('doctor names a damaged store, a readable key and a missing file, and changes nothing', async () => {
  const sick = join(folder.path, 'sick');
  const made = await startKeelson({ dataFolder: sick });
  await made.stop();
  expect((await keelson(['doctor', sick])).code).toBe(0);

  // The start refuses the same; data-folders.integration.test.ts of standalone has more.
  const at = (name: string): string => join(folder.path, 'refused', name);
  for (const [change, named, reason] of [
    [() => writeFileSync(at('unseal.key'), randomBytes(32).toString('base64')), 'unseal.key', ''],
    [
      () => cpSync(at('pki.sqlite'), at('workspace.sqlite')),
      'workspace.sqlite',
      'is the store of pki',
    ],
    [
      () => writeFileSync(at('store-positions.json'), '{"sys":9999,"pki":1,"workspace":1}'),
      'sys.sqlite',
      'KEELSON_ACCEPT_LOST_COMMITS=sys:',
    ],
    [
      () => {
        const database = new DatabaseSync(at('pki.sqlite'));
        database.exec('UPDATE head SET format = 2');
        database.close();
      },
      'pki.sqlite',
      'format 2',
    ],
  ] as const) {
    cpSync(sick, join(folder.path, 'refused'), { recursive: true });
    change();
    const { code, out } = await keelson(['doctor', join(folder.path, 'refused')]);
    expect(code).toBe(2);
    expect(out).toMatch(new RegExp(`^fault .*${named.replace('.', '\\.')}.*(${reason})`, 'm'));
    rmSync(join(folder.path, 'refused'), { recursive: true });
  }

  truncateSync(join(sick, 'pki.sqlite'), 8192);
  rmSync(join(sick, 'workspace.sqlite'));
  chmodSync(join(sick, 'unseal.key'), 0o644);
  const found = await keelson(['doctor', sick]);
  expect(found.code).toBe(2);
  const lines = found.out.split('\n');
  const lineOf = (name: string): string => lines.find((line) => line.includes(name)) ?? '';
  expect(lineOf('pki.sqlite')).toMatch(/^fault .*(damaged|cannot be read)/);
  expect(lineOf('workspace.sqlite')).toMatch(/^fault .*missing/);
  expect(lineOf('unseal.key')).toMatch(/^fault .*chmod 600/);
  expect(lineOf('sys.sqlite')).toMatch(/^good/);
  expect((await keelson(['doctor', join(folder.path, 'nowhere')])).code).toBe(2);
});

test.for([
  {
    setting: undefined,
    hasPrograms: true,
    line: /^good +runs +each is executed in a sandbox$/m,
    code: 0,
  },
  { setting: undefined, hasPrograms: false, line: /^note +runs +.*Install bubblewrap/m, code: 0 },
  { setting: 'true', hasPrograms: false, line: /^fault +runs +.*Install bubblewrap/m, code: 2 },
  {
    setting: 'unsafe',
    hasPrograms: true,
    line: /^note +runs +.*set KEELSON_RUNNER=true/m,
    code: 0,
  },
  {
    setting: 'unsafe',
    hasPrograms: false,
    line: /^note +runs +.*allows none: no sandbox/m,
    code: 0,
  },
  { setting: 'false', hasPrograms: false, line: /^(?![^]* runs )/, code: 0 },
])(
  'doctor says whether runs are executed in a sandbox: KEELSON_RUNNER=$setting, programs: $hasPrograms',
  async ({ setting, hasPrograms, line, code }) => {
    const ended = await keelson(['doctor', server.dataFolder], {
      env: {
        ...(setting !== undefined && { KEELSON_RUNNER: setting }),
        ...(hasPrograms ? {} : { PATH: join(folder.path, 'bin') }),
      },
    });
    expect([ended.code, ended.out]).toEqual([code, expect.stringMatching(line)]);
  },
);

test('completion offers commands and their arguments in bash', async () => {
  const file = join(folder.path, 'keelson.bash');
  const script = await keelson(['completion', 'bash']);
  writeFileSync(file, script.out);
  const offeredFor = async (...words: readonly string[]): Promise<readonly string[]> => {
    // The words of a line that is being typed, as the package bash-completion passes them on.
    const typed = `_get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; }`;
    const asked = `source ${file}; compopt() { :; }; COMP_WORDS=("$0" "$@"); COMP_CWORD=$#; __keelson_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const answer = await run('bash', ['--norc', '-c', `${typed}; ${asked}`, 'keelson', ...words], {
      env: { PATH: `${join(folder.path, 'bin')}:${process.env['PATH']}` },
    });
    expect(answer.err).toBe('');
    return answer.out.trim().split('\n');
  };
  expect(await offeredFor('repl')).toEqual(['replication']);
  expect(await offeredFor('replication', 'pro')).toEqual(['promote']);
  expect(await offeredFor('workspace', '')).toEqual(
    expect.arrayContaining(['list', 'lock', 'unlock', 'state']),
  );
  expect(await offeredFor('completion', 'po')).toEqual(['powershell']);
});
