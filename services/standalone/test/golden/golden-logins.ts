/** Auth methods: roles, secret ids, users, a lockout, a provider's key and tokens of logins, of mounts that replicate and of local ones. */
import { openSoftwareAuthenticator } from '@keelson/testkit/software-authenticator';
import {
  answersOf,
  type GoldenCalls,
  type GoldenRead,
  goldenCalls,
  LONG,
  reads,
} from './golden-calls.ts';

const PROVIDER_KEY = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEJFxTPumGFKTBPVYKauA1xayf3mmN
UhNewlTEszRnBPhPR6B2HVRL3Htdbh2DuJQaYYwne/KfMhtC/0/dBejMhw==
-----END PUBLIC KEY-----`;

const PASSKEYS = 'identity/mfa/method/webauthn';
const ORIGIN = 'https://keelson.example';

/** A passkey of whoever has signed in, and its use. */
const addPasskey = async (
  http: string,
  v1: GoldenCalls['v1'],
  signedIn: { readonly client_token: string; readonly entity_id: string },
): Promise<void> => {
  const { data: method } = await v1('POST', PASSKEYS, { relying_party_origins: ORIGIN });
  await v1('POST', 'sys/policies/acl/passkeys', {
    policy: `path "${PASSKEYS}/own/*" { capabilities = ["update"] }`,
  });
  await v1('POST', `identity/entity/id/${signedIn.entity_id}`, { policies: ['passkeys'] });
  const person = goldenCalls(http, { rootToken: signedIn.client_token, apiToken: '' });
  const { method_id } = method;
  const { data: begun } = await person.v1('POST', `${PASSKEYS}/own/begin`, { method_id });
  const credential = openSoftwareAuthenticator().create(ORIGIN, begun.registration);
  await person.v1('POST', `${PASSKEYS}/own/finish`, { method_id, name: 'phone', credential });
};

/** Makes the contents. @returns the requests that read them */
export const makeLogins = async (
  { v1 }: GoldenCalls,
  http: string,
): Promise<readonly GoldenRead[]> => {
  const stranger = answersOf(http, { rootToken: '', apiToken: '' });
  const config = { max_lease_ttl: LONG };
  for (const [suffix, local] of [
    ['', false],
    ['-here', true],
  ] as const) {
    const [machines, people, jobs] = [`machines${suffix}`, `people${suffix}`, `jobs${suffix}`];
    await v1('POST', `sys/auth/${machines}`, { type: 'approle', local, config });
    for (const [role, local_secret_ids] of [
      ['ci', false],
      ['edge', true],
    ] as const) {
      const path = `auth/${machines}/role/${role}`;
      await v1('POST', path, { local_secret_ids, token_ttl: LONG, secret_id_num_uses: 9 });
      const { data: made } = await v1('POST', `${path}/secret-id`, { ttl: LONG });
      const { data: named } = await v1('GET', `${path}/role-id`);
      await v1('POST', `auth/${machines}/login`, {
        role_id: named.role_id,
        secret_id: made.secret_id,
      });
    }
    await v1('POST', `sys/auth/${people}`, { type: 'userpass', local, config });
    await v1('POST', `auth/${people}/users/alice`, { password: 'golden', token_ttl: LONG });
    await v1('POST', `auth/${people}/login/alice`, { password: 'golden' });
    await stranger.v1('POST', `auth/${people}/login/alice`, { password: 'wrong' });
    await v1('POST', `sys/auth/${jobs}`, { type: 'jwt', local, config });
    await v1('POST', `auth/${jobs}/config`, {
      jwt_validation_pubkeys: PROVIDER_KEY,
      bound_issuer: 'https://issuer.example',
      default_role: 'deploy',
    });
    await v1('POST', `auth/${jobs}/role/people`, {
      user_claim: 'sub',
      allowed_redirect_uris: 'http://localhost:8250/oidc/callback',
      oidc_scopes: 'email',
    });
    await v1('POST', `auth/${jobs}/role/deploy`, {
      role_type: 'jwt',
      user_claim: 'sub',
      bound_audiences: 'keelson',
      bound_claims: { ref: ['refs/heads/main', 'refs/tags/v1'], attempt: 1 },
      claim_mappings: { repository: 'repository' },
      token_ttl: LONG,
    });
    const operators = `operators${suffix}`;
    await v1('POST', `sys/auth/${operators}`, { type: 'cert', local, config });
    await v1('POST', `auth/${operators}/config`, { enable_identity_alias_metadata: true });
    const certificate = (await v1('GET', 'pki/issuer/default')).data.certificate;
    await v1('POST', `auth/${operators}/certs/operator`, {
      certificate,
      pki_mounts: 'pki',
      ocsp_max_retries: 1,
      token_ttl: LONG,
    });
    const crl = (await v1('GET', 'pki/cert/crl')).data.certificate;
    await v1('POST', `auth/${operators}/crls/ours`, { crl });
    const staff = `staff${suffix}`;
    await v1('POST', `sys/auth/${staff}`, { type: 'ldap', local, config });
    await v1('POST', `auth/${staff}/config`, {
      url: 'ldaps://directory.example',
      binddn: 'cn=reader,dc=example',
      bindpass: 'golden',
      userdn: 'ou=people,dc=example',
      groupdn: 'ou=groups,dc=example',
      token_ttl: LONG,
    });
    await v1('POST', `auth/${staff}/users/alice`, { groups: 'web', policies: 'reader' });
    await v1('POST', `auth/${staff}/groups/web`, { policies: 'issuer' });
    const pods = `pods${suffix}`;
    await v1('POST', `sys/auth/${pods}`, { type: 'kubernetes', local, config });
    await v1('POST', `auth/${pods}/config`, {
      kubernetes_host: 'https://kubernetes.example',
      token_reviewer_jwt: 'golden',
      pem_keys: PROVIDER_KEY,
    });
    await v1('POST', `auth/${pods}/role/web`, {
      bound_service_account_names: 'web,job-*',
      bound_service_account_namespaces: 'shop',
      audience: 'keelson',
      token_ttl: LONG,
    });
  }
  const { data: entity } = await v1('POST', 'identity/entity', {
    name: 'Alice',
    metadata: { team: 'a' },
  });
  const { data: second } = await v1('POST', 'identity/entity', { name: 'Alice again' });
  await v1('POST', 'identity/entity/merge', {
    from_entity_ids: [second.id],
    to_entity_id: entity.id,
  });
  const { data: external } = await v1('POST', 'identity/group', {
    name: 'Staff',
    type: 'external',
  });
  await v1('POST', 'identity/group-alias', {
    name: 'staff',
    mount_accessor: (await v1('GET', 'sys/auth')).data['people/'].accessor,
    canonical_id: external.id,
  });
  await v1('POST', 'identity/group', {
    name: 'Team',
    member_entity_ids: [entity.id],
    member_group_ids: [external.id],
  });
  const { data: app } = await v1('POST', 'identity/mfa/method/totp', { issuer: 'Golden' });
  await v1('POST', 'sys/auth/guarded', { type: 'userpass' });
  await v1('POST', 'auth/guarded/users/carol', { password: 'golden', token_ttl: LONG });
  const { auth: carol } = await v1('POST', 'auth/guarded/login/carol', { password: 'golden' });
  await v1('POST', 'identity/mfa/method/totp/admin-generate', {
    method_id: app.method_id,
    entity_id: carol.entity_id,
  });
  await v1('POST', 'identity/mfa/login-enforcement/guarded', {
    mfa_method_ids: [app.method_id],
    identity_entity_ids: [carol.entity_id],
  });
  const { auth: half } = await v1('POST', 'auth/guarded/login/carol', { password: 'golden' });
  await stranger.v1('POST', 'sys/mfa/validate', {
    mfa_request_id: half.mfa_requirement.mfa_request_id,
    mfa_payload: { [app.method_id]: ['00000000'] },
  });
  await addPasskey(http, v1, carol);
  await v1('POST', 'sys/quotas/lease-count/people', { path: 'auth/people', max_leases: 1000 });
  await v1('POST', 'sys/internal/counters/config', { retention_months: 60 });
  const { auth: dave } = await v1('POST', 'auth/people/login/alice', { password: 'golden' });
  const person = answersOf(http, { rootToken: dave.client_token, apiToken: '' });
  await person.v1('GET', 'auth/token/lookup-self');
  const issuer = 'https://keelson.example';
  await v1('POST', 'identity/oidc/config', { issuer });
  await v1('POST', 'identity/oidc/key/jobs', { algorithm: 'EdDSA', allowed_client_ids: '*' });
  await v1('POST', 'identity/oidc/key/jobs/rotate', { verification_ttl: LONG });
  await v1('POST', 'identity/oidc/role/report', { key: 'jobs', client_id: 'reports' });
  await v1('POST', 'identity/oidc/scope/profile', {
    template: '{"name":{{identity.entity.name}}}',
  });
  await v1('POST', 'identity/oidc/assignment/staff', { entity_ids: entity.id });
  await v1('POST', 'identity/oidc/client/wiki', {
    redirect_uris: 'https://wiki.example/callback',
    assignments: 'staff',
    key: 'jobs',
  });
  await v1('POST', 'identity/oidc/provider/company', {
    issuer,
    allowed_client_ids: '*',
    scopes_supported: 'profile',
  });
  await v1('POST', 'sys/quotas/rate-limit/logins', { path: 'auth/people/login/*', rate: 100 });
  await v1('POST', 'sys/quotas/config', { enable_rate_limit_response_headers: true });
  return [
    ...reads('v1', 'LIST', [
      'sys/quotas/rate-limit',
      'sys/quotas/lease-count',
      'identity/mfa/method',
      'identity/mfa/method/webauthn',
      'identity/mfa/login-enforcement',
      'identity/entity/id',
      'identity/oidc/key',
      'identity/oidc/role',
      'identity/oidc/client',
      'identity/oidc/provider',
      'identity/entity-alias/id',
      'identity/group/id',
      'identity/group-alias/id',
      'auth/machines/role',
      'auth/people/users',
      'auth/machines-here/role',
      'auth/jobs/role',
      'auth/pods/role',
      'auth/operators/certs',
      'auth/operators/crls',
      'auth/staff/users',
      'auth/staff/groups',
    ]),
    ...reads('v1', 'GET', [
      'identity/entity/name/Alice',
      'identity/group/name/Team',
      'identity/oidc/config',
      'sys/internal/counters/config',
      'identity/oidc/client/wiki',
      'identity/oidc/scope/profile',
      'identity/oidc/assignment/staff',
      'identity/oidc/.well-known/keys',
      'identity/oidc/provider/company/.well-known/keys',
      'sys/quotas/rate-limit/logins',
      'sys/quotas/config',
      'sys/auth',
      'auth/machines/role/ci',
      'auth/people-here/users/alice',
      'auth/jobs/config',
      'auth/jobs-here/role/deploy',
      'auth/pods/config',
      'auth/staff-here/config',
      'auth/operators-here/certs/operator',
      'auth/pods-here/role/web',
    ]),
  ];
};
