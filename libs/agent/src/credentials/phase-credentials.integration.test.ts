/**
 * The credentials of a phase, with a server in the place of Vault.
 *
 * | variables                                             | yield                                                       |
 * | ----------------------------------------------------- | ----------------------------------------------------------- |
 * | `TFC_WORKLOAD_IDENTITY_AUDIENCE`, with a tag or none  | `TFC_WORKLOAD_IDENTITY_TOKEN…`                              |
 * | `TFC_VAULT_…`                                         | a login before anything else; `VAULT_TOKEN`, `VAULT_ADDR` … |
 * | `TFC_VAULT_PLAN_ROLE`, `TFC_VAULT_APPLY_ROLE`         | the role of the phase                                       |
 * | with a tag                                            | files, which `tfc_vault_dynamic_credentials` names          |
 * | with a tag and without                                | the same, and no variable of the provider                   |
 * | `TFC_AWS_…`, `TFC_GCP_…`, `TFC_AZURE_…`, …            | the files and variables of those providers                  |
 * | a missing one, one with other characters              | an error that names it                                      |
 * | the end of the phase                                  | every token is revoked, every file removed                  |
 * | a killed process                                      | its tokens are revoked at the next start                    |
 * | a server that refuses, floods, redirects, is away     | an error without the token; other logins are undone         |
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Phase, WorkloadToken } from '../control-plane.ts';
import { obtainCredentials, revokeLeftTokens } from './phase-credentials.ts';

interface Asked {
  readonly path: string;
  readonly namespace: string | undefined;
  readonly token: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

const JWT = 'header.claims.signature';
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let server: Server;
let address: string;
let asked: Asked[];
/** Answers a login; its default is a token that is named after the role. */
let answer: (role: string) => { status: number; text: string; headers?: Record<string, string> };

beforeEach(async () => {
  folder = await temporaryDirectory();
  asked = [];
  answer = (role) => ({
    status: 200,
    text: JSON.stringify({ auth: { client_token: `hvs.${role}`, lease_duration: 1200 } }),
  });
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Asked['body'];
      const { 'x-vault-namespace': namespace, 'x-vault-token': token } = request.headers;
      asked.push({
        path: request.url ?? '',
        namespace: namespace as string | undefined,
        token: token as string | undefined,
        body,
      });
      const { status, text, headers } = request.url?.endsWith('/login')
        ? answer(String(body['role']))
        : { status: 204, text: '', headers: {} };
      response.writeHead(status, headers).end(text);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await folder[Symbol.asyncDispose]();
});

const tokenFor = (purpose: string, tag = '', token = JWT): WorkloadToken => ({
  purpose,
  tag,
  token,
});

const obtain = async (
  tokens: readonly WorkloadToken[],
  variables: Readonly<Record<string, string>>,
  phase: 'plan' | 'apply' = 'plan',
) => {
  const workingFolder = join(folder.path, 'configuration', 'live');
  await mkdir(workingFolder, { recursive: true });
  const hidden: string[] = [];
  const obtained = await obtainCredentials({
    phase: { attributes: { phase, 'workload-identity-tokens': tokens } } as unknown as Phase,
    root: folder.path,
    workingFolder,
    variables,
    environment: {},
    hide: (secrets) => hidden.push(...secrets),
    say: () => undefined,
  });
  /** An input variable, with the contents of the files that it names. */
  const input = async (provider: string) => {
    const text = obtained.environment[`TF_VAR_tfc_${provider}_dynamic_credentials`] ?? '';
    return JSON.parse(text) as {
      readonly default: Readonly<Record<string, string>>;
      readonly aliases: Readonly<Record<string, Readonly<Record<string, string>>>>;
    };
  };
  const contentOf = (path = '') => readFile(resolve(workingFolder, path), 'utf8');
  return { ...obtained, hidden, input, contentOf };
};

/** The text of the error with which it ends. */
const failureOf = (
  tokens: readonly WorkloadToken[],
  variables: Readonly<Record<string, string>>,
): Promise<string> =>
  obtain(tokens, variables).then(
    () => 'none',
    (error: Error) => error.message,
  );

const vault = (values: Readonly<Record<string, string>> = {}) => ({
  TFC_VAULT_ADDR: address,
  TFC_VAULT_RUN_ROLE: 'run',
  ...values,
});

