/**
 * The tokens with which runs sign in, as the agents and the verifiers get them.
 *
 * | case                                                     | outcome                                           |
 * | -------------------------------------------------------- | ------------------------------------------------- |
 * | `TFC_WORKLOAD_IDENTITY_AUDIENCE`, also with a tag        | a token each, in the answer to the claim alone    |
 * | `TFC_<provider>_PROVIDER_AUTH` is `true`                 | a token with the audience of the provider         |
 * | an audience in a variable set                            | as one in the workspace                           |
 * | an audience of a terraform variable, or overridden       | no token                                          |
 * | an empty audience                                        | no token                                          |
 * | an audience that is too long, one token too many         | an empty token                                    |
 * | values that look like claims                             | are an audience, and nothing else                 |
 * | `ReadToken` while the phase is at work                   | the claims                                        |
 * | `ReadToken` after its end, cancellation, expiry          | refused                                           |
 * | other keys, other algorithms, `none`, other texts        | refused                                           |
 * | a key after 30 days                                      | a new one is published a day before it signs      |
 * | `rotate-key` of a site administrator                     | a new key signs at once                           |
 * | `trim-key`                                               | the former keys are gone, and their tokens too    |
 */
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { archiveOf } from '../../../test/configuration-archive.ts';
import { type Harness, PUBLIC_URL, startHarness } from '../../../test/workspace-harness.ts';

const TOKEN = 'a-token-of-the-built-in-runner-for-tests';
const DAY_MS = 24 * 60 * 60_000;
let harness: Harness;
let serial = 0;

beforeAll(async () => {
  harness = await startHarness({ config: { runnerToken: TOKEN } });
});
afterAll(() => harness[Symbol.asyncDispose]());

const makeWorkspace = async (variables: Readonly<Record<string, string>>) => {
  const organization = `organization-${(serial += 1)}`;
  await harness.create('/organizations', 'organizations', {
    name: organization,
    email: 'a@b.example',
  });
  const path = `/organizations/${organization}/workspaces`;
  const { id } = await harness.create(path, 'workspaces', { name: 'app', 'auto-apply': true });
  for (const [key, value] of Object.entries(variables))
    await harness.create(`/workspaces/${id}/vars`, 'vars', { key, value, category: 'env' });
  const version = await harness.create(
    `/workspaces/${id}/configuration-versions`,
    'configuration-versions',
    { 'auto-queue-runs': false },
  );
  const url = String(version.attributes['upload-url']);
  await harness.transfer('PUT', url, await archiveOf({ 'main.tf': '' }));
  return { id, organization };
};

const queue = async (workspaceId: string): Promise<string> => {
  const relationships = { workspace: { data: { type: 'workspaces', id: workspaceId } } };
  return (await harness.create('/runs', 'runs', {}, { relationships })).id;
};

interface Given {
  readonly purpose: string;
  readonly tag: string;
  readonly token: string;
}

const claim = async () => {
  const attributes = { name: 'runner-1', version: '0.1.0', 'runtime-versions': ['1.11.4'] };
  const body = { data: { type: 'agents', attributes } };
  const { data } = await harness.call('POST', '/runner/actions/claim', body, TOKEN);
  return {
    runId: data.id,
    runToken: String(data.attributes['token']),
    phase: data.attributes['phase'],
    tokens: data.attributes['workload-identity-tokens'] as readonly Given[],
  };
};
type Claimed = Awaited<ReturnType<typeof claim>>;

const end = async ({ runId, runToken }: Claimed, status = 'errored', values: object = {}) => {
  const attributes = { status, ...values };
  const body = { data: { type: 'agent-runs', attributes } };
  const answer = await harness.call('PATCH', `/agent-runs/${runId}`, body, runToken);
  expect(answer.status).toBe(204);
};

const claimOf = async (variables: Readonly<Record<string, string>>): Promise<Claimed> => {
  await queue((await makeWorkspace(variables)).id);
  return claim();
};

const keySet = async (): Promise<{ readonly keys: readonly { readonly kid: string }[] }> =>
  JSON.parse((await harness.service.workloadIdentity.describe({})).keysJson);

