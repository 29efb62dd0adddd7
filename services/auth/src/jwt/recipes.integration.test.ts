/**
 * The recipes of docs/signing-in.md for CI services and clusters, with tokens of the shapes that those sign, and for a
 * team with a provider of identities.
 */
import { readFileSync } from 'node:fs';
import { ManualClock } from '@keelson/clock';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  CLIENT,
  type IdentityProvider,
  makeKey,
  signToken,
  startProvider,
} from '../../test/identity-provider.ts';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';

const PAGE = readFileSync(new URL('../../../../docs/signing-in.md', import.meta.url), 'utf8');
const documentsIn = (text: string) =>
  [...text.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(
    ([, block = '']) => JSON.parse(block) as Readonly<Record<string, unknown>>,
  );
const [githubConfig, githubRole, gitlabConfig, gitlabRole] = documentsIn(PAGE);

const GITHUB = {
  jti: 'c4d2e9b8-6f0b-4d4f-9f6c-2f0b8f6c1a11',
  sub: 'repo:acme/app:environment:production',
  aud: 'https://keelson.example.com',
  ref: 'refs/heads/main',
  sha: 'c9e1a2',
  repository: 'acme/app',
  repository_owner: 'acme',
  repository_owner_id: '65',
  repository_id: '74',
  repository_visibility: 'private',
  run_id: '9001',
  run_number: '10',
  run_attempt: '1',
  actor: 'octo',
  actor_id: '12',
  workflow: 'deploy',
  workflow_ref: 'acme/app/.github/workflows/deploy.yml@refs/heads/main',
  job_workflow_ref: 'acme/app/.github/workflows/deploy.yml@refs/heads/main',
  head_ref: '',
  base_ref: '',
  event_name: 'push',
  ref_type: 'branch',
  ref_protected: 'true',
  environment: 'production',
  runner_environment: 'github-hosted',
} as const;

const GITLAB = {
  jti: '0b6a2d6e-8d1a-4f0e-9a7d-7d3b1d6a2f10',
  sub: 'project_path:acme/app:ref_type:branch:ref:release-2',
  aud: 'https://keelson.example.com',
  namespace_id: '72',
  namespace_path: 'acme',
  project_id: '20',
  project_path: 'acme/app',
  user_id: '1',
  user_login: 'ann',
  user_email: 'ann@example.com',
  pipeline_id: '574',
  pipeline_source: 'push',
  job_id: '302',
  ref: 'release-2',
  ref_type: 'branch',
  ref_path: 'refs/heads/release-2',
  ref_protected: 'true',
  runner_id: 1,
  runner_environment: 'self-hosted',
  sha: '714a62',
  project_visibility: 'private',
  ci_config_ref_uri: 'gitlab.com/acme/app//.gitlab-ci.yml@refs/heads/release-2',
} as const;

let auth: OpenAuth;
let provider: IdentityProvider;
const key = makeKey('ci', 'RS256');

beforeAll(async () => {
  // The library that redeems codes reads the clock of the machine.
  auth = await openAuth({ outboundRanges: ['127.0.0.0/8'], clock: new ManualClock(Date.now()) });
  provider = await startProvider();
  provider.keys = [key];
});
afterAll(async () => {
  await provider.stop();
  await auth.close();
});

test.for([
  [
    'GitHub Actions',
    githubConfig,
    githubRole,
    GITHUB,
    { role: 'deploy', ref: GITHUB.ref, actor: 'octo', run_id: '9001' },
    [
      { repository: 'mallory/app', sub: 'repo:mallory/app:environment:production' },
      { environment: 'staging' },
      { environment: undefined, sub: 'repo:acme/app:ref:refs/heads/main' },
      { aud: 'https://github.com/acme' },
      { iss: 'https://token.actions.githubusercontent.com' },
    ],
  ],
  [
    'GitLab CI',
    gitlabConfig,
    gitlabRole,
    GITLAB,
    { role: 'deploy', ref: 'release-2', actor: 'ann', job_id: '302' },
    [
      { project_path: 'mallory/app' },
      { project_path: 'mallory/acme/app' },
      { ref: 'main' },
      { ref_protected: 'false' },
      { aud: ['https://gitlab.com'] },
    ],
  ],
] as const)('%s', async ([, config, role, shape, metadata, wrong]) => {
  auth.logins.length = 0;
  const here = { ...config, oidc_discovery_url: provider.url };
  expect((await auth.call('jwt', 'POST', 'config', here)).status).toBe(200);
  expect((await auth.call('jwt', 'POST', 'role/deploy', role)).status).toBe(204);
  const iat = auth.clock.nowMs() / 1000;
  const logIn = async (changes: object = {}) => {
    const claims = { iss: provider.url, iat, nbf: iat, exp: iat + 300, ...shape, ...changes };
    const jwt = await signToken(key, claims);
    return (await auth.call('jwt', 'POST', 'login', { role: 'deploy', jwt })).status;
  };
  expect(await logIn()).toBe(200);
  expect(auth.logins).toMatchObject([
    { displayName: 'acme/app', metadata, limits: { policies: ['issuer'], ttlSeconds: 1200 } },
  ]);
  for (const changes of wrong) expect(await logIn(changes)).toBe(400);
});

test('A pod of a cluster that nobody may ask', async () => {
  const [, recipe = ''] = PAGE.split('## A pod of a cluster that nobody may ask\n');
  const [config, role] = documentsIn(recipe);
  auth.logins.length = 0;
  const here = { ...config, jwks_url: `${provider.url}/keys` };
  expect((await auth.call('jwt', 'POST', 'config', here)).status).toBe(200);
  expect((await auth.call('jwt', 'POST', 'role/web', role)).status).toBe(204);
  const iat = auth.clock.nowMs() / 1000;
  /** As the TokenRequest API of Kubernetes signs it. */
  const logIn = async (account: string, changes: object = {}): Promise<number> => {
    const [namespace, name] = account.split('/');
    const jwt = await signToken(key, {
      iss: 'https://kubernetes.default.svc.cluster.local',
      sub: `system:serviceaccount:${namespace}:${name}`,
      aud: ['https://keelson.example.com'],
      iat,
      nbf: iat,
      exp: iat + 3600,
      'kubernetes.io': {
        namespace,
        pod: { name: 'web-0', uid: '6c2b9c55-4d6a-4a36-9a39-2f5d5a1f2a10' },
        serviceaccount: { name, uid: '0d8b9c55-4d6a-4a36-9a39-2f5d5a1f2a11' },
      },
      ...changes,
    });
    return (await auth.call('jwt', 'POST', 'login', { role: 'web', jwt })).status;
  };
  expect([await logIn('shop/web'), await logIn('shop-eu/web')]).toEqual([200, 200]);
  expect(auth.logins[1]).toMatchObject({
    aliasName: 'system:serviceaccount:shop-eu:web',
    metadata: { role: 'web', namespace: 'shop-eu' },
    limits: { policies: ['issuer'], ttlSeconds: 1200 },
  });
  for (const account of ['shop/api', 'mall/web', 'workshop/web'])
    expect([account, await logIn(account)]).toEqual([account, 400]);
  for (const changes of [
    { aud: ['https://kubernetes.default.svc'] },
    { iss: 'https://other.example' },
    { exp: iat - 61 },
    { 'kubernetes.io': undefined },
  ])
    expect(await logIn('shop/web', changes)).toBe(400);
});

test('A team with a provider', async () => {
  const [, recipe = ''] = PAGE.split('## A team with a provider\n');
  const [config, role] = documentsIn(recipe);
  auth.logins.length = 0;
  const mount = mountOf('oidc', '8f0b1c1e-6666-4000-8000-000000000001');
  const call = (method: string, path: string, body?: object) =>
    auth.call('jwt', method, path, body, { mount });
  const people = await startProvider();
  onTestFinished(() => people.stop());
  people.keys = [makeKey('people')];
  const { oidc_client_secret } = CLIENT;
  const here = { ...config, oidc_discovery_url: people.url, oidc_client_secret };
  expect((await call('POST', 'config', here)).status).toBe(200);
  expect((await call('POST', 'role/people', role)).status).toBe(204);
  const { allowed_redirect_uris } = role as { readonly allowed_redirect_uris: readonly string[] };
  const [redirect_uri] = allowed_redirect_uris;
  const logIn = async (claims: object): Promise<number> => {
    const { data } = await call('POST', 'oidc/auth_url', { redirect_uri, client_nonce: 'n' });
    expect(new URL(data.auth_url).searchParams.get('scope')).toBe('openid email groups');
    const answer = people.consent(data.auth_url, claims);
    answer.set('client_nonce', 'n');
    return (await call('GET', `oidc/callback?${answer.toString()}`)).status;
  };
  const ann = { sub: 'u-1', email: 'ann@example.com' };
  expect(await logIn({ ...ann, groups: ['people', 'platform'] })).toBe(200);
  expect(auth.logins).toMatchObject([
    {
      aliasName: 'u-1',
      metadata: { role: 'people', email: 'ann@example.com' },
      limits: { policies: ['issuer'], ttlSeconds: 28_800 },
    },
  ]);
  for (const claims of [ann, { ...ann, groups: ['people'] }, { ...ann, groups: 'platform-guests' }])
    expect(await logIn(claims)).toBe(400);
});
