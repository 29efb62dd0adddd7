/**
 * Every route of the certificate authority × every kind of caller, on a real process over HTTP. The rows
 * come from the description the process publishes, so a new route is in the table at once; what is
 * expected comes from the documented classes of paths. The mount is empty and every parameter names
 * nothing, so that no request disturbs another.
 */
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Written out here, because the table must not read the lists it checks. */
const UNAUTHENTICATED = [
  /^\/cert\/[^/]+(\/.*)?$/,
  /^\/ca(\/pem|\/p7b)?$/,
  /^\/ca_chain$/,
  /^\/crl(\/delta)?(\/pem)?$/,
  /^\/issuer\/[^/]+\/(json|der|pem|p7b)$/,
  /^\/issuer\/[^/]+\/(unified-)?crl(\/delta)?(\/der|\/pem)?$/,
  /^\/unified-crl(\/delta)?(\/pem)?$/,
  /^\/issuers$/,
  /^\/(unified-)?ocsp(\/.*)?$/,
  // The ACME client proves itself by its account.
  /^(\/.+)?\/acme\/(directory|new-nonce|new-account|new-order|new-authz|revoke-cert|key-change|orders)$/,
  /^(\/.+)?\/acme\/(account|authorization|order|renewal-info)\/[^/]+(\/(orders|finalize|cert))?$/,
  /^(\/.+)?\/acme\/(order\/[^/]+\/cert|challenge\/[^/]+)\/[^/]+$/,
  // RFC 7030 §4.1, §4.5: where trust begins, and what requests are to have.
  /^(\/roles\/[^/]+|\/sign-verbatim)?\/est\/(cacerts|csrattrs)$/,
  // The TLS client proves itself by its certificate.
  /^\/est\/by-certificate\/.+$/,
];
const SUDO = [
  'DELETE /root',
  'POST /root/sign-self-issued',
  'PUT /root/sign-self-issued',
  'DELETE /keys/compromised/{fingerprint}',
];

const CALLERS = [
  'none',
  'wrong',
  'expired',
  'revoked',
  'other namespace',
  'policy-less',
  'read-only',
  'issue-only',
  'without sudo',
  'with sudo',
  'root',
] as const;
type Caller = (typeof CALLERS)[number];