test('tokens of the run are variables, with their tags, and hidden', async () => {
  const { environment, hidden } = await obtain(
    [tokenFor('WORKLOAD_IDENTITY'), tokenFor('WORKLOAD_IDENTITY', 'B', 'a.b.c')],
    {},
  );
  expect(environment).toEqual({
    TFC_WORKLOAD_IDENTITY_TOKEN: JWT,
    TFC_WORKLOAD_IDENTITY_TOKEN_B: 'a.b.c',
  });
  expect(hidden).toEqual([JWT, 'a.b.c']);
});

test('an audience without a token ends the phase, and is named', async () => {
  const none = tokenFor('WORKLOAD_IDENTITY', 'B', '');
  expect(await failureOf([none], {})).toContain('TFC_WORKLOAD_IDENTITY_AUDIENCE_B');
});

describe('Vault', () => {
  test('gives a token, which is revoked at the end of the phase', async () => {
    const { environment, hidden, end } = await obtain([tokenFor('VAULT')], vault());
    expect(asked).toEqual([{ path: '/v1/auth/jwt/login', body: { role: 'run', jwt: JWT } }]);
    expect(environment).toMatchObject({ VAULT_TOKEN: 'hvs.run', VAULT_ADDR: address });
    expect(environment).not.toHaveProperty('VAULT_NAMESPACE');
    expect(hidden).toEqual([JWT, 'hvs.run']);
    expect(await end()).toEqual([]);
    expect(asked[1]).toMatchObject({ path: '/v1/auth/token/revoke-self', token: 'hvs.run' });
    expect(existsSync(join(folder.path, 'credentials'))).toBe(false);
    expect(existsSync(join(folder.path, 'sessions.json'))).toBe(false);
  });

  test('is signed in to with the namespace, the mount and the role of the phase', async () => {
    const variables = vault({
      TFC_VAULT_NAMESPACE: 'team/one',
      TFC_VAULT_AUTH_PATH: '/runs/of-keelson/',
      TFC_VAULT_PLAN_ROLE: 'read',
      TFC_VAULT_APPLY_ROLE: 'write',
    });
    const plan = await obtain([tokenFor('VAULT')], variables);
    const apply = await obtain([tokenFor('VAULT')], variables, 'apply');
    expect(asked.map(({ path, namespace, body }) => [path, namespace, body['role']])).toEqual([
      ['/v1/auth/runs/of-keelson/login', 'team/one', 'read'],
      ['/v1/auth/runs/of-keelson/login', 'team/one', 'write'],
    ]);
    expect(plan.environment).toMatchObject({ VAULT_NAMESPACE: 'team/one' });
    await apply.end();
    expect(asked[2]).toMatchObject({ namespace: 'team/one', token: 'hvs.write' });
  });

  test('has several configurations by tags, which share defaults', async () => {
    const pem = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n';
    const { environment, input, contentOf } = await obtain(
      [tokenFor('VAULT'), tokenFor('VAULT', 'B')],
      {
        TFC_DEFAULT_VAULT_ADDR: `${address}/`,
        TFC_VAULT_RUN_ROLE: 'a',
        TFC_VAULT_RUN_ROLE_B: 'b',
        TFC_VAULT_NAMESPACE_B: 'of b',
        TFC_VAULT_ENCODED_CACERT_B: Buffer.from(pem).toString('base64'),
      },
    );
    expect(Object.keys(environment)).toEqual(['TF_VAR_tfc_vault_dynamic_credentials']);
    const given = await input('vault');
    expect(given.default).toMatchObject({ address, namespace: '', ca_cert_file: '' });
    expect(await contentOf(given.default['token_filename'])).toBe('hvs.a');
    expect(given.aliases['B']).toMatchObject({ address, namespace: 'of b' });
    expect(await contentOf(given.aliases['B']?.['token_filename'])).toBe('hvs.b');
    expect(await contentOf(given.aliases['B']?.['ca_cert_file'])).toBe(pem);
    // The plan contains the path, and is applied in another folder.
    expect(given.aliases['B']?.['token_filename']).toBe('../../credentials/VAULT.B/token');
  });

  test.for([
    [{ TFC_VAULT_ADDR: '' }, 'TFC_VAULT_ADDR is not set'],
    [{ TFC_VAULT_ADDR: 'file:///etc/passwd' }, 'TFC_VAULT_ADDR'],
    [{ TFC_VAULT_ADDR: 'http://a:b@127.0.0.1' }, 'TFC_VAULT_ADDR'],
    [{ TFC_VAULT_RUN_ROLE: '' }, 'TFC_VAULT_RUN_ROLE is not set'],
    [{ TFC_VAULT_RUN_ROLE: 'a\nb' }, 'TFC_VAULT_RUN_ROLE'],
    [{ TFC_VAULT_AUTH_PATH: '../../sys/seal' }, 'TFC_VAULT_AUTH_PATH'],
    [{ TFC_VAULT_AUTH_PATH: 'jwt/login?x=' }, 'TFC_VAULT_AUTH_PATH'],
    [{ TFC_VAULT_NAMESPACE: 'a\r\nx-vault-token: b' }, 'TFC_VAULT_NAMESPACE'],
    [{ TFC_VAULT_ENCODED_CACERT: 'bm9uZQ==' }, 'TFC_VAULT_ENCODED_CACERT'],
    ...['0', '601', '60s', '1e2', '-5'].map(
      (time) => [{ TFC_VAULT_CLIENT_TIMEOUT: time }, 'TFC_VAULT_CLIENT_TIMEOUT'] as const,
    ),
  ] as const)('is asked nothing with %o', async ([values, named]) => {
    expect(await failureOf([tokenFor('VAULT')], vault(values))).toContain(named);
    expect(asked).toEqual([]);
  });

  test.for([
    [
      'refuses',
      { status: 400, text: '{"errors":["invalid role"]}' },
      'it answered 400: {"errors":["invalid role"]}',
    ],
    [
      'redirects',
      { status: 307, text: '', headers: { location: '/elsewhere' } },
      'it answered 307',
    ],
    ['answers without a token', { status: 200, text: '{}' }, 'without a token'],
    ['answers with null', { status: 200, text: 'null' }, 'without a token'],
    [
      'answers with another text',
      { status: 200, text: '{"auth":{"client_token":"hvs.new"}' },
      'failed: it answered with something that is not JSON',
    ],
    [
      'answers with the token of the run at the end of what is shown',
      { status: 400, text: `${'x'.repeat(490)}${JWT}` },
      `${'x'.repeat(490)}(sensitive`,
    ],
    [
      'answers with a token of two lines',
      { status: 200, text: '{"auth":{"client_token":"a\\nb"}}' },
      'without a token',
    ],
    ['floods', { status: 200, text: 'x'.repeat(300_000) }, 'more than 262144 bytes'],
  ] as const)('that %s ends the phase with the reason', async ([, given, reason]) => {
    answer = () => given;
    const text = await failureOf([tokenFor('VAULT')], vault());
    expect(text).toContain(`The login with role run at ${address}/v1/auth/jwt failed`);
    expect(text).toContain(reason);
    expect(text).not.toMatch(/header|hvs/);
    expect(asked).toHaveLength(1);
  });

  test('that does not answer ends the phase after the time that the workspace gives it', {
    timeout: 10_000,
  }, async () => {
    server.removeAllListeners('request');
    const text = await failureOf([tokenFor('VAULT')], vault({ TFC_VAULT_CLIENT_TIMEOUT: '1' }));
    expect(text).toContain('timeout');
  });

  test('that is away ends the phase, and the logins before it are undone', async () => {
    const text = await failureOf(
      [tokenFor('VAULT'), tokenFor('VAULT', 'B')],
      vault({ TFC_VAULT_ADDR_B: 'http://127.0.0.1:1', TFC_VAULT_RUN_ROLE_B: 'b' }),
    );
    expect(text).toContain('ECONNREFUSED');
    expect(asked.map(({ path }) => path)).toEqual([
      '/v1/auth/jwt/login',
      '/v1/auth/token/revoke-self',
    ]);
  });

  test('revokes the tokens of a process that was killed', async () => {
    await obtain(
      [tokenFor('VAULT'), tokenFor('VAULT', 'B')],
      vault({ TFC_VAULT_RUN_ROLE_B: 'b', TFC_VAULT_ADDR_B: address }),
    );
    expect((await stat(join(folder.path, 'sessions.json'))).mode & 0o777).toBe(0o600);
    expect(await revokeLeftTokens(folder.path, {})).toBe(2);
    expect(new Set(asked.slice(2).map(({ token }) => token))).toEqual(
      new Set(['hvs.b', 'hvs.run']),
    );
    expect(await revokeLeftTokens(folder.path, {})).toBe(0);
  });

  test.for(['another text', '{"length":1e9}', '[{"address":1}]'])(
    'is not asked anything because of what a run has left: %s',
    async (text) => {
      await writeFile(join(folder.path, 'sessions.json'), text);
      expect(await revokeLeftTokens(folder.path, {})).toBe(0);
      expect(asked).toEqual([]);
    },
  );
});