const read = async (token: string): Promise<Record<string, unknown>> =>
  JSON.parse((await harness.service.workloadIdentity.readToken({ token })).claimsJson);

const refusalOf = (token: string): Promise<string> =>
  read(token).then(
    () => 'none',
    ({ code, message }: { readonly code: string; readonly message: string }) =>
      code === 'request.invalid' ? message : code,
  );

const OWN = { TFC_WORKLOAD_IDENTITY_AUDIENCE: 'mine' };

describe('a phase gets', () => {
  test('a token for each audience, with the documented claims', async () => {
    const { id, organization } = await makeWorkspace({
      ...OWN,
      TFC_WORKLOAD_IDENTITY_AUDIENCE_Other_1: 'https://other.example/',
    });
    const runId = await queue(id);
    const claimed = await claim();
    expect(claimed.tokens.map(({ purpose, tag }) => [purpose, tag])).toEqual([
      ['WORKLOAD_IDENTITY', ''],
      ['WORKLOAD_IDENTITY', 'Other_1'],
    ]);
    const [one, other] = claimed.tokens.map(({ token }) => token);
    const keys = createLocalJWKSet((await keySet()) as Parameters<typeof createLocalJWKSet>[0]);
    const { payload, protectedHeader } = await jwtVerify(one ?? '', keys, {
      currentDate: new Date(harness.clock.nowMs()),
    });
    expect(protectedHeader).toMatchObject({ typ: 'JWT', alg: 'RS256' });
    const workspace = await harness.call('GET', `/workspaces/${id}`);
    const project = workspace.data.relationships['project']?.data as { readonly id: string };
    const full = `organization:${organization}:project:Default Project:workspace:app`;
    const now = Math.floor(harness.clock.nowMs() / 1000);
    expect(payload).toEqual({
      iss: PUBLIC_URL,
      aud: 'mine',
      sub: `${full}:run_phase:plan`,
      iat: now,
      nbf: now - 5,
      exp: now + 7200,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      terraform_organization_id: expect.stringMatching(/^org-/),
      terraform_organization_name: organization,
      terraform_project_id: project.id,
      terraform_project_name: 'Default Project',
      terraform_workspace_id: id,
      terraform_workspace_name: 'app',
      terraform_full_workspace: full,
      terraform_run_id: runId,
      terraform_run_phase: 'plan',
    });
    expect(decodeJwt(other ?? '')).toMatchObject({ aud: 'https://other.example/' });
    expect(decodeJwt(other ?? '').jti).not.toBe(payload.jti);
    await end(claimed);
  });

  test('its tokens in the answer to the claim and in no other', async () => {
    const claimed = await claimOf(OWN);
    const shown = await harness.call(
      'GET',
      `/agent-runs/${claimed.runId}`,
      undefined,
      claimed.runToken,
    );
    expect(shown.status).toBe(200);
    expect(JSON.stringify(shown)).not.toContain('workload-identity-tokens');
    await end(claimed);
  });

  test('a token for each provider that is to be signed in to', async () => {
    const claimed = await claimOf({
      TFC_VAULT_PROVIDER_AUTH: 'true',
      TFC_VAULT_PROVIDER_AUTH_B: 'true',
      TFC_VAULT_WORKLOAD_IDENTITY_AUDIENCE_B: 'of b',
      TFC_AWS_PROVIDER_AUTH: 'true',
      TFC_AWS_PROVIDER_AUTH_TYPE: 'true',
      TFC_GCP_PROVIDER_AUTH: 'true',
      TFC_GCP_WORKLOAD_PROVIDER_NAME:
        'projects/1/locations/global/workloadIdentityPools/p/providers/q',
      TFC_GCP_PROVIDER_AUTH_B: 'true',
      TFC_GCP_PROJECT_NUMBER_B: '2',
      TFC_DEFAULT_GCP_WORKLOAD_POOL_ID: 'pool',
      TFC_GCP_WORKLOAD_PROVIDER_ID_B: 'one',
      TFC_AZURE_PROVIDER_AUTH: 'true',
      TFC_KUBERNETES_PROVIDER_AUTH: 'true',
      TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE: 'cluster',
      TFC_TENCENTCLOUD_PROVIDER_AUTH: 'true',
    });
    const audiences = claimed.tokens.map(({ purpose, tag, token }) => [
      purpose,
      tag,
      decodeJwt(token).aud,
    ]);
    const pool = 'locations/global/workloadIdentityPools';
    expect(audiences).toEqual([
      ['VAULT', '', 'vault.workload.identity'],
      ['VAULT', 'B', 'of b'],
      ['AWS', '', 'aws.workload.identity'],
      ['GCP', '', `//iam.googleapis.com/projects/1/${pool}/p/providers/q`],
      ['GCP', 'B', `//iam.googleapis.com/projects/2/${pool}/pool/providers/one`],
      ['AZURE', '', 'api://AzureADTokenExchange'],
      ['KUBERNETES', '', 'cluster'],
      ['TENCENTCLOUD', '', 'tencentcloud.workload.identity'],
    ]);
    await end(claimed);
  });

  test('none where the variables name none', async () => {
    const claimed = await claimOf({ TFC_VAULT_PROVIDER_AUTH: 'false', TFC_AWS_RUN_ROLE_ARN: 'a' });
    expect(claimed.tokens).toEqual([]);
    await end(claimed);
  });

  test('the audience of a variable set, unless the workspace has another or an empty one', async () => {
    const { id, organization } = await makeWorkspace({
      TFC_WORKLOAD_IDENTITY_AUDIENCE_A: 'own',
      TFC_WORKLOAD_IDENTITY_AUDIENCE_D: '',
    });
    const attribute = (key: string, value: string) => ({
      type: 'vars',
      attributes: { key, value, category: 'env' },
    });
    const vars = {
      data: [
        attribute('TFC_WORKLOAD_IDENTITY_AUDIENCE_A', 'of the set'),
        attribute('TFC_WORKLOAD_IDENTITY_AUDIENCE_B', 'of the set'),
        attribute('TFC_WORKLOAD_IDENTITY_AUDIENCE_D', 'of the set'),
      ],
    };
    await harness.create(
      `/organizations/${organization}/varsets`,
      'varsets',
      { name: 'identity', global: true },
      { relationships: { vars } },
    );
    await harness.create(`/workspaces/${id}/vars`, 'vars', {
      key: 'TFC_WORKLOAD_IDENTITY_AUDIENCE_C',
      value: 'of terraform',
      category: 'terraform',
    });
    await queue(id);
    const claimed = await claim();
    const audiences = claimed.tokens.map(({ tag, token }) => [tag, decodeJwt(token).aud]);
    expect(Object.fromEntries(audiences)).toEqual({ A: 'own', B: 'of the set' });
    await end(claimed);
  });

  test('an empty token for an audience that cannot be, and for one too many', async () => {
    const long = await claimOf({
      TFC_WORKLOAD_IDENTITY_AUDIENCE: 'x'.repeat(1025),
      TFC_KUBERNETES_PROVIDER_AUTH: 'true',
    });
    expect(long.tokens.map(({ token }) => token)).toEqual(['', '']);
    await end(long);
    const names = Array.from(
      { length: 40 },
      (_, index) => `TFC_WORKLOAD_IDENTITY_AUDIENCE_${index}`,
    );
    const many = await claimOf(Object.fromEntries(names.map((name) => [name, 'x'])));
    expect(many.tokens.map(({ token }) => token !== '')).toEqual([
      ...Array.from({ length: 32 }, () => true),
      false,
    ]);
    await end(many);
  });

  test('nothing but an audience from a value that looks like claims', async () => {
    const value = '","sub":"organization:other:project:p:workspace:w:run_phase:apply","x":"';
    const claimed = await claimOf({ TFC_WORKLOAD_IDENTITY_AUDIENCE: value });
    const { aud, sub } = decodeJwt(claimed.tokens[0]?.token ?? '');
    expect(aud).toBe(value);
    expect(sub).toMatch(/^organization:organization-\d+:project:Default Project:workspace:app:/);
    await end(claimed);
  });
});

