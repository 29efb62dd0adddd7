/**
 * Every route of the workspace API × the callers of the other API, on a real process over HTTP: tokens
 * of `/v1`, whatever they may do there, open nothing of `/api/v2`. What the tokens of `/api/v2` open is
 * the table of services/workspace/test/callers.integration.test.ts.
 */
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const CALLERS = ['none', 'root', 'with sudo', 'without sudo', 'other namespace', 'batch'] as const;
type Caller = (typeof CALLERS)[number];

/** Described to everybody. */
const OPEN = /^\/openapi\/|^\/sign-in-methods$/;
/** Their document is the credential, or has to be none. */
const FOR_ANYBODY =
  /^\/(sessions|password-resets|passkey-challenges\/actions\/sign-in|sso-logins(\/actions\/finish)?)$/;
/** The address is the credential, and these addresses have no signature. */
const SIGNED = /^\/(uploads|downloads)\//;
const MEDIA_TYPE = 'application/vnd.api+json';
const SLOW_MS = 120_000;

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
let routes: readonly (readonly [method: string, path: string])[] = [];
const tokens = new Map<Caller, string>([['none', '']]);

const administer = async (path: string, body: object, namespace = '') => {
  const answer = await fetch(`${keelson.http}/v1/${path}`, {
    method: 'POST',
    headers: {
      'x-service-token': keelson.rootToken,
      'content-type': 'application/json',
      ...(namespace === '' ? {} : { 'x-service-namespace': namespace }),
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${text}`);
  return text === '' ? undefined : (JSON.parse(text) as { auth: { client_token: string } });
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_RATE_LIMIT: 'off' },
  });
  const all = '"create", "read", "update", "patch", "delete", "list"';
  const policies = {
    admin: `path "*" { capabilities = [${all}] }`,
    sudo: `path "*" { capabilities = [${all}, "sudo"] }`,
  };
  await administer('sys/namespaces/other', {});
  for (const [name, policy] of Object.entries(policies))
    await administer(`sys/policies/acl/${name}`, { policy });
  await administer('sys/policies/acl/sudo', { policy: policies.sudo }, 'other');
  const create = async (policy: string, more: object = {}, namespace = '') => {
    const made = await administer('auth/token/create', { policies: [policy], ...more }, namespace);
    return made?.auth.client_token ?? '';
  };
  tokens.set('root', keelson.rootToken);
  tokens.set('with sudo', await create('sudo'));
  tokens.set('without sudo', await create('admin'));
  tokens.set('other namespace', await create('sudo', {}, 'other'));
  tokens.set('batch', await create('sudo', { type: 'batch' }));
  const described = await fetch(`${keelson.http}/api/v2/openapi/stable.json`);
  const { paths } = (await described.json()) as { paths: Record<string, Record<string, unknown>> };
  routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method): [string, string] => [
      method.toUpperCase(),
      path.replace(/^\/api\/v2/, ''),
    ]),
  );
}, SLOW_MS);
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
}, SLOW_MS);

const documented = (path: string): number => {
  if (OPEN.test(path)) return 200;
  // Deliveries carry the signature of their webhook instead of a token, and this webhook does not exist.
  if (path.startsWith('/webhooks/')) return 404;
  // The code of an approved login is in a form, and not in JSON.
  if (path === '/command-logins/token') return 415;
  // It takes no document, and the site has no passkeys.
  if (path === '/passkey-challenges') return 403;
  // The document is read without a token, and is empty.
  if (FOR_ANYBODY.test(path)) return 422;
  return SIGNED.test(path) ? 403 : 401;
};

describe('every route of the workspace API', () => {
  test('is in the table', () => {
    expect(routes.length).toBeGreaterThan(200);
  });

  test.for(CALLERS)(
    'reveals nothing to a caller of the kind "%s"',
    { timeout: SLOW_MS },
    async (one) => {
      const token = tokens.get(one) ?? '';
      const found: string[] = [];
      for (const [method, path] of routes) {
        const answer = await fetch(`${keelson.http}/api/v2${path.replaceAll(/\{\w+\}/g, 'x')}`, {
          method,
          headers: {
            ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
            'content-type': MEDIA_TYPE,
          },
          ...(method !== 'GET' && { body: '{"data":{}}' }),
        });
        await answer.arrayBuffer();
        found.push(`${method} ${path}: ${answer.status}`);
      }
      expect(found).toEqual(
        routes.map(([method, path]) => `${method} ${path}: ${documented(path)}`),
      );
    },
  );
});
