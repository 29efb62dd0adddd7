/**
 * Every route of sys × every kind of caller. The rows come from the routes that the service describes, so a
 * new route is covered at once. The expectations come from the documented classes of paths, so a route in no
 * class needs a token and its capability.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Document, openSysHarness, type SysHarness } from './sys-harness.ts';

/** Served without a token. Written out here, because the table must not read the lists it checks. */
const UNAUTHENTICATED = [
  /^\/sys\/(init|seal-status|unseal|leader|health|decode-token|mfa\/validate)$/,
  /^\/sys\/generate-root\/(attempt|update)$/,
  /^\/sys\/rekey(-recovery-key)?\/(init|update|verify)$/,
  /^\/sys\/wrapping\/(lookup|unwrap|rewrap|pubkey)$/,
  /^\/sys\/internal\/ui\/(mounts|mounts\/.*|namespaces|feature-flags|(un)?authenticated-messages)$/,
  /^\/sys\/internal\/specs\/openapi$/,
  /^\/identity\/oidc\/(provider\/[^/]+\/)?\.well-known\//,
  // Authorised by the credentials of a client, or by an access token.
  /^\/identity\/oidc\/provider\/[^/]+\/(token|userinfo)$/,
  /^\/sys\/replication\/((performance|dr)\/)?status$/,
  // Authorised by a DR operation token in the body, or by key shares.
  /^\/sys\/replication\/dr\/secondary\/(promote|disable|recover|update-primary)$/,
  /^\/sys\/replication\/dr\/secondary\/(operation-token\/delete|reindex|merkle-check)$/,
  /^\/sys\/replication\/dr\/secondary\/generate-operation-token\/(attempt|update)$/,
];
const SUDO = [
  /^\/sys\/(seal|step-down|upgrade|rotate|remount|audit|leases|capabilities-accessor)$/,
  /^\/sys\/audit\/.*$/,
  /^\/sys\/(generate-root-token|rotate\/(root|recovery)|plugins\/catalog)\/.*$/,
  /^\/sys\/rotate\/(keyring|unseal-key)$/,
  /^\/sys\/internal\/ui\/recent-requests$/,
  /^\/sys\/internal\/counters\/activity\/export$/,
  /^\/sys\/auth\/.*$/,
  /^\/sys\/(leases\/)?(revoke-prefix|revoke-force)\/.*$/,
  /^\/sys\/leases\/lookup\/.*$/,
  /^\/sys\/rekey\/(recovery-key-)?backup$/,
  /^\/sys\/replication\/((performance|dr)\/)?primary\/secondary-token$/,
  /^\/sys\/replication\/reindex$/,
  /^\/sys\/storage\/raft\/snapshot(-force)?$/,
  /^\/auth\/token\/(accessors|revoke-orphan)$/,
];
const ROOT_NAMESPACE_ONLY =
  /^\/sys\/(seal|unseal|seal-status|init|health|rekey.*|rotate.*|key-status|generate-root.*|host-info|version-history|plugins\/.*|decode-token|audit.*|leader|ha-status|step-down|upgrade|metrics|history|internal\/(ui\/recent-requests|counters\/(config|entities|tokens|requests))|replication\/.*|storage\/.*|quotas\/.*)$/;

type Caller =
  | 'none'
  | 'wrong'
  | 'expired'
  | 'revoked'
  | 'other namespace'
  | 'policy-less'
  | 'wrapping'
  | 'read-only'
  | 'batch'
  | 'without sudo'
  | 'with sudo'
  | 'root';

const CALLERS: readonly Caller[] = [
  'none',
  'wrong',
  'expired',
  'revoked',
  'other namespace',
  'policy-less',
  'wrapping',
  'read-only',
  'batch',
  'without sudo',
  'with sudo',
  'root',
];
const EVERYTHING = '"create", "read", "update", "patch", "delete", "list"';