describe('a token is read', () => {
  test('while its phase is at work, and the apply has another', async () => {
    const plan = await claimOf(OWN);
    const [{ token } = { token: '' }] = plan.tokens;
    expect(await read(token)).toMatchObject({ aud: 'mine', terraform_run_phase: 'plan' });
    await end(plan, 'finished', { 'has-changes': true, 'resource-additions': 1 });
    expect(await refusalOf(token)).toMatch(/the phase of its run has ended/);
    const apply = await claim();
    expect(apply).toMatchObject({ runId: plan.runId, phase: 'apply' });
    expect(await refusalOf(token)).toMatch(/the phase of its run has ended/);
    const ofApply = apply.tokens[0]?.token ?? '';
    expect(await read(ofApply)).toMatchObject({
      sub: expect.stringMatching(/:run_phase:apply$/),
      terraform_run_phase: 'apply',
    });
    await end(apply, 'finished', { 'resource-additions': 1 });
    expect(await refusalOf(ofApply)).toMatch(/the phase of its run has ended/);
  });

  test('after a request to cancel, and not once the run was canceled by force', async () => {
    const claimed = await claimOf(OWN);
    const token = claimed.tokens[0]?.token ?? '';
    const cancel = (how: string) =>
      harness.call('POST', `/runs/${claimed.runId}/actions/${how}`, {});
    expect((await cancel('cancel')).status).toBe(202);
    expect(await read(token)).toMatchObject({ aud: 'mine' });
    harness.clock.advance(61_000);
    expect((await cancel('force-cancel')).status).toBe(202);
    expect(await refusalOf(token)).toMatch(/the phase of its run has ended/);
  });

  test('until it expires', async () => {
    const claimed = await claimOf(OWN);
    harness.clock.advance(7_201_000);
    expect(await refusalOf(claimed.tokens[0]?.token ?? '')).toMatch(/not a valid token/);
    await harness.runUpkeep();
  });

  test('only if a key of this installation has signed it, as it signs', async () => {
    const claimed = await claimOf(OWN);
    const token = claimed.tokens[0]?.token ?? '';
    const { kid } = decodeProtectedHeader(token);
    const claims = decodeJwt(token);
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const sign = (head: { alg: string; kid?: string | undefined }) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: head.alg, ...(head.kid !== undefined && { kid: head.kid }) })
        .sign(other.privateKey);
    expect(await refusalOf(await sign({ alg: 'RS256', kid }))).toMatch(/not a valid token/);
    expect(await refusalOf(await sign({ alg: 'RS256' }))).toMatch(/no key of this installation/);
    expect(await refusalOf(await sign({ alg: 'PS256', kid }))).toMatch(/not a valid token/);
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const [, payload, signature] = token.split('.');
    expect(await refusalOf(`${encode({ alg: 'none', kid })}.${payload}.`)).toMatch(
      /not a valid token/,
    );
    // The public key as the secret of an HMAC.
    const [jwk] = (await keySet()).keys;
    const head = `${encode({ alg: 'HS256', kid })}.${payload}`;
    const mac = createHmac('sha256', JSON.stringify(jwk)).update(head).digest('base64url');
    expect(await refusalOf(`${head}.${mac}`)).toMatch(/not a valid token/);
    const changed = encode({ ...claims, terraform_organization_id: 'org-another' });
    expect(await refusalOf(`${token.split('.')[0]}.${changed}.${signature}`)).toMatch(
      /not a valid token/,
    );
    expect(await refusalOf('')).toMatch(/not a valid token/);
    expect(await refusalOf('x'.repeat(8193))).toMatch(/too long/);
    await end(claimed);
  });
});

