import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@keelson/testkit';
import { describe, expect, test } from 'vitest';
import { createLogger, createRequestLog, type RequestLine, redactLine } from './logging.ts';

const run = promisify(execFile);
const MODULE = new URL('logging.ts', import.meta.url).href;

const PEM = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIabcSECRETdef\n-----END EC PRIVATE KEY-----';

/** The lines that a logger writes, joined. */
const written = (log: (logger: ReturnType<typeof createLogger>) => void): string => {
  const lines: string[] = [];
  log(
    createLogger({
      name: 'test',
      level: 'info',
      destination: { write: (line) => void lines.push(line) },
    }),
  );
  return lines.join('');
};

describe('log lines', () => {
  test('are JSON with name, level word and time', () => {
    const line = JSON.parse(written((logger) => logger.info({ status: 200 }, 'answered')));
    expect(line).toMatchObject({ name: 'test', level: 'info', status: 200, msg: 'answered' });
    expect(new Date(line.time).getTime()).not.toBeNaN();
  });

  test('below the level are not written', () => {
    expect(written((logger) => logger.debug('detail'))).toBe('');
  });
});

describe('the line of a request', () => {
  const REQUEST: RequestLine = {
    requestId: 'r-1',
    method: 'GET',
    path: '/v1/pki/"é',
    status: 200,
    durationMs: 0.25,
    remoteAddress: '127.0.0.1',
  };

  test('reads as one that the logger itself writes', () => {
    const line = written((logger) => createRequestLog(logger.child({ service: 'x' }))(REQUEST));
    const { time, ...fields } = JSON.parse(line);
    expect(new Date(time).getTime()).not.toBeNaN();
    expect(fields).toEqual({
      level: 'info',
      name: 'test',
      service: 'x',
      request_id: 'r-1',
      method: 'GET',
      path: '/v1/pki/"é',
      status: 200,
      duration_ms: 0.25,
      remote_address: '127.0.0.1',
      msg: 'request',
    });
    expect(line.endsWith('}\n')).toBe(true);
  });

  test('names what is known about the request, and no more', () => {
    const known = { route: '/issue/:role', mount: 'team-a/pki/', caller: 'ci', bytes: 412 };
    const line = written((logger) =>
      createRequestLog(logger)({ ...REQUEST, ...known, organization: '' }),
    );
    expect(JSON.parse(line)).toMatchObject(known);
    expect(line).not.toContain('organization');
    const secret = written((logger) =>
      createRequestLog(logger)({ ...REQUEST, caller: 'hvs.SECRETSECRETSECRET' }),
    );
    expect(JSON.parse(secret)).toMatchObject({ caller: '[redacted]' });
  });

  test('holds no secret that the path holds', () => {
    const path = '/v1/auth/hvs.SECRETSECRETSECRET';
    const line = written((logger) => createRequestLog(logger)({ ...REQUEST, path }));
    expect(JSON.parse(line)).toMatchObject({ path: '/v1/auth/[redacted]', status: 200 });
  });

  test('is not written above its level', () => {
    const line = written((logger) => {
      const write = createRequestLog(logger);
      logger.level = 'warn';
      write(REQUEST);
    });
    expect(line).toBe('');
  });
});

/** Runs a process that logs to a file; returns the content of the file after it has ended. */
const fileAfter = async (
  folder: string,
  actions: string,
): Promise<{ text: string; mode: number }> => {
  const file = join(folder, `${randomUUID()}.log`);
  const script = `
    import { createLogger, createRequestLog, openLogDestination } from ${JSON.stringify(MODULE)};
    const destination = openLogDestination(${JSON.stringify(file)});
    const logger = createLogger({ name: 'test', level: 'info', destination });
    const countLines = (level) => {
      for (let line = 0; line < 100; line += 1) logger[level]({ line }, 'counted');
    };
    const die = () => process.kill(process.pid, 'SIGKILL');
    ${actions};`;
  await run(process.execPath, ['--input-type=module', '-e', script]).catch(() => undefined);
  return {
    text: await readFile(file, 'utf8').catch(() => ''),
    mode: (await stat(file)).mode & 0o777,
  };
};

const countedIn = (text: string): number => text.split('counted').length - 1;

