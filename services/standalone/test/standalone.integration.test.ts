/** The first steps of a newcomer after `make up`, through the public addresses only. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KeelsonProcess, startKeelson } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let folder: string;
let keelson: KeelsonProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-'));
  keelson = await startKeelson({ dataFolder: join(folder, 'data') });
});
afterAll(async () => {
  await keelson.stop();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- documents of many shapes, asserted by the tests
  readonly body: any;
}

const curl = (...args: string[]): string =>
  execFileSync('curl', ['-sS', '--max-time', '20', ...args], { encoding: 'utf8' });

const answer = (printed: string): Answer => {
  const at = printed.lastIndexOf('\n');
  const text = printed.slice(0, at);
  return {
    status: Number(printed.slice(at + 1)),
    body: text === '' ? undefined : JSON.parse(text),
  };
};

const v1 = (method: string, path: string, body?: unknown): Answer =>
  answer(
    curl(
      '-w',
      '\n%{http_code}',
      '-X',
      method,
      '-H',
      `X-Service-Token: ${keelson.rootToken}`,
      ...(body === undefined ? [] : ['-d', JSON.stringify(body)]),
      `${keelson.http}/v1/${path}`,
    ),
  );

const api = (method: string, path: string, body?: unknown): Answer =>
  answer(
    curl(
      '-w',
      '\n%{http_code}',
      '-X',
      method,
      '-H',
      `Authorization: Bearer ${keelson.apiToken}`,
      '-H',
      'Content-Type: application/vnd.api+json',
      ...(body === undefined ? [] : ['-d', JSON.stringify(body)]),
      `${keelson.http}/api/v2/${path}`,
    ),
  );

const create = (type: string, attributes: object) => ({ data: { type, attributes } });

describe('a standalone control plane', () => {
  test('serves the console, and prints no warning of Node', async () => {
    // Not by curl, which would hold up reading what the process prints.
    const page = async () => (await fetch(`${keelson.http}/ui/`)).text();
    expect(await page()).toContain('<!doctype html>');
    expect(await page()).toContain('<!doctype html>');
    expect(keelson.output()).not.toContain('Warning');
  });

  test('makes its first-run facts readable only by the owner', () => {
    const file = join(folder, 'data', 'first-run.json');
    expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object)).toEqual([
      'root_token',
      'api_token',
      'addresses',
      'ca_certificate_file',
      'unseal_keys',
    ]);
  });

  test('creates an organization and a workspace, locks it, and refuses a second lock', () => {
    expect(
      api('POST', 'organizations', create('organizations', { name: 'acme', email: 'a@b.example' }))
        .status,
    ).toBe(201);
    const workspace = api(
      'POST',
      'organizations/acme/workspaces',
      create('workspaces', { name: 'web' }),
    );
    expect(workspace.status).toBe(201);
    const id = workspace.body.data.id as string;
    expect(id).toMatch(/^ws-/);
    expect(api('POST', `workspaces/${id}/actions/lock`, { reason: 'mine' }).body).toMatchObject({
      data: { attributes: { locked: true } },
    });
    expect(api('POST', `workspaces/${id}/actions/lock`, { reason: 'again' })).toMatchObject({
      status: 409,
      body: { errors: [{ status: '409' }] },
    });
  });

  test('issues a certificate that openssl verifies against the fetched CA, and revokes it', () => {
    expect(v1('POST', 'sys/mounts/pki', { type: 'pki' }).status).toBe(204);
    expect(
      v1('POST', 'pki/root/generate/internal', { common_name: 'Root', key_type: 'ec', ttl: '700h' })
        .status,
    ).toBe(200);
    expect(
      v1('POST', 'pki/roles/web', {
        allowed_domains: 'example.com',
        allow_subdomains: true,
        key_type: 'ec',
        max_ttl: '72h',
      }).status,
    ).toBeLessThan(205);
    const issued = v1('POST', 'pki/issue/web', { common_name: 'www.example.com', ttl: '24h' });
    expect(issued.status).toBe(200);
    const ca = curl(`${keelson.http}/v1/pki/ca/pem`);
    const at = (name: string) => join(folder, name);
    writeFileSync(at('ca.pem'), ca);
    writeFileSync(at('leaf.pem'), issued.body.data.certificate as string);
    expect(
      execFileSync(
        'openssl',
        [
          'verify',
          '-x509_strict',
          '-purpose',
          'sslserver',
          '-CAfile',
          at('ca.pem'),
          at('leaf.pem'),
        ],
        { encoding: 'utf8' },
      ),
    ).toContain('OK');
    const serial = issued.body.data.serial_number as string;
    expect(v1('POST', 'pki/revoke', { serial_number: serial }).status).toBe(200);
    writeFileSync(at('crl.pem'), curl(`${keelson.http}/v1/pki/crl/pem`));
    expect(
      execFileSync('openssl', ['crl', '-in', at('crl.pem'), '-noout', '-text'], {
        encoding: 'utf8',
      }),
    ).toContain(serial.replaceAll(':', '').toUpperCase().replace(/^0+/, ''));
  });

  test('stores a custom message', () => {
    const message = Buffer.from('maintenance').toString('base64');
    const created = v1('POST', 'sys/config/ui/custom-messages', {
      title: 'Hello',
      message,
      start_time: '2020-01-01T00:00:00Z',
    });
    expect(created.status).toBe(200);
    expect(
      v1('GET', `sys/config/ui/custom-messages/${created.body.data.id as string}`).body.data,
    ).toMatchObject({ title: 'Hello', message, active: true, type: 'banner' });
  });

  test('answers LIST on a keep-alive connection and in split packets', async () => {
    const { hostname, port } = new URL(keelson.http);
    const socket = connect({ host: hostname, port: Number(port) });
    const request = `LIST /v1/sys/policies/acl HTTP/1.1\r\nHost: x\r\nX-Service-Token: ${keelson.rootToken}\r\n\r\n`;
    let received = '';
    const answers = (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (received.split('"keys"').length > count) resolve();
        };
        socket.on('data', look);
        look();
      });
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString();
    });
    socket.write(request);
    await answers(1);
    socket.write(request.slice(0, 3));
    await new Promise(setImmediate);
    socket.write(request.slice(3, 40));
    await new Promise(setImmediate);
    socket.write(request.slice(40) + request);
    await answers(3);
    expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
    socket.destroy();
    expect(
      curl(
        '-X',
        'LIST',
        '-H',
        `X-Service-Token: ${keelson.rootToken}`,
        `${keelson.http}/v1/sys/policies/acl`,
      ),
    ).toContain('"default"');
  });

  test('shows its metrics only to a token that may read them', () => {
    const metrics = (...args: string[]) =>
      curl('-w', '\n%{http_code}', ...args, `${keelson.http}/v1/sys/metrics?format=prometheus`);
    const read = metrics('-H', `X-Service-Token: ${keelson.rootToken}`);
    expect(read).toContain('keelson_http_requests_total');
    expect(read.endsWith('\n200')).toBe(true);
    expect(metrics().endsWith('\n403')).toBe(true);
    expect(v1('GET', 'sys/metrics')).toEqual({
      status: 400,
      body: { errors: ['format must be "prometheus"'] },
    });
  });

  test('serves HTTPS with a certificate of its own authority', () => {
    const health = curl(
      '--cacert',
      join(folder, 'data', 'tls', 'ca.pem'),
      `${keelson.https}/v1/sys/health`,
    );
    expect(JSON.parse(health)).toMatchObject({ initialized: true, sealed: false });
  });

  test('stops on Ctrl-C and continues with everything', async () => {
    expect(await keelson.stop('SIGINT')).toBe(0);
    keelson = await startKeelson({ dataFolder: join(folder, 'data') });
    expect(api('GET', 'organizations/acme/workspaces/web').body.data.attributes.locked).toBe(true);
    expect(v1('GET', 'pki/roles/web').body.data.allowed_domains).toEqual(['example.com']);
    expect(v1('LIST', 'sys/config/ui/custom-messages').body.data.keys).toHaveLength(1);
  });

  test('refuses a data folder that another process uses', async () => {
    await expect(startKeelson({ dataFolder: join(folder, 'data') })).rejects.toThrow(
      'in use by another Keelson process',
    );
  });

  test('has every acknowledged workspace after kill -9 in the middle of 200 creates', async () => {
    await keelson.stop();
    keelson = await startKeelson({
      dataFolder: join(folder, 'data'),
      env: { KEELSON_RATE_LIMIT: 'off' },
    });
    const acknowledged: string[] = [];
    const creates = Array.from({ length: 200 }, async (_, i) => {
      const response = await fetch(`${keelson.http}/api/v2/organizations/acme/workspaces`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${keelson.apiToken}`,
          'content-type': 'application/vnd.api+json',
        },
        body: JSON.stringify(create('workspaces', { name: `crash-${i}` })),
      });
      if (response.status !== 201) throw new Error(await response.text());
      acknowledged.push(`crash-${i}`);
      if (acknowledged.length === 60) await keelson.stop('SIGKILL');
    });
    await Promise.allSettled(creates);
    expect(acknowledged.length).toBeGreaterThanOrEqual(60);
    keelson = await startKeelson({
      dataFolder: join(folder, 'data'),
      env: { KEELSON_RATE_LIMIT: 'off' },
    });
    const lost = acknowledged.filter(
      (name) => api('GET', `organizations/acme/workspaces/${name}`).status !== 200,
    );
    expect(lost).toEqual([]);
  });
});