describe('the provider of', () => {
  test('AWS finds its role and the token', async () => {
    const variables = {
      TFC_AWS_RUN_ROLE_ARN: 'arn:aws:iam::1:role/run',
      TFC_AWS_PLAN_ROLE_ARN_B: 'arn:aws:iam::1:role/plan',
    };
    const { environment, contentOf } = await obtain([tokenFor('AWS')], variables);
    expect(environment).toMatchObject({ AWS_ROLE_ARN: 'arn:aws:iam::1:role/run' });
    expect(await contentOf(environment['AWS_WEB_IDENTITY_TOKEN_FILE'])).toBe(JWT);
    const tagged = [tokenFor('AWS'), tokenFor('AWS', 'B', 'a.b.c')];
    const { aliases } = await (await obtain(tagged, variables)).input('aws');
    const config = await contentOf(aliases['B']?.['shared_config_file']);
    expect(config).toMatch(/^\[default\]\nrole_arn = arn:aws:iam::1:role\/plan\n/);
    expect(await contentOf(/token_file = (.*)/.exec(config)?.[1])).toBe('a.b.c');
  });

  test('Google finds an external account', async () => {
    const { environment, input, contentOf } = await obtain([tokenFor('GCP')], {
      TFC_GCP_PROJECT_NUMBER: '7',
      TFC_GCP_WORKLOAD_POOL_ID: 'pool',
      TFC_GCP_WORKLOAD_PROVIDER_ID: 'keelson',
      TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL: 'run@p.iam.gserviceaccount.com',
    });
    const file = environment['GOOGLE_APPLICATION_CREDENTIALS'];
    const account = JSON.parse(await contentOf(file)) as {
      readonly credential_source: { readonly file: string };
    };
    expect(account).toMatchObject({
      type: 'external_account',
      audience:
        '//iam.googleapis.com/projects/7/locations/global/workloadIdentityPools/pool/providers/keelson',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      service_account_impersonation_url:
        'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/run@p.iam.gserviceaccount.com:generateAccessToken',
    });
    expect(await contentOf(account.credential_source.file)).toBe(JWT);
    expect(await contentOf((await input('gcp')).default['credentials'])).toBe(
      await contentOf(file),
    );
  });

  test.for([
    ['', ['workload_pool', 'service_account']],
    ['_B', ['service_account', 'workload_pool']],
    ['DEFAULT_', ['workload_pool', 'workload_pool']],
  ] as const)('Google finds a principal of its pool by the variable %s', async ([form, types]) => {
    const name =
      form === 'DEFAULT_' ? 'TFC_DEFAULT_GCP_PRINCIPAL_TYPE' : `TFC_GCP_PRINCIPAL_TYPE${form}`;
    const { input, contentOf } = await obtain([tokenFor('GCP'), tokenFor('GCP', 'B')], {
      TFC_DEFAULT_GCP_WORKLOAD_PROVIDER_NAME: 'projects/7',
      [name]: 'workload_pool',
      // Only one that is impersonated has a name.
      ...(types[0] === 'service_account' && { TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL: 'a@p.example' }),
      ...(types[1] === 'service_account' && { TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL_B: 'b@p.example' }),
    });
    const given = await input('gcp');
    const files = [given.default, given.aliases['B']].map((one) => one?.['credentials']);
    const accounts = await Promise.all(files.map(contentOf));
    expect(
      accounts.map((text) =>
        'service_account_impersonation_url' in JSON.parse(text)
          ? 'service_account'
          : 'workload_pool',
      ),
    ).toEqual(types);
  });

  test('Azure finds its client and the token', async () => {
    const { environment, input, contentOf } = await obtain([tokenFor('AZURE')], {
      TFC_AZURE_RUN_CLIENT_ID: '0000-1',
    });
    expect(environment).toMatchObject({
      ARM_USE_OIDC: 'true',
      ARM_CLIENT_ID: '0000-1',
      ARM_OIDC_TOKEN: JWT,
    });
    const files = (await input('azure')).default;
    expect(await contentOf(files['client_id_file_path'])).toBe('0000-1');
    expect(await contentOf(files['oidc_token_file_path'])).toBe(JWT);
  });

  test('Kubernetes finds the token', async () => {
    const { environment, contentOf } = await obtain([tokenFor('KUBERNETES')], {});
    expect(environment).toMatchObject({ KUBE_TOKEN: JWT });
    const tagged = [tokenFor('KUBERNETES'), tokenFor('KUBERNETES', 'B', 'a.b.c')];
    const { aliases } = await (await obtain(tagged, {})).input('kubernetes');
    expect(await contentOf(aliases['B']?.['token_path'])).toBe('a.b.c');
  });

  test('Tencent Cloud finds its role and the token in the input variable alone', async () => {
    const role = 'qcs::cam::uin/1:roleName/run';
    const { environment, input, contentOf } = await obtain([tokenFor('TENCENTCLOUD')], {
      TFC_TENCENTCLOUD_RUN_ROLE_ARN: role,
    });
    expect(Object.keys(environment)).toEqual(['TF_VAR_tfc_tencentcloud_dynamic_credentials']);
    const given = (await input('tencentcloud')).default;
    expect(given).toEqual({ token_file: '../../credentials/TENCENTCLOUD/token', role_arn: role });
    expect(await contentOf(given['token_file'])).toBe(JWT);
  });

  test.for(['AWS', 'GCP', 'AZURE', 'KUBERNETES'])(
    '%s finds its credentials in the input variable alone where there is a tag',
    async (purpose) => {
      const variables = {
        TFC_DEFAULT_AWS_RUN_ROLE_ARN: 'arn:aws:iam::1:role/run',
        TFC_DEFAULT_GCP_WORKLOAD_PROVIDER_NAME: 'projects/7',
        TFC_DEFAULT_GCP_RUN_SERVICE_ACCOUNT_EMAIL: 'run@p.iam.gserviceaccount.com',
        TFC_DEFAULT_AZURE_RUN_CLIENT_ID: '0000-1',
      };
      // Another provider without tags keeps its variables.
      const other = purpose === 'AWS' ? 'KUBERNETES' : 'AWS';
      const tokens = [tokenFor(purpose), tokenFor(purpose, 'B', 'a.b.c'), tokenFor(other)];
      const { environment, input } = await obtain(tokens, variables);
      expect(Object.keys(environment).toSorted()).toEqual(
        [
          ...(other === 'AWS' ? ['AWS_ROLE_ARN', 'AWS_WEB_IDENTITY_TOKEN_FILE'] : ['KUBE_TOKEN']),
          ...[purpose, other].map((one) => `TF_VAR_tfc_${one.toLowerCase()}_dynamic_credentials`),
        ].toSorted(),
      );
      const given = await input(purpose.toLowerCase());
      expect(Object.keys(given.default)).toEqual(Object.keys(given.aliases['B'] ?? {}));
      expect(Object.values(given.default)).not.toContain('');
    },
  );

  test.for([
    ['AWS', {}, 'TFC_AWS_RUN_ROLE_ARN is not set'],
    ['AWS', { TFC_AWS_RUN_ROLE_ARN: 'a\ncredential_process = id' }, 'TFC_AWS_RUN_ROLE_ARN'],
    ['GCP', { TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL: 'a' }, 'TFC_GCP_PROJECT_NUMBER'],
    ['GCP', { TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL: 'a/../b?c' }, 'TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL'],
    ['GCP', { TFC_GCP_PRINCIPAL_TYPE: 'pool' }, 'TFC_GCP_PRINCIPAL_TYPE'],
    ['GCP', { TFC_GCP_PRINCIPAL_TYPE: 'workload_pool' }, 'TFC_GCP_PROJECT_NUMBER'],
    ['AZURE', {}, 'TFC_AZURE_RUN_CLIENT_ID'],
    ['TENCENTCLOUD', {}, 'TFC_TENCENTCLOUD_RUN_ROLE_ARN'],
    ['OTHER', {}, 'older than the control plane'],
  ] as const)('%s is refused the variables %o', async ([purpose, variables, named]) => {
    expect(await failureOf([tokenFor(purpose)], variables)).toContain(named);
    expect(existsSync(join(folder.path, 'credentials'))).toBe(false);
  });
});