/** Every path of the administration document, and of the reference for paths the document leaves open. */
const DOCUMENTED = `
LIST,POST /sys/config/ui/custom-messages · GET,POST,DELETE /sys/config/ui/custom-messages/{}
GET /sys/internal/ui/unauthenticated-messages · GET /sys/internal/ui/authenticated-messages
GET /sys/replication/status · GET /sys/replication/KIND/status
POST /sys/replication/KIND/primary/enable · POST /sys/replication/KIND/primary/demote
POST /sys/replication/KIND/primary/disable · POST /sys/replication/KIND/primary/secondary-token
POST /sys/replication/KIND/primary/revoke-secondary
POST /sys/replication/KIND/secondary/generate-public-key · POST /sys/replication/KIND/secondary/enable
POST /sys/replication/KIND/secondary/promote · POST /sys/replication/KIND/secondary/disable
POST /sys/replication/KIND/secondary/update-primary
GET,POST,DELETE /sys/replication/performance/primary/paths-filter/{}
GET /sys/replication/performance/primary/dynamic-filter/{}
GET /sys/replication/performance/secondary/dynamic-filter/{}
GET,POST,DELETE /sys/replication/dr/secondary/generate-operation-token/attempt
POST /sys/replication/dr/secondary/generate-operation-token/update
POST /sys/replication/dr/secondary/operation-token/delete · POST /sys/replication/dr/secondary/reindex
POST /sys/replication/dr/secondary/recover · POST /sys/replication/dr/secondary/merkle-check
GET,POST /sys/upgrade · POST /sys/replication/recover · POST /sys/replication/reindex · POST /sys/replication/merkle-check
POST /sys/replication/primary/enable · POST /sys/replication/primary/demote
POST /sys/replication/primary/disable · POST /sys/replication/primary/secondary-token
POST /sys/replication/primary/revoke-secondary · POST /sys/replication/secondary/generate-public-key
POST /sys/replication/secondary/enable · POST /sys/replication/secondary/promote
POST /sys/replication/secondary/disable · POST /sys/replication/secondary/update-primary
GET,POST,DELETE /sys/replication/performance/primary/mount-filter/{}`
  .split(/[·\n]/)
  .flatMap((entry) => {
    const [methods = '', path = ''] = entry.trim().split(' ');
    const paths = path.includes('KIND')
      ? ['performance', 'dr'].map((kind) => path.replace('KIND', kind))
      : [path];
    return path === ''
      ? []
      : paths.flatMap((one) => methods.split(',').map((method) => `${method} ${one}`));
  });

const METHODS: Readonly<Record<string, string>> = { 'x-list': 'LIST' };

let harness: SysHarness;
const tokens = new Map<Caller, string>();
let rows: { readonly method: string; readonly path: string }[] = [];

beforeAll(async () => {
  harness = await openSysHarness();
  const root = (await harness.initialize()).rootToken;
  const post = async (path: string, body: Document, namespace = ''): Promise<Document> =>
    (await harness.call('POST', path, { token: root, body, namespace })).body;
  const create = async (body: Document, namespace = ''): Promise<string> =>
    (await post('auth/token/create', body, namespace)).auth.client_token;
  await post('sys/policies/acl/all', { policy: `path "*" { capabilities = [${EVERYTHING}] }` });
  await post('sys/policies/acl/sudo', {
    policy: `path "*" { capabilities = [${EVERYTHING}, "sudo"] }`,
  });
  await post('sys/namespaces/other', {});
  await post('sys/policies/acl/all', { policy: `path "*" { policy = "sudo" }` }, 'other');
  tokens.set('none', '');
  tokens.set('wrong', `hvs.${'x'.repeat(24)}`);
  tokens.set('expired', await create({ policies: ['sudo'], ttl: '1m' }));
  tokens.set('revoked', await create({ policies: ['sudo'] }));
  tokens.set(
    'other namespace',
    await create({ policies: ['all'], no_default_policy: true }, 'other'),
  );
  tokens.set('policy-less', await create({ policies: ['none'], no_default_policy: true }));
  await post('sys/policies/acl/reads', {
    policy: 'path "*" { capabilities = ["read", "list", "sudo"] }',
  });
  const wrapped = await harness.call('GET', 'sys/mounts', { token: root, wrapTtlSeconds: 3600 });
  tokens.set('wrapping', wrapped.body.wrap_info.token);
  tokens.set('read-only', await create({ policies: ['reads'], no_default_policy: true }));
  tokens.set(
    'batch',
    await create({ type: 'batch', policies: ['all'], no_default_policy: true, ttl: '1h' }),
  );
  tokens.set('without sudo', await create({ policies: ['all'], no_default_policy: true }));
  tokens.set('with sudo', await create({ policies: ['sudo'], no_default_policy: true }));
  tokens.set('root', root);
  await post('auth/token/revoke', { token: tokens.get('revoked') });
  harness.clock.advance(61_000);
  const { pathsJson } = await harness.sys.edge.describe();
  const paths = JSON.parse(pathsJson) as Record<string, Record<string, unknown>>;
  rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((key) => ({ method: METHODS[key] ?? key.toUpperCase(), path })),
  );
});
afterAll(() => harness.close());