describe('a log file', () => {
  test.for([
    ['exits by itself', 'process.exit(0)'],
    ['has nothing left to do', ''],
    ['ends with an uncaught error', "throw new Error('uncaught')"],
    ['ends with an unhandled rejection', "await Promise.reject(new Error('unhandled'))"],
    [
      'exits when it is asked to stop',
      "process.once('SIGTERM', () => process.exit(0)); process.kill(process.pid, 'SIGTERM'); setInterval(() => undefined, 1000)",
    ],
  ] as const)('holds every line of a process that %s', async ([, end]) => {
    await using folder = await temporaryDirectory();
    const { text, mode } = await fileAfter(folder.path, `countLines('info'); ${end}`);
    expect(countedIn(text)).toBe(100);
    expect(mode).toBe(0o600);
  });

  test.for(['error', 'fatal'])(
    'has a line of level %s and all before it, whatever happens next',
    async (level) => {
      await using folder = await temporaryDirectory();
      const actions = `countLines('info'); logger.child({ part: 'x' }).${level}('broken'); die()`;
      const lines = (await fileAfter(folder.path, actions)).text.trimEnd().split('\n');
      expect(lines).toHaveLength(101);
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level, msg: 'broken', part: 'x' });
    },
  );

  test('on a full disk does not end the process, which reports it once', async () => {
    const script = `
      import { createLogger, openLogDestination } from ${JSON.stringify(MODULE)};
      const destination = openLogDestination('/dev/full');
      const logger = createLogger({ name: 'test', level: 'info', destination });
      logger.error('lost');
      logger.error('lost, too');
      process.stdout.write('goes on');`;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout).toBe('goes on');
    expect(stderr.match(/log lines cannot be written: Error: ENOSPC/g)).toHaveLength(1);
  });

  test('is not written once per ordinary line', async () => {
    await using folder = await temporaryDirectory();
    const request =
      "{ requestId: 'r', method: 'GET', path: '/', status: 500, durationMs: 1, remoteAddress: '' }";
    const { text } = await fileAfter(
      folder.path,
      `logger.error('before'); createRequestLog(logger)(${request}); countLines('warn'); die()`,
    );
    expect(text.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('redaction', () => {
  test.for([
    ['a token field', { token: 'SECRET' }],
    ['a header', { headers: { 'x-vault-token': 'SECRET', authorization: 'Bearer SECRET' } }],
    ['a cookie', { cookie: 'session=SECRET' }],
    ['a private key field', { private_key: 'SECRET' }],
    ['a list of unseal keys', { unseal_keys: ['SECRET', 'SECRET2'] }],
    ['an escaped quote inside a secret', { password: 'a"SECRET' }],
    ['a service token in a message', 'refused hvs.SECRETSECRETSECRET for path'],
    ['a workspace token in a message', 'refused abcdefghijklmn.atlasv1.SECRETSECRET'],
    ['a bearer in a message', 'sent Authorization: Bearer SECRET'],
    ['a password in a connection string', 'postgres://keelson:SECRET@localhost/x'],
    ['a PEM key in a message', `cannot use ${PEM}`],
    ['an error with a PEM key', { err: new Error(PEM) }],
    ['a cause', { err: new Error('outer', { cause: new Error(`with ${PEM}`) }) }],
  ] as const)('removes %s', ([, logged]) => {
    const line = written((logger) => logger.info(logged as object));
    expect(line).not.toContain('SECRET');
    expect(line).toContain('[redacted]');
    expect(() => JSON.parse(line) as unknown).not.toThrow();
  });

  test.for([
    'token',
    'client_token',
    'tokens',
    'clientToken',
    'secret',
    'client_secret',
    'password',
    'Passphrase',
    'authorization',
    'set-cookie',
    'private_key',
    'privateKey',
    'unseal_key',
    'secret_key',
    'serviceKey',
    'key',
    'keys',
    'keys_base64',
    'recovery_keys',
    'salt',
  ])('removes the field %s', (name) => {
    expect(redactLine(JSON.stringify({ [name]: 'SECRET', status: 200 }))).toBe(
      JSON.stringify({ [name]: '[redacted]', status: 200 }),
    );
  });

  test.for([
    'GET https://k.example/api/v2/downloads/states/sv-1?expires=1900000000&signature=SECRET-_x',
    'no answer of /api/v2/downloads/logs/plan-1/1900000000/SECRET-_x',
    'PUT http://k.example/api/v2/uploads/states/sv-1/1900000000/SECRET%2D_x?offset=1',
  ])('takes the signature out of an address: %s', (text) => {
    const line = redactLine(JSON.stringify({ msg: text }));
    expect(line).not.toContain('SECRET');
    expect(line).toContain('1900000000');
  });

  test('leaves ordinary fields alone', () => {
    const line = '{"accessor":"abc","path":"pki/issue/web","key_type":"ec","status":200}';
    expect(redactLine(line)).toBe(line);
  });
});
