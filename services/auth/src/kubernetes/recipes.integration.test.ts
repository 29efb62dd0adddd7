/** The recipes of docs/signing-in.md for pods and cert-manager, with an API server that reviews their tokens. */
import { readFileSync } from 'node:fs';
import {
  API_AUDIENCE,
  type KubernetesApi,
  startKubernetesApi,
} from '@keelson/testkit/kubernetes-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenAuth, openAuth } from '../../test/open-auth.ts';

const PAGE = readFileSync(new URL('../../../../docs/signing-in.md', import.meta.url), 'utf8');
const documents = [...PAGE.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(
  ([, block = '']) => JSON.parse(block) as Readonly<Record<string, unknown>>,
);
const [, , , , config, podRole, certManagerRole] = documents;
const KEELSON = 'https://keelson.example.com';
const REVIEWER = 'token.of.the-secret';

let auth: OpenAuth;
let api: KubernetesApi;
beforeAll(async () => {
  auth = await openAuth({ outboundRanges: ['127.0.0.0/8'] });
  api = await startKubernetesApi();
  api.reviewers.add(REVIEWER);
});
afterAll(async () => {
  await auth.close();
  await api.stop();
});

test.for([
  [
    'A pod',
    'web',
    podRole,
    { policies: ['issuer'], ttlSeconds: 1200 },
    [
      ['shop/web', KEELSON],
      ['shop-eu/web', KEELSON],
    ],
    [
      ['shop/api', KEELSON],
      ['mall/web', KEELSON],
      ['workshop/web', KEELSON],
      ['shop/web', API_AUDIENCE],
    ],
  ],
  [
    'cert-manager with a service account',
    'cert-manager',
    certManagerRole,
    { policies: ['signer'], ttlSeconds: 300 },
    [['shop/issuer', 'vault://shop/keelson', KEELSON]],
    [
      ['shop/web', 'vault://shop/keelson'],
      ['mall/issuer', 'vault://mall/keelson', KEELSON],
      ['shop/issuer', 'vault://mall/keelson'],
      ['shop/issuer', 'vault://keelson', KEELSON],
      ['shop/issuer', API_AUDIENCE],
    ],
  ],
] as const)('%s', async ([title, name, role, limits, right, wrong]) => {
  expect(PAGE).toContain(`## ${title}\n`);
  const here = {
    ...config,
    kubernetes_host: api.url,
    kubernetes_ca_cert: api.caPem,
    token_reviewer_jwt: REVIEWER,
  };
  expect((await auth.call('kubernetes', 'POST', 'config', here)).status).toBe(204);
  expect((await auth.call('kubernetes', 'POST', `role/${name}`, role)).status).toBe(204);
  const logIn = async ([account, ...audiences]: readonly string[]): Promise<number> => {
    const jwt = api.issue(account ?? '', audiences);
    return (await auth.call('kubernetes', 'POST', 'login', { role: name, jwt })).status;
  };
  for (const login of right) expect([login, await logIn(login)]).toEqual([login, 200]);
  expect(auth.logins.at(-1)).toMatchObject({ limits });
  for (const login of wrong) expect([login, await logIn(login)]).toEqual([login, 403]);
});
