/**
 * The OpenAPI documents that a standalone process serves.
 *
 * | address                   | describes                 | server    |
 * | ------------------------- | ------------------------- | --------- |
 * | `/openapi/workspace.json` | the workspace API         | `/api/v2` |
 * | `/openapi/pki.json`       | the certificate authority | `/v1`     |
 * | `/openapi/sys.json`       | the administration        | `/v1`     |
 *
 * They are OpenAPI 3.1, and with `?version=3.0` OpenAPI 3.0; another version is 400.
 *
 * `GET /v1/sys/internal/specs/openapi` is the same for tools of the vendor: one OpenAPI 3.0 document.
 *
 * | caller                         | mounts it describes                                |
 * | ------------------------------ | -------------------------------------------------- |
 * | none                           | those with `listing_visibility` `unauth`           |
 * | a token                        | those that its policies reach                      |
 * | root                           | all, by their paths                                |
 * | root, `?generic_mount_paths=1` | one path parameter in place of the mounts of a type |
 */
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { compareAnswers, type DescribedApi } from '@keelson/testkit/described-answers';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly 'x-methods'?: readonly string[];
}

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({ dataFolder: join(folder.path, 'data') });
});
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

const text = async (name: string, query = ''): Promise<string> =>
  (await fetch(`${keelson.http}/openapi/${name}.json${query}`)).text();
const document = async (name: string): Promise<Document> =>
  JSON.parse(await text(name)) as Document;

describe.for([
  ['workspace', '/api/v2', '/workspaces/{workspace_id}'],
  ['pki', '/v1', '/{mount}/issue/{name}'],
  ['sys', '/v1', '/sys/seal-status'],
] as const)('the OpenAPI document %s', ([name, server, path]) => {
  test.for([
    ['3.1.0', ''],
    ['3.1.0', '?version=3.1'],
    ['3.0.3', '?version=3.0'],
  ])(
    'is OpenAPI %s with %s, and breaks no recommended rule of redocly',
    async ([version, query]) => {
      const source = await text(name, query);
      expect((JSON.parse(source) as { openapi: string }).openapi).toBe(version);
      const config = await createConfig({ extends: ['recommended'] });
      const problems = await lintFromString({ source, config });
      const errors = problems.filter(({ severity }) => severity === 'error');
      expect(
        errors.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
      ).toEqual([]);
    },
  );

  test('has no other version', async () => {
    const answer = await fetch(`${keelson.http}/openapi/${name}.json?version=2.0`);
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining('version is neither 3.0 nor 3.1'),
    ]);
  });

  test('is compressed for a client that accepts it', async () => {
    const { headers } = await fetch(`${keelson.http}/openapi/${name}.json`);
    expect(headers.get('content-encoding')).toMatch(/^(?:br|gzip)$/);
  });

  test(`describes paths below ${server}`, async () => {
    const { servers, paths } = await document(name);
    expect([servers, Object.keys(paths)]).toEqual([
      [{ url: server }],
      expect.arrayContaining([path]),
    ]);
  });
});

/** Operations of which no test of their service gets a document: old names, and answers of running clusters. */
const WITHOUT_EXAMPLE: Readonly<Record<string, readonly string[]>> = {
  workspace: [],
  pki: ['get /{mount}/cert/ca', 'get /{mount}/cert/ca_chain', 'get /{mount}/config/keys'],
  sys: [
    'head /sys/health',
    'get /sys/rotate/root/backup',
    'get /sys/rekey-recovery-key/init',
    'get /sys/rekey-recovery-key/verify',
    'get /sys/rekey/recovery-key-backup',
    'get /sys/rotate/recovery/init',
    'get /sys/rotate/recovery/verify',
    'get /sys/rotate/recovery/backup',
    'get /auth/token/lookup/{token}',
    'get /sys/leases/lookup/{path}',
    'get /cubbyhole/{path}',
    'get /sys/internal/ui/mounts/{path}',
    'get /sys/internal/specs/openapi',
    'get /sys/internal/ui/recent-requests',
    'get /sys/replication/status',
    'get /sys/replication/performance/primary/dynamic-filter/{id}',
    'get /sys/replication/performance/secondary/dynamic-filter/{id}',
    'get /sys/replication/primary/dynamic-filter/{id}',
    'get /sys/replication/secondary/dynamic-filter/{id}',
    'get /sys/replication/dr/secondary/generate-operation-token/attempt',
  ],
};

describe.for(Object.entries(WITHOUT_EXAMPLE))('the examples of %s', ([name, without]) => {
  test('exist for every operation that answers with a document, and are as described', async () => {
    const api = JSON.parse(await text(name)) as DescribedApi;
    const { faultsOf } = compareAnswers(api);
    const missing: string[] = [];
    const faults: string[] = [];
    for (const [path, item] of Object.entries(api.paths))
      for (const [method, operation] of Object.entries(item)) {
        const shown = Object.entries(operation.responses).flatMap(([status, { content = {} }]) =>
          Object.entries(content).flatMap(([mediaType, { examples = {} }]) =>
            Object.values(examples).map(({ value }) => ({
              status: Number(status),
              mediaType,
              value,
            })),
          ),
        );
        // Where the answer may be without a document, the document only says what is wrong.
        const hasDocument =
          operation.responses['202'] === undefined &&
          operation.responses['204'] === undefined &&
          Object.entries(operation.responses).some(
            ([status, { content = {} }]) =>
              status.startsWith('2') &&
              Object.entries(content).some(
                ([type, { schema }]) => type.endsWith('json') && schema !== undefined,
              ),
          );
        if (hasDocument && shown.length === 0) missing.push(`${method} ${path}`);
        for (const { status, mediaType, value } of shown)
          for (const fault of faultsOf(operation, {
            status,
            mediaType,
            body: JSON.stringify(value),
          }))
            faults.push(`${method} ${path}: ${fault}`);
      }
    expect(faults).toEqual([]);
    expect(missing).toEqual(without);
  });
});