/** Every path that the specification or the reference names. */
const DOCUMENTED = `
LIST /roles · GET,POST,PATCH,DELETE /roles/{} · POST /issue/{} · POST /issuer/{}/issue/{}
POST /sign/{} · POST /issuer/{}/sign/{} · POST /sign-verbatim · POST /sign-verbatim/{}
POST /issuer/{}/sign-verbatim · POST /issuer/{}/sign-verbatim/{}
POST /root/sign-intermediate · POST /issuer/{}/sign-intermediate
POST /root/sign-self-issued · POST /issuer/{}/sign-self-issued
POST /revoke · POST /revoke-with-key
POST /root/generate/{} · POST /issuers/generate/root/{} · POST /root/rotate/{} · POST /root/replace
GET,POST /config/issuers · GET,POST /config/keys · DELETE /root
POST /intermediate/generate/{} · POST /issuers/generate/intermediate/{} · POST /intermediate/cross-sign
POST /intermediate/set-signed · POST /config/ca · POST /issuers/import/bundle
POST /issuers/import/cert · POST /keys/import
LIST /keys · POST /keys/generate/{} · GET,POST,DELETE /key/{}
LIST /issuers · GET,POST,PATCH,DELETE /issuer/{} · POST /issuer/{}/revoke
GET /issuer/{}/json · GET /issuer/{}/der · GET /issuer/{}/pem
LIST /certs · LIST /certs/detailed · GET /certs/summary · GET /history · LIST /certs/revoked · GET /certs/revoked/{} · LIST /certs/revocation-queue
LIST /certs/unified-revoked · GET /cert-metadata/{} · LIST /cert-metadata · POST /batch/certs
GET,POST /config/crl · GET /crl/rotate · GET /crl/rotate-delta
GET /ca · GET /ca/pem · GET /ca_chain · GET /cert/ca · GET /cert/ca_chain · GET /cert/crl
GET /cert/delta-crl · GET /cert/ca/raw · GET /cert/{}/raw · GET /cert/{}/raw/pem · GET /cert/{}
GET /crl · GET /crl/pem · GET /crl/delta · GET /crl/delta/pem
GET /issuer/{}/crl · GET /issuer/{}/crl/der · GET /issuer/{}/crl/pem
GET /issuer/{}/crl/delta · GET /issuer/{}/crl/delta/der · GET /issuer/{}/crl/delta/pem
GET /unified-crl · GET /unified-crl/pem · GET /unified-crl/delta · GET /unified-crl/delta/pem
GET /issuer/{}/unified-crl · GET /issuer/{}/unified-crl/der · GET /issuer/{}/unified-crl/pem
GET /issuer/{}/unified-crl/delta · GET /issuer/{}/unified-crl/delta/der
GET /issuer/{}/unified-crl/delta/pem · GET /cert/unified-crl · GET /cert/unified-delta-crl
POST /ocsp · GET /ocsp/{} · POST /unified-ocsp · GET /unified-ocsp/{}
POST /issuer/{}/resign-crls · POST /issuer/{}/sign-revocation-list
GET,POST /config/urls · GET,POST /config/cluster
POST /tidy · GET,POST /config/auto-tidy · GET /tidy-status · POST /tidy-cancel
GET,POST /config/external-policy · POST /external-policy/issue · POST /external-policy/issue/{}
POST /external-policy/sign · POST /external-policy/sign/{} · POST /external-policy/sign-intermediate
POST /external-policy/sign-intermediate/{} · POST /issuer/{}/external-policy/issue
POST /issuer/{}/external-policy/issue/{} · POST /issuer/{}/external-policy/sign
POST /issuer/{}/external-policy/sign/{} · POST /issuer/{}/external-policy/sign-intermediate
POST /issuer/{}/external-policy/sign-intermediate/{}
GET,POST /config/est · GET /est/cacerts · GET /est/csrattrs · POST /est/simpleenroll
POST /est/simplereenroll · GET /roles/{}/est/cacerts · GET /roles/{}/est/csrattrs
POST /roles/{}/est/simpleenroll · POST /roles/{}/est/simplereenroll
GET /sign-verbatim/est/cacerts · GET /sign-verbatim/est/csrattrs
POST /sign-verbatim/est/simpleenroll · POST /sign-verbatim/est/simplereenroll`
  .split(/[·\n]/)
  .flatMap((entry) => {
    const [methods = '', path = ''] = entry.trim().split(' ');
    return path === '' ? [] : methods.split(',').map((method) => `${method} ${path}`);
  });

const READS = ['GET', 'LIST', 'HEAD'];
const EVERYTHING = '"create", "read", "update", "patch", "delete", "list"';

interface Row {
  readonly method: string;
  /** Below the mount, with `{name}` for parameters. */
  readonly path: string;
}

interface ApiDescription {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly 'x-methods'?: readonly string[] }>>>
  >;
}

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
let rows: readonly Row[] = [];
const tokens = new Map<Caller, string>();

