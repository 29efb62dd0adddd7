/**
 * The parts of sys that a DR secondary and a sealed cluster still serve: every route × every kind of caller,
 * with rows made from the routes as in caller-table; and the tokens in the body that may operate a DR
 * secondary.
 */
import { KeelsonError } from '@keelson/errors';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { advanceClockUntilSettled, operationToken } from './cluster-steps.ts';
import { inProcessTransport } from './in-process-transport.ts';
import { type Document, openSysHarness, type SysHarness } from './sys-harness.ts';

const SECONDARY = 'sys/replication/dr/secondary';

/** Written out here, because the table must not read the lists it checks. */
const SERVED_TO_ANYONE = [
  /^\/sys\/(init|seal-status|unseal|leader|health)$/,
  /^\/sys\/replication\/((performance|dr)\/)?status$/,
  /^\/sys\/replication\/dr\/secondary\/(promote|disable|recover|update-primary)$/,
  /^\/sys\/replication\/dr\/secondary\/(operation-token\/delete|reindex|merkle-check)$/,
  /^\/sys\/replication\/dr\/secondary\/generate-operation-token\/(attempt|update)$/,
];
/** Served to tokens that were replicated from the primary. */
const SERVED_TO_TOKENS = [
  /^\/sys\/(seal|metrics)$/,
  /^\/sys\/replication\/dr\/secondary\/(generate-public-key|enable)$/,
];
const SERVED_WHILE_SEALED = /^\/sys\/(init|seal-status|unseal|leader|health)$/;

const CALLERS = ['none', 'wrong', 'policy-less', 'DR operation token', 'root'] as const;
type Caller = (typeof CALLERS)[number];

let harness: SysHarness;
let key: string;
let operation: string;
const tokens = new Map<Caller, string>();
/** Batch tokens, by the scope of their policy. */
const batch = new Map<
  'of the path' | 'of another path' | 'of a namespace' | 'bound to a network',
  string
>();
let rows: { readonly method: string; readonly path: string }[] = [];

const post = async (path: string, body: Document = {}, token = ''): Promise<Document> =>
  (await harness.call('POST', path, { token, body })).body;

beforeAll(async () => {
  harness = await openSysHarness({ transport: inProcessTransport() });
  const made = await harness.initialize();
  ({ key } = made);
  const root = made.rootToken;
  const batchToken = async (name: string, path: string): Promise<string> => {
    const policy = `path "${path}" { capabilities = ["update"] }`;
    await post(`sys/policies/acl/${name}`, { policy }, root);
    const body = { type: 'batch', policies: [name], ttl: '768h', no_default_policy: true };
    return (await post('auth/token/create-orphan', body, root)).auth.client_token;
  };
  batch.set('of the path', await batchToken('operator', `${SECONDARY}/*`));
  batch.set('of another path', await batchToken('stranger', 'sys/replication/dr/primary/*'));
  // A namespace administrator could make this token; its policy matches the path in the namespace only.
  const inTeam = { token: root, namespace: 'team' };
  const everything = 'path "*" { capabilities = ["create", "read", "update", "delete", "sudo"] }';
  await post('sys/namespaces/team', {}, root);
  await harness.call('POST', 'sys/policies/acl/all', { ...inTeam, body: { policy: everything } });
  const ofTeam = await harness.call('POST', 'auth/token/create-orphan', {
    ...inTeam,
    body: { type: 'batch', policies: ['all'], ttl: '768h' },
  });
  batch.set('of a namespace', ofTeam.body.auth.client_token);
  const networks = {
    token_type: 'batch',
    orphan: true,
    renewable: false,
    allowed_policies: ['operator'],
    token_bound_cidrs: ['10.0.0.0/8'],
  };
  await post('auth/token/roles/site', networks, root);
  const bound = await post('auth/token/create/site', { policies: ['operator'] }, root);
  batch.set('bound to a network', bound.auth.client_token);
  const nothing = { policies: ['nothing'], no_default_policy: true };
  tokens.set('none', '');
  tokens.set('wrong', `hvs.${'x'.repeat(24)}`);
  tokens.set('policy-less', (await post('auth/token/create', nothing, root)).auth.client_token);
  tokens.set('root', root);
  await post('sys/replication/dr/primary/enable', {}, root);
  await advanceClockUntilSettled(harness, post('sys/replication/dr/primary/demote', {}, root));
  operation = await operationToken(harness, key);
  tokens.set('DR operation token', operation);
  const { pathsJson } = await harness.sys.edge.describe();
  rows = Object.entries(JSON.parse(pathsJson) as Record<string, Record<string, unknown>>).flatMap(
    ([path, operations]) =>
      Object.keys(operations).map((method) => ({
        method: method === 'x-list' ? 'LIST' : method.toUpperCase(),
        path,
      })),
  );
});
afterAll(() => harness.close());

/** The decision of Resolve; no handler runs. */
const outcome = async (method: string, path: string, token: string): Promise<string> => {
  const filled = path.slice(1).replaceAll(/\{\w+\}/g, 'x');
  try {
    const { outcome: found } = await harness.resolve(method, filled, { token });
    return found?.$case === 'refused' ? found.value.code : 'served';
  } catch (error) {
    return KeelsonError.from(error).code;
  }
};

const isIn = (classes: readonly RegExp[], path: string): boolean =>
  classes.some((one) => one.test(path));

