/** Messages of a failed start: they name the setting, the fault and the remedy. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { bundledProcess, type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const SOURCES = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** The same from one bundle, which is loaded in a third of the time. */
const START = await bundledProcess('services/standalone/src/main.ts');

let folder: TemporaryDirectory;
beforeEach(async () => {
  folder = await temporaryDirectory();
});
afterEach(() => folder[Symbol.asyncDispose]());
const at = (name: string): string => join(folder.path, name);

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const start = async (
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
  options: readonly string[] = [],
  main = START,
): Promise<Ended> => {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...options, main, ...args],
    {
      env: {
        ...process.env,
        KEELSON_DATA_DIR: at('data'),
        KEELSON_HTTP_PORT: '0',
        KEELSON_HTTPS_PORT: '0',
        ...env,
      },
    },
  );
  let out = '';
  let err = '';
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    err += data.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
};
const refused = (err: string) => ({ code: 1, err: `keelson cannot start: ${err}\n` });
const logged = (): string => readFileSync(join(at('data'), 'keelson.log'), 'utf8');

test.for(['KEELSON_HTTP_PORT', 'KEELSON_HTTPS_PORT'])(
  'a port in use is reported with its setting, in the log as well: %s',
  async (name) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const said = `${name}: port ${port} of 127.0.0.1 is in use by another process; end that one or set another port.`;
    expect(await start({ [name]: String(port) })).toMatchObject(refused(said));
    expect(logged()).toContain(said);
    other.close();
  },
);

test('an address that the machine does not have is reported with its setting', async () => {
  expect(await start({ KEELSON_LISTEN_ADDRESS: '192.0.2.1' })).toMatchObject(
    refused('KEELSON_LISTEN_ADDRESS: 192.0.2.1 is not an address of this machine.'),
  );
});

describe('certificate files', () => {
  const files = (certificate: string, key: string) =>
    start({
      KEELSON_TLS_CERTIFICATE_FILE: at(certificate),
      KEELSON_TLS_KEY_FILE: at(key),
    });

  test('that are missing, a folder or invalid are reported', async () => {
    writeFileSync(at('text'), 'no PEM', { mode: 0o600 });
    mkdirSync(at('folder'));
    expect(await files('text', 'missing')).toMatchObject(
      refused(
        `KEELSON_TLS_KEY_FILE: there is no ${at('missing')}; create it or correct the setting.`,
      ),
    );
    expect((await files('folder', 'text')).err).toContain(
      `KEELSON_TLS_CERTIFICATE_FILE: ${at('folder')} is a folder, a file is needed.`,
    );
    expect((await files('text', 'text')).err).toContain(
      `KEELSON_TLS_CERTIFICATE_FILE, KEELSON_TLS_KEY_FILE: ${at('text')} and ${at('text')} are not a certificate and its private key`,
    );
  });

  test('of which only one is set are reported', async () => {
    expect(await start({ KEELSON_TLS_KEY_FILE: at('key') })).toMatchObject(
      refused('KEELSON_TLS_CERTIFICATE_FILE and KEELSON_TLS_KEY_FILE go together.'),
    );
  });
});

describe('a file with secrets that every user of the machine can read', () => {
  const exposed = (setting: string, name: string): string =>
    `keelson cannot start: ${setting}: ${at(name)} contains secrets, and its mode 0644 lets every user of this machine read or change it: chmod o= ${at(name)}\n`;
  const write = (name: string, content: string): void => {
    writeFileSync(at(name), content);
    chmodSync(at(name), 0o644);
  };

  test.for([
    'KEELSON_UNSEAL_KEY_FILE',
    'KEELSON_TLS_KEY_FILE',
    'KEELSON_OBJECT_STORAGE_CREDENTIALS_FILE',
  ])('is refused with its setting: %s', async (setting) => {
    write('secret', 'a'.repeat(64));
    expect((await start({ [setting]: at('secret') })).err).toBe(exposed(setting, 'secret'));
  });

  test('is refused as a file of settings if one of these is a secret', async () => {
    write('settings', 'object_storage_secret_access_key: hunter2\n');
    const refused = await start({}, ['--config', at('settings')]);
    expect(refused.err).toBe(exposed('--config', 'settings'));
    expect(refused.err).not.toContain('hunter2');
    write('settings', 'log_level: nonsense\n');
    expect((await start({}, ['--config', at('settings')])).err).toContain('log_level');
  });

  test('is accepted once only its owner and group can', async () => {
    write('secret', 'no key');
    chmodSync(at('secret'), 0o640);
    const { err } = await start({ KEELSON_UNSEAL_KEY_FILE: at('secret') });
    expect(err).not.toContain('contains secrets');
  });
});

test('a path that is a file, or not writable, is reported with its setting', async () => {
  writeFileSync(at('file'), '');
  expect((await start({ KEELSON_DATA_DIR: at('file') })).err).toMatch(
    /^keelson cannot start: KEELSON_DATA_DIR: .* is a file/,
  );
  mkdirSync(at('log'));
  expect(await start({ KEELSON_LOG_FILE: at('log') })).toMatchObject(
    refused(`KEELSON_LOG_FILE: ${at('log')} is a folder, a file is needed.`),
  );
  expect((await start({ KEELSON_LOG_FILE: '/proc/keelson.log' })).err).toMatch(
    /^keelson cannot start: KEELSON_LOG_FILE: .*\/proc\/keelson\.log/,
  );
});

