/** `keelson login` with a browser that a test drives and a provider that consents at once, and with a second factor. */
import { spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  bareEnvironment,
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { URI } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MAIN = join(import.meta.dirname, '../src/main.ts');

let folder: TemporaryDirectory;
let server: KeelsonProcess;
let provider: Server;
let issuer: string;

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const signed = (claims: object): string => {
  const data = `${encode({ alg: 'EdDSA' })}.${encode(claims)}`;
  return `${data}.${sign(null, Buffer.from(data), privateKey).toString('base64url')}`;
};

// oxlint-disable-next-line typescript/no-explicit-any -- documents are asserted on, not typed
type Document = any;

const write = async (path: string, body: object): Promise<Document> => {
  const answer = await fetch(`${server.http}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-service-token': server.rootToken },
    body: JSON.stringify(body),
  });
  expect([200, 204]).toContain(answer.status);
  return answer.status === 204 ? {} : answer.json();
};

/** Whether the user of a device has permitted its login. */
let isPermitted = true;

beforeAll(async () => {
  let nonce: string | null = null;
  provider = createServer((request, response) => {
    const url = new URL(request.url ?? '', issuer);
    const now = Math.floor(Date.now() / 1000);
    const documents: Readonly<Record<string, object>> = {
      '/keys': { keys: [publicKey.export({ format: 'jwk' })] },
      '/token': {
        access_token: 'a',
        token_type: 'bearer',
        id_token: signed({
          iss: issuer,
          sub: 'ann',
          aud: 'k',
          iat: now,
          exp: now + 60,
          ...(nonce !== null && { nonce }),
        }),
      },
      '/device': {
        device_code: 'd',
        user_code: 'WDJB',
        verification_uri: `${issuer}/activate`,
        expires_in: 60,
      },
      '/.well-known/openid-configuration': {
        issuer,
        jwks_uri: `${issuer}/keys`,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        device_authorization_endpoint: `${issuer}/device`,
        id_token_signing_alg_values_supported: ['EdDSA'],
      },
    };
    if (url.pathname === '/activate') {
      isPermitted = true;
      response.end();
    } else if (url.pathname === '/token' && !isPermitted) {
      nonce = null;
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: 'authorization_pending' }));
    } else if (url.pathname === '/authorize') {
      nonce = url.searchParams.get('nonce');
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({
        code: 'c',
        state: url.searchParams.get('state') ?? '',
      }).toString();
      response.writeHead(302, { location: back.href }).end();
    } else
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(documents[url.pathname]));
  });
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  folder = await temporaryDirectory();
  server = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_OUTBOUND_RANGES: '127.0.0.1' },
  });
  await write('sys/auth/oidc', { type: 'oidc' });
  await write('auth/oidc/config', {
    oidc_discovery_url: issuer,
    oidc_client_id: 'k',
    oidc_client_secret: 's',
    default_role: 'people',
  });
  for (const [role, uri] of [
    ['people', 'http://localhost:8250/oidc/callback'],
    ['pages', 'https://ui.example/back'],
  ] as const)
    await write(`auth/oidc/role/${role}`, { user_claim: 'sub', allowed_redirect_uris: uri });
});
afterAll(async () => {
  provider.close();
  provider.closeAllConnections();
  await server.stop();
  await folder[Symbol.asyncDispose]();
});

const keelson = (...given: readonly string[]) => {
  const child = spawn(process.execPath, [MAIN, ...given], {
    env: {
      ...bareEnvironment(folder.path),
      KEELSON_ADDR: server.http,
      KEELSON_CONFIG_DIR: join(folder.path, 'config'),
    },
    stdio: 'pipe',
  });
  return { child, out: text(child.stdout), ended: once(child, 'close') };
};

test('the token of a login by the browser is kept, once the browser has come back', async () => {
  const { child, ended } = keelson('login', '--method', 'oidc');
  let shown = '';
  for await (const piece of child.stderr) {
    shown += String(piece);
    if (/^http\S+\n/m.test(shown)) break;
  }
  const page = await fetch(/^http\S+/m.exec(shown)?.[0] ?? '');
  expect([page.status, page.url]).toEqual([200, expect.stringContaining('localhost:8250')]);
  expect(await page.text()).toContain('go back to the terminal');
  expect((await ended)[0]).toBe(0);
  expect(await keelson('token', 'lookup').out).toContain('oidc-ann');
});

test('a device signs in once somebody has typed its code', async () => {
  const role = { user_claim: 'sub', callback_mode: 'device', poll_interval: 1 };
  await write('auth/oidc/role/screens', role);
  isPermitted = false;
  const { child, ended } = keelson('login', '--method', 'oidc', '--device', '--role', 'screens');
  let shown = '';
  for await (const piece of child.stderr) {
    shown += String(piece);
    if (shown.includes('Type the code WDJB there.')) break;
  }
  expect((await fetch(/^http\S+/m.exec(shown)?.[0] ?? '')).status).toBe(200);
  expect((await ended)[0]).toBe(0);
  const refused = keelson('login', '--method', 'oidc', '--device');
  expect(await text(refused.child.stderr)).toContain('missing redirect_uri');
  expect((await refused.ended)[0]).toBe(1);
});

test('a login whose browser returns to the server ends once its user has confirmed it', async () => {
  const callback = `${server.http}/v1/auth/oidc/oidc/callback`;
  const role = { user_claim: 'sub', callback_mode: 'direct', poll_interval: 1 };
  await write('auth/oidc/role/servers', { ...role, allowed_redirect_uris: callback });
  const given = ['login', '--method', 'oidc', '--direct', '--role'] as const;
  const { child, ended } = keelson(...given, 'servers');
  let shown = '';
  for await (const piece of child.stderr) {
    shown += String(piece);
    if (/^http\S+\n/m.test(shown)) break;
  }
  const page = await fetch(/^http\S+/m.exec(shown)?.[0] ?? '');
  expect(await page.text()).toContain('the role servers');
  const answer = new URL(page.url).searchParams;
  answer.set('confirmation', 'yes');
  expect((await fetch(callback, { method: 'POST', body: answer })).status).toBe(200);
  expect((await ended)[0]).toBe(0);
  expect(await keelson('token', 'lookup').out).toContain('oidc-ann');
  await write('auth/oidc/role/plain', { user_claim: 'sub', allowed_redirect_uris: callback });
  for (const [name, reason] of [
    ['people', `The role does not allow ${callback}`],
    ['plain', 'The role has no callback_mode direct'],
  ] as const) {
    const refused = keelson(...given, name);
    expect(await text(refused.child.stderr)).toContain(reason);
    expect((await refused.ended)[0]).toBe(1);
  }
});

test('a role that does not allow the address of the command is named as the reason', async () => {
  const { child, ended } = keelson('login', '--method', 'oidc', '--role', 'pages');
  expect(await text(child.stderr)).toContain('allowed_redirect_uris');
  expect((await ended)[0]).toBe(1);
});

test('a second factor is a passcode on the line after the password', async () => {
  await write('sys/auth/userpass', { type: 'userpass' });
  await write('auth/userpass/users/alice', { password: 'pw' });
  const logIn = async (input: string) => {
    const { child, ended } = keelson('login', '--method', 'userpass', '--username', 'alice');
    child.stdin.end(input);
    const [[code], err] = await Promise.all([ended, text(child.stderr)]);
    return { code, err };
  };
  expect((await logIn('pw')).code).toBe(0);
  const { auth } = await write('auth/userpass/login/alice', { password: 'pw' });
  const { data: method } = await write('identity/mfa/method/totp', { issuer: 'Keelson' });
  const { data: key } = await write('identity/mfa/method/totp/admin-generate', {
    method_id: method.method_id,
    entity_id: auth.entity_id,
  });
  await write('identity/mfa/login-enforcement/people', {
    mfa_method_ids: [method.method_id],
    auth_method_types: ['userpass'],
  });
  expect(await logIn('pw')).toEqual({ code: 1, err: expect.stringContaining('Passcode') });
  expect(await logIn('pw\n00000000')).toEqual({
    code: 1,
    err: expect.stringContaining('the passcode is wrong'),
  });
  const app = URI.parse(key.url);
  expect((await logIn(`pw\n${app.generate()}\n`)).code).toBe(0);
  // A command has no passkeys.
  const { data: passkeys } = await write('identity/mfa/method/webauthn', {
    relying_party_origins: 'https://keelson.example',
  });
  const enforce = (ids: readonly string[]) =>
    write('identity/mfa/login-enforcement/people', {
      mfa_method_ids: ids,
      auth_method_types: ['userpass'],
    });
  await enforce([passkeys.method_id, method.method_id]);
  const next = app.generate({ timestamp: Date.now() + 30_000 });
  expect((await logIn(`pw\n${next}\n`)).code).toBe(0);
  await enforce([passkeys.method_id]);
  expect(await logIn('pw')).toEqual({
    code: 1,
    err: expect.stringContaining('"people" needs a passkey'),
  });
});
