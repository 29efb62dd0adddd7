/**
 * A mount that accepts the runs of this installation. Which tokens are those of a phase at work is the workspace
 * service's to say (workload-identity.test.ts); it is a table here.
 *
 * | asked                                            | answer                                                    |
 * | ------------------------------------------------ | --------------------------------------------------------- |
 * | `config` with `keelson_runs`                     | 204; no request to any address                            |
 * | with another source of keys, or algorithms       | 400                                                       |
 * | a login with a token of a phase at work          | a token with the metadata of the role                     |
 * | of another organization, audience or phase       | 400                                                       |
 * | of a phase that has ended, of a stranger         | 400 with the reason                                       |
 * | with a role that binds no claim of runs          | 400, which says what is missing                           |
 * | the renewal of its token                         | as long as the phase is at work                           |
 */
import { KeelsonError } from '@keelson/errors';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';

let auth: OpenAuth;
/** Claims by token. */
const atWork = new Map<string, object>();

beforeAll(async () => {
  auth = await openAuth({
    runs: {
      readToken: ({ token }) => {
        const claims = atWork.get(token);
        if (claims === undefined)
          return Promise.reject(
            new KeelsonError('request.invalid', {
              text: 'error validating token: the phase of its run has ended',
            }),
          );
        return Promise.resolve({ claimsJson: JSON.stringify(claims) });
      },
      findPhase: ({ runId, phase }) =>
        Promise.resolve({
          isAtWork: [...atWork.values()].some((claims) => {
            const found = claims as Readonly<Record<string, unknown>>;
            return found['terraform_run_id'] === runId && found['terraform_run_phase'] === phase;
          }),
        }),
    },
  });
});
afterAll(() => auth.close());

const claimsOf = (organization: string, phase = 'plan', values: object = {}) => {
  const full = `organization:${organization}:project:Default Project:workspace:web`;
  const now = Math.floor(auth.clock.nowMs() / 1000);
  return {
    iss: 'https://keelson.example',
    aud: 'vault.workload.identity',
    sub: `${full}:run_phase:${phase}`,
    iat: now,
    nbf: now - 5,
    exp: now + 7200,
    terraform_organization_name: organization,
    terraform_workspace_id: 'ws-1',
    terraform_workspace_name: 'web',
    terraform_full_workspace: full,
    terraform_run_id: 'run-1',
    terraform_run_phase: phase,
    ...values,
  };
};

const ROLE = {
  role_type: 'jwt',
  user_claim: 'terraform_full_workspace',
  bound_audiences: 'vault.workload.identity',
  bound_claims: { terraform_organization_name: 'acme', terraform_run_phase: 'plan' },
  claim_mappings: { terraform_workspace_name: 'workspace' },
};

beforeEach(async () => {
  atWork.clear();
  atWork.set('of-acme', claimsOf('acme'));
  auth.logins.length = 0;
  await auth.call('jwt', 'POST', 'config', { keelson_runs: true });
  await auth.call('jwt', 'POST', 'role/web', ROLE);
});

const logIn = async (jwt: string, role = 'web') => {
  const { status, json } = await auth.call('jwt', 'POST', 'login', { jwt, role });
  return [status, ...(json.errors ?? [])];
};

test('a run signs in, and its workspace is the alias and in the metadata', async () => {
  expect((await auth.call('jwt', 'GET', 'config')).data).toMatchObject({ keelson_runs: true });
  expect(await logIn('of-acme')).toEqual([200]);
  expect(auth.logins[0]).toMatchObject({
    aliasName: 'organization:acme:project:Default Project:workspace:web',
    aliasMetadata: { workspace: 'web' },
  });
});

test.for([
  ['of another organization', claimsOf.bind(null, 'other'), 'terraform_organization_name'],
  ['of the other phase', () => claimsOf('acme', 'apply'), 'terraform_run_phase'],
  ['for another audience', () => claimsOf('acme', 'plan', { aud: 'aws' }), 'audience'],
] as const)('a token %s is refused', async ([, toClaims, named]) => {
  atWork.set('token', toClaims());
  expect(await logIn('token')).toEqual([400, expect.stringContaining(named)]);
  expect(auth.logins).toEqual([]);
});

test('a token whose phase has ended is refused, as is that of a stranger', async () => {
  atWork.clear();
  const ended = [400, expect.stringContaining('the phase of its run has ended')];
  expect(await logIn('of-acme')).toEqual(ended);
  expect(await logIn('eyJhbGciOiJub25lIn0.e30.')).toEqual(ended);
});

test('a role that binds no claim of runs accepts none', async () => {
  for (const bound_claims of [{}, { iss: 'https://keelson.example' }]) {
    await auth.call('jwt', 'POST', 'role/all', { ...ROLE, bound_claims });
    expect(await logIn('of-acme', 'all')).toEqual([
      400,
      expect.stringContaining('the role accepts the runs of every organization'),
    ]);
  }
  const subject = claimsOf('acme').sub;
  await auth.call('jwt', 'POST', 'role/one', { ...ROLE, bound_claims: {}, bound_subject: subject });
  expect(await logIn('of-acme', 'one')).toEqual([200]);
});

test.for([
  [{ jwks_url: 'https://a.example/keys' }, 'exactly one of'],
  [{ jwt_supported_algs: 'RS256' }, "'jwt_supported_algs' cannot be set with 'keelson_runs'"],
] as const)('the setting is refused with %o', async ([values, text]) => {
  const { status, json } = await auth.call('jwt', 'POST', 'config', {
    keelson_runs: true,
    ...values,
  });
  expect([status, ...(json.errors ?? [])]).toEqual([400, expect.stringContaining(text)]);
});

test('a mount with keys of its own does not accept a run', async () => {
  const mount = mountOf('jwt', '8f0b1c1e-0000-4000-8000-000000000009');
  const { makeKey } = await import('../../test/identity-provider.ts');
  const config = { jwt_validation_pubkeys: [makeKey('one').publicPem] };
  await auth.call('jwt', 'POST', 'config', config, { mount });
  await auth.call('jwt', 'POST', 'role/web', ROLE, { mount });
  const { status } = await auth.call(
    'jwt',
    'POST',
    'login',
    { jwt: 'of-acme', role: 'web' },
    { mount },
  );
  expect(status).toBe(400);
});

test('its token is renewed as long as the phase is at work', async () => {
  await logIn('of-acme');
  const { loginData = Buffer.alloc(0) } = auth.logins[0] ?? {};
  const renew = () =>
    auth.renew(mountOf('jwt'), loginData).then(
      () => 'renewed',
      ({ code }: { readonly code: string }) => code,
    );
  expect(await renew()).toBe('renewed');
  atWork.clear();
  atWork.set('of-its-apply', claimsOf('acme', 'apply'));
  expect(await renew()).toBe('request.invalid');
});