describe('arguments', () => {
  test('that are unknown are refused, with the setting that was probably meant', async () => {
    const hint =
      'is not an argument: settings come from the environment or a file (--config), --help lists them';
    expect(await start({}, ['--port', '1234'])).toMatchObject(refused(`"--port" ${hint}.`));
    expect(await start({}, ['--http-port=1234'])).toMatchObject(
      refused(`"--http-port=1234" ${hint}; did you mean KEELSON_HTTP_PORT?`),
    );
  });

  test('print the version and the settings', async () => {
    expect(await start({}, ['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^keelson \d+\.\d+\.\d+\n$/),
    });
    const { code, out } = await start({}, ['--help']);
    expect(code).toBe(0);
    expect(out).toMatch(/^keelson [\d.]+\n\nArguments:\n {2}--config FILE /);
    expect(out).toMatch(/\n\nData folder and log\n\n {2}KEELSON_DATA_DIR\n {6}Folder of all data/);
    expect(out).toContain('a whole number from 0 to 65535; default: 8200');
    expect(out).not.toContain('Other settings');
  });
});

/** The other processes start as sys does. */
const MAINS = ['gateway', 'sys', 'runner'];

describe('a file with settings', () => {
  const write = (text: string): string => {
    const path = at('keelson.yaml');
    writeFileSync(path, text);
    return path;
  };

  test('gives what the environment does not, by the argument or the variable', async () => {
    const path = write(
      'keep_alive_seconds: 0\nhsts_seconds: -1\naudit_directories:\n  - /var/log\n  - /srv\n',
    );
    const keepAlive = `keep_alive_seconds in ${path} must be a whole number of at least 1, not "0".`;
    const hsts = `hsts_seconds in ${path} must be a whole number of at least 0, not "-1".`;
    const both = refused(`${hsts}\n${keepAlive}`);
    expect(await start({}, [`--config=${path}`])).toMatchObject(both);
    expect(await start({ KEELSON_CONFIG_FILE: path })).toMatchObject(both);
    expect(
      await start({ KEELSON_CONFIG_FILE: path, KEELSON_KEEP_ALIVE_SECONDS: '75' }),
    ).toMatchObject(refused(hsts));
  });

  test.for(MAINS)('is read by %s, which names a setting that may be meant', async (service) => {
    const path = write('log_levle: info\n');
    const main = fileURLToPath(new URL(`../../../${service}/src/main.ts`, import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [main, '--config', path], {
      encoding: 'utf8',
      env: {},
    });
    expect(status).toBe(1);
    expect(stderr).toContain(
      `log_levle in ${path} is not a setting of this process; did you mean log_level?`,
    );
  });

  test('must be named', async () => {
    expect(await start({}, ['--config', write('config_file: other.yaml')])).toMatchObject(
      refused(
        `config_file in ${at('keelson.yaml')} has no effect there: use --config or KEELSON_CONFIG_FILE.`,
      ),
    );
    expect(await start({}, ['--config'])).toMatchObject(
      refused('--config needs the name of a file.'),
    );
    expect(await start({}, ['--hlep'])).toMatchObject({
      err: expect.stringContaining('did you mean --help?'),
    });
  });
});

test('a misspelt setting is reported with the one that was probably meant', async () => {
  expect(await start({ KEELSON_DATADIR: '/x' })).toMatchObject(
    refused('KEELSON_DATADIR is not a setting of this process; did you mean KEELSON_DATA_DIR?'),
  );
});

/** Makes Node behave as a version that cannot read TypeScript. */
const asOldNode = (version: string): string => `
  import { registerHooks } from 'node:module';
  Object.defineProperty(process, 'versions', { value: { node: '${version}' } });
  registerHooks({
    load(url, context, next) {
      if (url.endsWith('.ts')) throw new TypeError('Unknown file extension ".ts" for ' + url);
      return next(url, context);
    },
  });`;

test.for([
  ['20.19.0', true],
  ['24.11.1', true],
  ['24.12.0', false],
  ['25.0.0', false],
] as const)(
  'the command `keelson` refuses Node %s before it reads TypeScript: %s',
  async ([version, isRefused]) => {
    const hooks = `data:text/javascript,${encodeURIComponent(asOldNode(version))}`;
    const path = fileURLToPath(new URL('../../../cli/src/keelson.js', import.meta.url));
    const child = spawn(process.execPath, ['--import', hooks, path, '--version']);
    const [err] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(child.exitCode).toBe(1);
    expect(err).toContain(
      isRefused
        ? `keelson cannot start: it needs Node 24.12 or newer, this is ${version} (${process.execPath}). `
        : 'Unknown file extension ".ts"',
    );
    expect(err.includes('Unknown file extension')).toBe(!isRefused);
  },
);

test('a wrong argument is reported without loading the services', async () => {
  const watch = `
    import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        if (url.endsWith('/compose.ts')) process.stderr.write('loaded ' + url);
        return next(url, context);
      },
    });`;
  const ended = await start(
    {},
    ['--port'],
    ['--import', `data:text/javascript,${encodeURIComponent(watch)}`],
    SOURCES,
  );
  expect(ended.code).toBe(1);
  expect(ended.err).toContain('"--port" is not an argument');
  expect(ended.err).not.toContain('loaded');
});
