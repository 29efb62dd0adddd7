import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@keelson/testkit';
import { describe, expect, test } from 'vitest';
import { createLogger, createRequestLog, type RequestLine, redactLine } from './logging.ts';

const run = promisify(execFile);
const MODULE = new URL('logging.ts', import.meta.url).href;

const PEM = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIabcSECRETdef\n-----END EC PRIVATE KEY-----';

/** The lines a logger writes, joined. */
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

describe('a log file', () => {
  test('holds every line of a process that exits by itself or after an uncaught error', async () => {
    await using folder = await temporaryDirectory();
    for (const [name, end] of [
      ['exit', 'process.exit(0)'],
      ['error', "throw new Error('uncaught')"],
    ]) {
      const file = join(folder.path, `${name}.log`);
      const script = `
        import { createLogger, openLogDestination } from ${JSON.stringify(MODULE)};
        const destination = openLogDestination(${JSON.stringify(file)});
        const logger = createLogger({ name: 'test', level: 'info', destination });
        for (let line = 0; line < 100; line += 1) logger.info({ line }, 'counted');
        ${end};`;
      await run(process.execPath, ['--input-type=module', '-e', script]).catch(() => undefined);
      expect((await readFile(file, 'utf8')).match(/counted/g)).toHaveLength(100);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
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

  test('leaves ordinary fields alone', () => {
    const line = '{"accessor":"abc","path":"pki/issue/web","key_type":"ec","status":200}';
    expect(redactLine(line)).toBe(line);
  });
});