describe('a DR secondary', () => {
  const expected = (path: string, caller: Caller): string => {
    if (isIn(SERVED_TO_ANYONE, path)) return 'served';
    if (!isIn(SERVED_TO_TOKENS, path)) return 'replication.dr_secondary';
    if (caller === 'root') return 'served';
    return caller === 'policy-less' ? 'sys.permission_denied' : 'sys.token_required';
  };

  test.for(CALLERS)(
    'answers a caller of the kind "%s" as documented, route by route',
    async (caller) => {
      const token = tokens.get(caller) ?? '';
      const found: string[] = [];
      for (const { method, path } of rows)
        found.push(`${method} ${path}: ${await outcome(method, path, token)}`);
      expect(rows.length).toBeGreaterThan(100);
      expect(found).toEqual(
        rows.map(({ method, path }) => `${method} ${path}: ${expected(path, caller)}`),
      );
    },
  );

  test('refuses clients with the documented text, and reports health as 472', async () => {
    expect(await harness.call('GET', 'sys/mounts', { token: tokens.get('root') })).toEqual({
      status: 400,
      body: { errors: ['path disabled in replication DR secondary mode'] },
    });
    const health = (query: string) => harness.call('GET', 'sys/health', { query });
    expect((await health('')).status).toBe(472);
    expect((await health('drsecondarycode=299')).status).toBe(299);
    expect((await health('drsecondarycode=x')).status).toBe(400);
  });
});

/** Bodies with as few side effects as possible. The order matters: the one that deletes the token is last. */
const OPERATIONS: readonly (readonly [string, Document])[] = [
  ['merkle-check', {}],
  ['recover', {}],
  ['reindex', { force: true }],
  ['update-primary', { token: '' }],
  ['promote', { dry_run: true }],
  ['operation-token/delete', {}],
  ['disable', {}],
];

describe('an operation of a DR secondary', () => {
  const call = async (
    suffix: string,
    body: Document,
    { token = '', remoteAddress = '127.0.0.1' } = {},
  ): Promise<number> =>
    (await harness.call('POST', `${SECONDARY}/${suffix}`, { body, token, remoteAddress })).status;

  const reindexed = async (): Promise<void> => {
    const { body } = await harness.call('GET', 'sys/replication/dr/status');
    if (body.data.reindex_in_progress !== true) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
    await reindexed();
  };

  test('is in the table', () => {
    const operated = rows.filter(
      ({ method, path }) =>
        method === 'POST' && path.startsWith(`/${SECONDARY}/`) && !/generate-|\/enable$/.test(path),
    );
    expect(operated.map(({ path }) => path.slice(SECONDARY.length + 2)).sort()).toEqual(
      OPERATIONS.map(([suffix]) => suffix).sort(),
    );
  });

  test.for(OPERATIONS)('%s requires a token for it, in the body', async ([suffix, body]) => {
    const withToken = (token: string | undefined) => ({ ...body, dr_operation_token: token });
    const answers = {
      'no token': await call(suffix, body),
      'an empty one': await call(suffix, withToken('')),
      'a wrong one': await call(suffix, withToken(`hvs.${'x'.repeat(24)}`)),
      'the root token': await call(suffix, withToken(tokens.get('root'))),
      'the root token in the header': await call(suffix, body, { token: tokens.get('root') ?? '' }),
      'the operation token in the header': await call(suffix, body, { token: operation }),
      'a batch token of another path': await call(suffix, withToken(batch.get('of another path'))),
      'a batch token of a namespace': await call(suffix, withToken(batch.get('of a namespace'))),
      'a batch token from elsewhere': await call(
        suffix,
        withToken(batch.get('bound to a network')),
      ),
    };
    expect(answers).toEqual({
      'no token': 400,
      'an empty one': 400,
      'a wrong one': 403,
      'the root token': 403,
      'the root token in the header': 400,
      'the operation token in the header': 400,
      'a batch token of another path': 403,
      'a batch token of a namespace': 403,
      'a batch token from elsewhere': 403,
    });
  });

  test('is executed for a batch token of the path, and for the operation token', async () => {
    const lasting = OPERATIONS.filter(([suffix]) => !/delete$|disable$/.test(suffix));
    const found: (readonly [string, number, number])[] = [];
    for (const [suffix, body] of lasting) {
      const byBatch = await call(suffix, { ...body, dr_operation_token: batch.get('of the path') });
      await reindexed();
      found.push([suffix, byBatch, await call(suffix, { ...body, dr_operation_token: operation })]);
      await reindexed();
    }
    expect(found).toEqual(lasting.map(([suffix]) => [suffix, 200, 200]));
    const bound = { dr_operation_token: batch.get('bound to a network') };
    expect(await call('merkle-check', bound, { remoteAddress: '10.1.2.3' })).toBe(200);
  });

  test('is refused once the operation token is deleted; a batch token remains valid', async () => {
    const remove = (token: string | undefined) =>
      call('operation-token/delete', { dr_operation_token: token });
    const check = (token: string | undefined) =>
      call('merkle-check', { dr_operation_token: token });
    expect(await remove(operation)).toBe(204);
    expect([await check(operation), await remove(operation)]).toEqual([403, 403]);
    operation = await operationToken(harness, key);
    expect(await remove(batch.get('of the path'))).toBe(204);
    expect([await check(operation), await check(batch.get('of the path'))]).toEqual([403, 200]);
  });
});

test('a sealed cluster serves only what unseals it', async () => {
  const root = tokens.get('root') ?? '';
  expect((await harness.call('POST', 'sys/seal', { token: root })).status).toBe(204);
  const found: string[] = [];
  for (const { method, path } of rows)
    found.push(`${method} ${path}: ${await outcome(method, path, root)}`);
  expect(found).toEqual(
    rows.map(
      ({ method, path }) =>
        `${method} ${path}: ${SERVED_WHILE_SEALED.test(path) ? 'served' : 'sys.sealed'}`,
    ),
  );
});