test('the workspace API serves the same document where client generators look for it', async () => {
  const stable = await fetch(`${keelson.http}/api/v2/openapi/stable.json`);
  expect(await stable.json()).toEqual(await document('workspace'));
});

test('an operation that needs no token says so', async () => {
  const [{ paths: sys }, { paths: pki }] = [await document('sys'), await document('pki')];
  expect(sys['/sys/seal-status']?.['get']?.security).toEqual([]);
  expect(sys['/sys/mounts']?.['get']?.security).toBeUndefined();
  expect(pki['/{mount}/issuer/{issuer_ref}/pem']?.['get']?.security).toEqual([]);
  expect(pki['/{mount}/acme/new-order']?.['post']?.security).toEqual([]);
  expect(pki['/{mount}/issue/{name}']?.['post']?.security).toBeUndefined();
});

test('methods that mean the same are one operation', async () => {
  const { paths } = await document('pki');
  expect(Object.keys(paths['/{mount}/roles'] ?? {})).toEqual(['get']);
  expect(paths['/{mount}/roles']?.['get']).toMatchObject({
    operationId: 'list_mount_roles',
    parameters: expect.arrayContaining([
      expect.objectContaining({ name: 'mount', in: 'path' }),
      expect.objectContaining({ name: 'list', required: true }),
    ]),
    'x-methods': ['LIST'],
  });
  expect(Object.keys(paths['/{mount}/issue/{name}'] ?? {})).toEqual(['post']);
  expect(paths['/{mount}/issue/{name}']?.['post']?.['x-methods']).toEqual(['POST', 'PUT']);
});

test.for(['auth', 'pki', 'sys'])('every list of %s has pages', async (name) => {
  const { paths } = await document(name);
  const lists = Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item)
      .filter(({ 'x-methods': methods = [] }) => methods.includes('LIST'))
      .map(({ parameters = [] }) => ({ path, names: parameters.map((one) => one.name) })),
  );
  expect(lists.length).toBeGreaterThan(5);
  expect(lists.filter(({ names }) => !names.includes('after') || !names.includes('limit'))).toEqual(
    [],
  );
});

describe('the document for tools of the vendor', () => {
  const administer = async (path: string, body: object) => {
    const answer = await fetch(`${keelson.http}/v1/${path}`, {
      method: 'POST',
      headers: { 'x-service-token': keelson.rootToken },
      body: JSON.stringify(body),
    });
    expect(answer.ok).toBe(true);
    const content = await answer.text();
    return content === '' ? undefined : (JSON.parse(content) as { auth: { client_token: string } });
  };
  const described = async (token: string, query = '') => {
    const answer = await fetch(`${keelson.http}/v1/sys/internal/specs/openapi${query}`, {
      headers: token === '' ? {} : { 'x-vault-token': token },
    });
    expect(answer.status).toBe(200);
    const source = await answer.text();
    return { source, ...(JSON.parse(source) as Document & { openapi: string }) };
  };

  beforeAll(async () => {
    await administer('sys/mounts/shown', {
      type: 'pki',
      config: { listing_visibility: 'unauth' },
    });
    await administer('sys/mounts/deep/hidden', { type: 'pki' });
  });

  test('is OpenAPI 3.0 without a fault', async () => {
    const { openapi, source } = await described(keelson.rootToken);
    expect(openapi).toBe('3.0.3');
    const config = await createConfig({ extends: ['recommended'] });
    const errors = (await lintFromString({ source, config })).filter(
      ({ severity }) => severity === 'error',
    );
    expect(errors.map(({ ruleId, message }) => [ruleId, message])).toEqual([]);
  });

  test('describes to root every mount by its path', async () => {
    const { paths } = await described(keelson.rootToken);
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        '/sys/mounts',
        '/auth/token/create',
        '/cubbyhole/{path}',
        '/shown/roles/{name}',
        '/deep/hidden/roles/{name}',
      ]),
    );
    expect(paths['/deep/hidden/roles']?.['get']?.operationId).toBe('list_deep_hidden_roles');
  });

  test('has a parameter in place of the mounts if asked for', async () => {
    const { paths } = await described(keelson.rootToken, '?generic_mount_paths=true');
    expect(paths).toHaveProperty(['/{pki_mount_path}/roles/{name}']);
    expect(paths).not.toHaveProperty(['/shown/roles/{name}']);
  });

  test('describes to others what they reach', async () => {
    const { paths: shown } = await described('');
    expect(Object.keys(shown).every((path) => path.startsWith('/shown/'))).toBe(true);
    expect(shown).toHaveProperty(['/shown/issue/{name}']);
    await administer('sys/policies/acl/deep', {
      policy: 'path "deep/*" { capabilities = ["read"] }',
    });
    const made = await administer('auth/token/create', {
      policies: ['deep'],
      no_default_policy: true,
    });
    const { paths: reached } = await described(made?.auth.client_token ?? '');
    expect(reached).toHaveProperty(['/deep/hidden/issue/{name}']);
    expect(reached).not.toHaveProperty(['/sys/mounts']);
  });
});