describe('the keys', () => {
  test('are described with the public address, and contain no private part', async () => {
    const { discoveryJson, keysJson } = await harness.service.workloadIdentity.describe({});
    expect(JSON.parse(discoveryJson)).toMatchObject({
      issuer: PUBLIC_URL,
      jwks_uri: `${PUBLIC_URL}/.well-known/jwks`,
      id_token_signing_alg_values_supported: ['RS256'],
    });
    const { keys } = JSON.parse(keysJson) as { readonly keys: readonly object[] };
    for (const key of keys)
      expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });

  test('change at once when a site administrator says so, and the former ones end with another request', async () => {
    await using own = await startHarness({ config: { runnerToken: TOKEN } });
    const shared = harness;
    harness = own;
    try {
      const act = async (action: string) =>
        (await own.call('POST', `/admin/oidc-settings/actions/${action}`)).status;
      const kids = async () => (await keySet()).keys.map(({ kid }) => kid);
      await own.runUpkeep();
      own.clock.advance(30 * DAY_MS);
      await own.runUpkeep();
      const [first, waiting] = await kids();
      const [given] = (await claimOf(OWN)).tokens;
      const token = given?.token ?? '';
      expect(decodeProtectedHeader(token).kid).toBe(first);
      expect(await act('rotate-key')).toBe(204);
      // One that has signed nothing yet goes as well: whoever has read the keys has read it.
      const [kept, second, ...others] = await kids();
      expect([kept, others]).toEqual([first, []]);
      expect(second).not.toBe(waiting);
      expect(await refusalOf(token)).toBe('none');
      for (const _ of ['first', 'again']) {
        expect(await act('trim-key')).toBe(204);
        expect(await kids()).toEqual([second]);
      }
      expect(await refusalOf(token)).not.toBe('none');
      const [later] = (await claimOf(OWN)).tokens;
      expect(decodeProtectedHeader(later?.token ?? '').kid).toBe(second);
      for (let more = 1; more < 10; more += 1) expect(await act('rotate-key')).toBe(204);
      expect([await act('rotate-key'), (await kids()).length]).toEqual([409, 10]);
    } finally {
      harness = shared;
    }
  });

  test('change at once in the first day of an installation as well, and the first one never signs again', async () => {
    await using own = await startHarness({ config: { runnerToken: TOKEN } });
    const shared = harness;
    harness = own;
    try {
      const act = (action: string) => own.call('POST', `/admin/oidc-settings/actions/${action}`);
      const kids = async () => (await keySet()).keys.map(({ kid }) => kid);
      const signer = async () => {
        const claimed = await claimOf(OWN);
        await end(claimed);
        return decodeProtectedHeader(claimed.tokens[0]?.token ?? '').kid;
      };
      const first = await signer();
      await act('rotate-key');
      await act('rotate-key');
      const [, , third, ...others] = await kids();
      expect(others).toEqual([]);
      expect(await signer()).toBe(third);
      own.clock.advance(DAY_MS - 1);
      await own.runUpkeep();
      expect(await signer()).toBe(third);
      await act('trim-key');
      expect(await kids()).toEqual([third]);
      own.clock.advance(DAY_MS);
      expect(await signer()).toBe(third);
      expect(third).not.toBe(first);
    } finally {
      harness = shared;
    }
  });

  test('change after 30 days, and the new one is published for a day before it signs', async () => {
    await using own = await startHarness({ config: { runnerToken: TOKEN } });
    const shared = harness;
    harness = own;
    try {
      await own.runUpkeep();
      const kids = async () => (await keySet()).keys.map(({ kid }) => kid);
      const signer = async () => {
        const claimed = await claimOf(OWN);
        const { kid } = decodeProtectedHeader(claimed.tokens[0]?.token ?? '');
        await end(claimed);
        return kid;
      };
      const [first] = await kids();
      expect(await signer()).toBe(first);
      own.clock.advance(30 * DAY_MS);
      await own.runUpkeep();
      const [, second, ...others] = await kids();
      expect(others).toEqual([]);
      expect(await signer()).toBe(first);
      own.clock.advance(DAY_MS);
      await own.runUpkeep();
      expect(await signer()).toBe(second);
      expect(await kids()).toEqual([first, second]);
      own.clock.advance(DAY_MS);
      await own.runUpkeep();
      expect(await kids()).toEqual([second]);
    } finally {
      harness = shared;
    }
  });
});