const isIn = (classes: readonly RegExp[], path: string): boolean =>
  classes.some((one) => one.test(path));

const expected = (path: string, method: string, caller: Caller): 'served' | 403 => {
  if (isIn(UNAUTHENTICATED, path)) return 'served';
  if (caller === 'root' || caller === 'with sudo') return 'served';
  if (caller === 'read-only') return ['GET', 'LIST', 'HEAD'].includes(method) ? 'served' : 403;
  if (caller !== 'without sudo' && caller !== 'batch') return 403;
  const isWrite = method === 'POST' || method === 'PUT';
  return isIn(SUDO, path) || (/^\/sys\/rotate\/(keyring\/)?config$/.test(path) && isWrite)
    ? 403
    : 'served';
};

/** Whether Resolve allows the request. No handler runs, so the rows do not affect each other. */
const outcome = async (
  method: string,
  path: string,
  token: string,
  namespace = '',
): Promise<'served' | number> => {
  const filled = path.slice(1).replaceAll(/\{\w+\}/g, 'x');
  const { outcome: found } = await harness.sys.access.resolve({
    surface: 0,
    token,
    namespace,
    path: filled,
    method,
    remoteAddress: '127.0.0.1',
    wrapTtlSeconds: 0,
    wrapFormat: '',
    body: Buffer.alloc(0),
    hasBody: false,
    bodyFollows: false,
    requestId: '',
    contentType: '',
    query: '',
    index: '',
    clientCertificates: [],
  });
  if (found?.$case === 'allowed') return found.value.service === 'sys' ? 'served' : 0;
  // Permitted as far as can be decided without the body.
  if (found?.$case === 'needsBody') return 'served';
  const code = found?.$case === 'refused' ? found.value.code : '';
  const statuses: Readonly<Record<string, number>> = {
    'sys.permission_denied': 403,
    'sys.token_required': 403,
    'request.unsupported_path': 404,
  };
  return statuses[code] ?? -1;
};

describe('every route of sys', () => {
  test('is in the table', () => {
    expect(rows.length).toBeGreaterThan(100);
    const found = new Set(
      rows.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
    );
    expect(DOCUMENTED.length).toBeGreaterThan(50);
    expect(DOCUMENTED.filter((one) => !found.has(one))).toEqual([]);
  });

  test.for(CALLERS)('answers a caller of the kind "%s" as documented', async (caller) => {
    const token = tokens.get(caller) ?? '';
    const found: string[] = [];
    const wanted: string[] = [];
    for (const { method, path } of rows) {
      found.push(`${method} ${path}: ${await outcome(method, path, token)}`);
      wanted.push(`${method} ${path}: ${expected(path, method, caller)}`);
    }
    expect(found).toEqual(wanted);
  });

  test('exists outside the root namespace only if it is not restricted', async () => {
    const token = tokens.get('root') ?? '';
    for (const { method, path } of rows) {
      const answer = await outcome(method, path, token, 'other');
      expect([method, path, answer]).toEqual([
        method,
        path,
        ROOT_NAMESPACE_ONLY.test(path) ? 404 : 'served',
      ]);
    }
  });
});