const send = (method: string, path: string, token: string, body?: object, namespace = '') =>
  fetch(`${keelson.http}/v1/${path}`, {
    method,
    headers: {
      ...(token === '' ? {} : { 'x-service-token': token }),
      ...(namespace === '' ? {} : { 'x-service-namespace': namespace }),
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    },
    ...(READS.includes(method) ? {} : { body: JSON.stringify(body ?? {}) }),
  });

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_RATE_LIMIT: 'off' },
  });
  const root = keelson.rootToken;
  const set = async (path: string, body: object, namespace = '') => {
    const answer = await send('POST', path, root, body, namespace);
    expect([path, Math.floor(answer.status / 100)]).toEqual([path, 2]);
    const text = await answer.text();
    return text === '' ? undefined : JSON.parse(text);
  };
  const policies: Readonly<Record<string, string>> = {
    reader: 'path "empty/*" { capabilities = ["read", "list"] }',
    issuer: 'path "empty/issue/*" { capabilities = ["create", "update"] }',
    admin: `path "empty/*" { capabilities = [${EVERYTHING}] }`,
    sudo: `path "empty/*" { capabilities = [${EVERYTHING}, "sudo"] }`,
  };
  await set('sys/mounts/empty', { type: 'pki' });
  for (const [name, policy] of Object.entries(policies))
    await set(`sys/policies/acl/${name}`, { policy });
  await set('sys/namespaces/other', {});
  await set('sys/policies/acl/sudo', { policy: policies['sudo'] }, 'other');
  const create = async (policy: string, more: object = {}, namespace = ''): Promise<string> => {
    const body = { policies: [policy], no_default_policy: true, ...more };
    return (await set('auth/token/create', body, namespace)).auth.client_token;
  };
  tokens.set('none', '');
  tokens.set('wrong', `hvs.${'x'.repeat(24)}`);
  tokens.set('expired', await create('sudo', { ttl: '1s' }));
  tokens.set('revoked', await create('sudo'));
  tokens.set('other namespace', await create('sudo', {}, 'other'));
  tokens.set('policy-less', await create('nothing'));
  tokens.set('read-only', await create('reader'));
  tokens.set('issue-only', await create('issuer'));
  tokens.set('without sudo', await create('admin'));
  tokens.set('with sudo', await create('sudo'));
  tokens.set('root', root);
  await set('auth/token/revoke', { token: tokens.get('revoked') });
  const isLetIn = async (token: string): Promise<boolean> => {
    const answer = await send('LIST', 'empty/roles', token);
    await answer.arrayBuffer();
    return answer.status !== 403;
  };
  // Its only second passes while it is asked.
  const expiring = tokens.get('expired') ?? '';
  while (await isLetIn(expiring));
  const answer = await fetch(`${keelson.http}/openapi/pki.json`);
  const { paths } = (await answer.json()) as ApiDescription;
  rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([name, { 'x-methods': methods = [name.toUpperCase()] }]) =>
      methods.map((method) => ({ method, path: path.slice('/{mount}'.length) })),
    ),
  );
});
afterAll(async () => {
  await keelson?.stop();
  await folder?.[Symbol.asyncDispose]();
});

const expected = ({ method, path }: Row, caller: Caller): 'served' | 403 => {
  const filled = path.replaceAll(/\{\w+\}/g, 'x');
  if (UNAUTHENTICATED.some((one) => one.test(filled))) return 'served';
  if (SUDO.includes(`${method} ${path}`))
    return caller === 'root' || caller === 'with sudo' ? 'served' : 403;
  switch (caller) {
    case 'root':
    case 'with sudo':
    case 'without sudo':
      return 'served';
    case 'read-only':
      return READS.includes(method) ? 'served' : 403;
    case 'issue-only':
      return path === '/issue/{name}' && !READS.includes(method) ? 'served' : 403;
    case 'none':
    case 'wrong':
    case 'expired':
    case 'revoked':
    case 'other namespace':
    case 'policy-less':
      return 403;
  }
};

describe('every route of the certificate authority', () => {
  test('is in the table, and every documented one exists', () => {
    const known = new Set(
      rows.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
    );
    expect(DOCUMENTED.filter((entry) => !known.has(entry))).toEqual([]);
    expect(rows.length).toBeGreaterThanOrEqual(DOCUMENTED.length);
  });

  test.for(CALLERS)('answers a caller of the kind "%s" as documented', async (caller) => {
    const token = tokens.get(caller) ?? '';
    const found: string[] = [];
    const wanted: string[] = [];
    const failed: string[] = [];
    for (const row of rows) {
      const { method, path } = row;
      const answer = await send(method, `empty${path.replaceAll(/\{\w+\}/g, 'x')}`, token);
      const text = await answer.text();
      // 403 without this text is the engine's own answer to a caller that may use it.
      const isDenied = answer.status === 403 && text.includes('permission denied');
      found.push(`${method} ${path}: ${isDenied ? 403 : 'served'}`);
      wanted.push(`${method} ${path}: ${expected(row, caller)}`);
      if (answer.status >= 500) failed.push(`${method} ${path}: ${answer.status} ${text}`);
    }
    expect(found).toEqual(wanted);
    expect(failed).toEqual([]);
  });
});
