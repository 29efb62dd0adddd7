/** The contents of a golden store: what is made through the public API, how it is read, and a write to each area. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { AcmeSession, type KeelsonProcess } from '@keelson/testkit';
import { type AddressedCluster, callsOf } from '@keelson/testkit/addressed-cluster';
import { addPlannedRun, type RunSite } from '@keelson/testkit/planned-run';

type Calls = Pick<AddressedCluster, 'v1' | 'api'>;
type Body = Awaited<ReturnType<Calls['v1']>>['body'];

/** Requests that must succeed. */
export interface GoldenCalls {
  readonly v1: (method: string, path: string, body?: object) => Promise<Body>;
  readonly api: (method: string, path: string, body?: object, token?: string) => Promise<Body>;
}

/** @param token of the cluster, if the process has restored another's records */
export const goldenCalls = (
  http: string,
  { rootToken, apiToken }: Pick<KeelsonProcess, 'rootToken' | 'apiToken'>,
): GoldenCalls => {
  const calls = callsOf(
    () => http,
    () => rootToken,
    apiToken,
  );
  const done =
    (of: keyof Calls): GoldenCalls['api'] =>
    async (method, path, body, token) => {
      const answer = await calls[of](method, path, body, token);
      if (answer.status >= 300)
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
  return { v1: done('v1'), api: done('api') };
};

const resource = (type: string, attributes: object, relationships: object = {}): object => ({
  data: { type, attributes, relationships },
});
const one = (type: string, id: string): object => ({ data: { type, id } });
const several = (type: string, id: string): object => ({ data: [{ type, id }] });

/** Ten years: a golden store is opened for as long as its version can be upgraded. */
const LONG = '87600h';

const ORGANIZATION = 'organizations/acme';
const STATE = JSON.stringify({
  version: 4,
  terraform_version: '1.9.0',
  serial: 1,
  lineage: 'golden',
  outputs: { address: { value: '192.0.2.1', type: 'string' } },
  resources: [
    {
      mode: 'managed',
      type: 'machine',
      name: 'one',
      provider: 'provider["registry.example/example/machines"]',
      instances: [{ schema_version: 0, attributes: { id: 'm-1', size: 2 } }],
    },
  ],
});

const stateOf = (serial: number): object => {
  const state = Buffer.from(STATE.replace('"serial":1', `"serial":${serial}`));
  return resource('state-versions', {
    serial,
    md5: createHash('md5').update(state).digest('hex'),
    state: state.toString('base64'),
  });
};

/** A request that reads. */
export interface GoldenRead {
  readonly of: keyof GoldenCalls;
  readonly method: 'GET' | 'LIST';
  readonly path: string;
}

const reads = (of: keyof GoldenCalls, method: GoldenRead['method'], paths: readonly string[]) =>
  paths.map((path): GoldenRead => ({ of, method, path }));

const makePeople = async ({ api }: GoldenCalls): Promise<readonly GoldenRead[]> => {
  await api(
    'POST',
    'organizations',
    resource('organizations', { name: 'acme', email: 'ops@example.com' }),
  );
  const team = await api(
    'POST',
    `${ORGANIZATION}/teams`,
    resource('teams', { name: 'developers', 'organization-access': { 'manage-workspaces': true } }),
  );
  const member = await api(
    'POST',
    `${ORGANIZATION}/organization-memberships`,
    resource(
      'organization-memberships',
      { email: 'guest@example.com' },
      { teams: several('teams', team.data.id) },
    ),
  );
  const own = await api('GET', 'account/details');
  const user = `users/${own.data.id}`;
  await api(
    'POST',
    `${user}/authentication-tokens`,
    resource('authentication-tokens', { description: 'golden' }),
  );
  await api('POST', `${ORGANIZATION}/authentication-token`);
  await api('POST', `teams/${team.data.id}/authentication-token`);
  await api(
    'POST',
    `${ORGANIZATION}/reserved-tag-keys`,
    resource('reserved-tag-keys', { key: 'cost-center' }),
  );
  await api(
    'POST',
    'admin/users',
    resource('users', { username: 'second', email: 'second@example.com' }),
  );
  return reads('api', 'GET', [
    'organizations',
    ORGANIZATION,
    `${ORGANIZATION}/teams`,
    `teams/${team.data.id}`,
    `${ORGANIZATION}/organization-memberships`,
    `organization-memberships/${member.data.id}`,
    'account/details',
    user,
    'admin/users',
    `${user}/authentication-tokens`,
    `${ORGANIZATION}/authentication-token`,
    `teams/${team.data.id}/authentication-token`,
    `${ORGANIZATION}/reserved-tag-keys`,
  ]);
};

const makeWorkspace = async ({ api }: GoldenCalls): Promise<readonly GoldenRead[]> => {
  const project = await api(
    'POST',
    `${ORGANIZATION}/projects`,
    resource('projects', { name: 'network' }),
  );
  const made = await api(
    'POST',
    `${ORGANIZATION}/workspaces`,
    resource(
      'workspaces',
      { name: 'production', description: 'golden', 'execution-mode': 'local' },
      { project: one('projects', project.data.id) },
    ),
  );
  const workspace = `workspaces/${made.data.id}`;
  for (const sensitive of [false, true])
    await api(
      'POST',
      `${workspace}/vars`,
      resource('vars', { key: `v_${sensitive}`, value: 'x', category: 'terraform', sensitive }),
    );
  await api('PATCH', `${workspace}/tag-bindings`, {
    data: [{ type: 'tag-bindings', attributes: { key: 'tier', value: 'one' } }],
  });
  const set = await api(
    'POST',
    `${ORGANIZATION}/varsets`,
    resource('varsets', { name: 'shared' }, { workspaces: several('workspaces', made.data.id) }),
  );
  const inSet = `varsets/${set.data.id}`;
  await api('POST', `${inSet}/relationships/projects`, several('projects', project.data.id));
  await api(
    'POST',
    `${inSet}/relationships/vars`,
    resource('vars', { key: 'region', value: 'eu', category: 'env' }),
  );
  await api(
    'POST',
    `${ORGANIZATION}/varsets`,
    resource('varsets', { name: 'of a project' }, { parent: one('projects', project.data.id) }),
  );
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = await api(
    'POST',
    `${ORGANIZATION}/ssh-keys`,
    resource('ssh-keys', {
      name: 'modules',
      value: privateKey.export({ format: 'pem', type: 'pkcs8' }),
    }),
  );
  await api('PATCH', `${workspace}/relationships/ssh-key`, {
    data: { type: 'workspaces', attributes: { id: key.data.id } },
  });
  const { data: teams } = await api('GET', `${ORGANIZATION}/teams`);
  const developers = teams.find(
    ({ attributes }: { attributes: { name: string } }) => attributes.name === 'developers',
  );
  const team = one('teams', developers.id);
  await api(
    'POST',
    'team-workspaces',
    resource(
      'team-workspaces',
      { access: 'write' },
      { team, workspace: one('workspaces', made.data.id) },
    ),
  );
  await api(
    'POST',
    'team-projects',
    resource(
      'team-projects',
      { access: 'read' },
      { team, project: one('projects', project.data.id) },
    ),
  );
  await api(
    'POST',
    `${workspace}/notification-configurations`,
    resource('notification-configurations', {
      name: 'chat',
      'destination-type': 'generic',
      url: 'http://[::1]/',
      token: 'golden',
      triggers: ['run:completed'],
    }),
  );
  const client = await api(
    'POST',
    `${ORGANIZATION}/oauth-clients`,
    resource('oauth-clients', {
      'service-provider': 'github',
      'http-url': 'https://github.example',
      'api-url': 'https://api.github.example',
      'oauth-token-string': 'golden',
    }),
  );
  await api('POST', `${workspace}/actions/lock`, { reason: 'golden' });
  await api('POST', `${workspace}/state-versions`, stateOf(1));
  const state = await api('GET', `${workspace}/current-state-version`);
  return reads('api', 'GET', [
    `${ORGANIZATION}/projects`,
    `projects/${project.data.id}`,
    `${ORGANIZATION}/workspaces`,
    `${ORGANIZATION}/workspaces/production`,
    workspace,
    `${workspace}/vars`,
    `${workspace}/tag-bindings`,
    `${workspace}/effective-tag-bindings`,
    `${workspace}/varsets`,
    `${ORGANIZATION}/varsets`,
    inSet,
    `${inSet}/relationships/vars`,
    `projects/${project.data.id}/varsets`,
    `${ORGANIZATION}/ssh-keys`,
    `ssh-keys/${key.data.id}`,
    `team-workspaces?filter[workspace][id]=${made.data.id}`,
    `team-projects?filter[project][id]=${project.data.id}`,
    `${workspace}/notification-configurations`,
    `${ORGANIZATION}/oauth-clients`,
    `oauth-clients/${client.data.id}`,
    `oauth-clients/${client.data.id}/oauth-tokens`,
    `state-versions/${state.data.id}`,
    `state-versions/${state.data.id}/outputs`,
    `${workspace}/current-state-version`,
    `${workspace}/resources`,
    `state-versions?filter[organization][name]=acme&filter[workspace][name]=production`,
  ]);
};

const makeRun = async ({ api }: GoldenCalls, http: string): Promise<readonly GoldenRead[]> => {
  const site: RunSite = { origin: () => http, workspaces: api };
  const { runId, workspaceId } = await addPlannedRun(site, 'planned');
  const source = await api('GET', `${ORGANIZATION}/workspaces/production`);
  const trigger = await api(
    'POST',
    `workspaces/${workspaceId}/run-triggers`,
    resource('run-triggers', {}, { sourceable: one('workspaces', source.data.id) }),
  );
  await api(
    'POST',
    `workspaces/${source.data.id}/relationships/remote-state-consumers`,
    several('workspaces', workspaceId),
  );
  await api('POST', `runs/${runId}/comments`, resource('comments', { body: 'looks good' }));
  const { data: run } = await api('GET', `runs/${runId}`);
  const { data: pools } = await api('GET', `${ORGANIZATION}/agent-pools`);
  const pool = `agent-pools/${pools[0].id}`;
  const configuration: string = run.relationships['configuration-version'].data.id;
  return reads('api', 'GET', [
    `workspaces/${workspaceId}/runs`,
    `${ORGANIZATION}/runs`,
    `runs/${runId}`,
    `runs/${runId}/comments`,
    `plans/${run.relationships.plan.data.id}`,
    `applies/${run.relationships.apply.data.id}`,
    `workspaces/${workspaceId}/configuration-versions`,
    `configuration-versions/${configuration}`,
    `workspaces/${workspaceId}/run-triggers?filter[run-trigger][type]=inbound`,
    `workspaces/${source.data.id}/run-triggers?filter[run-trigger][type]=outbound`,
    `run-triggers/${trigger.data.id}`,
    `${ORGANIZATION}/agent-pools`,
    pool,
    `${pool}/authentication-tokens`,
  ]);
};

const METADATA = Buffer.from('golden').toString('base64');

interface Issued {
  readonly serial_number: string;
  readonly private_key: string;
}

const issue = async ({ v1 }: GoldenCalls, mount: string, name: string): Promise<Issued> => {
  const body = { common_name: `${name}.example.com`, ttl: '70000h', cert_metadata: METADATA };
  return (await v1('POST', `${mount}/issue/web`, body)).data;
};

const makePki = async (calls: GoldenCalls, https: string): Promise<readonly GoldenRead[]> => {
  const { v1 } = calls;
  for (const mount of ['root', 'pki'])
    await v1('POST', `sys/mounts/${mount}`, { type: 'pki', config: { max_lease_ttl: LONG } });
  await v1('POST', 'sys/mounts/local-pki', { type: 'pki', local: true });
  await v1('POST', 'local-pki/root/generate/internal', { common_name: 'Local', key_type: 'ec' });
  await v1('POST', 'root/root/generate/internal', {
    common_name: 'Golden Root',
    key_type: 'ec',
    ttl: LONG,
  });
  const request = await v1('POST', 'pki/intermediate/generate/internal', {
    common_name: 'Golden Intermediate',
    key_type: 'ec',
  });
  const signed = await v1('POST', 'root/root/sign-intermediate', {
    csr: request.data.csr,
    common_name: 'Golden Intermediate',
    ttl: '80000h',
  });
  const chain: string = [signed.data.certificate, signed.data.issuing_ca].join('\n');
  const set = await v1('POST', 'pki/intermediate/set-signed', { certificate: chain });
  const [issuer] = set.data.imported_issuers as readonly string[];
  await v1('POST', 'pki/config/urls', { issuing_certificates: ['http://ca.example.com/ca'] });
  await v1('POST', 'pki/config/crl', { expiry: '48h' });
  const path = `${https}/v1/pki`;
  await v1('POST', 'pki/config/cluster', { path });
  await v1('POST', 'pki/config/auto-tidy', { enabled: false, tidy_cert_store: true });
  await v1('POST', 'pki/roles/web', {
    allowed_domains: ['example.com'],
    allow_subdomains: true,
    key_type: 'ec',
    max_ttl: LONG,
    no_store_metadata: false,
  });
  const kept = await issue(calls, 'pki', 'kept');
  const revoked = await issue(calls, 'pki', 'revoked');
  await v1('POST', 'pki/revoke', { serial_number: revoked.serial_number });
  const { serial_number, private_key } = await issue(calls, 'pki', 'compromised');
  await v1('POST', 'pki/revoke-with-key', { serial_number, private_key });
  await v1('POST', 'pki/tidy', { tidy_cert_store: true });
  await v1('POST', 'pki/roles/leased', {
    allow_any_name: true,
    key_type: 'ec',
    generate_lease: true,
  });
  await v1('POST', 'pki/issue/leased', { common_name: 'leased.example.com', ttl: '70000h' });
  await v1('POST', 'pki/config/acme', { enabled: true });
  await v1('POST', 'pki/acme/new-eab');
  const session = await AcmeSession.open({ directory: `${path}/acme/directory`, connections: 1 });
  await session.post('newOrder', { identifiers: [{ type: 'dns', value: 'acme.example.com' }] });
  await session.close();
  return [
    ...reads('v1', 'LIST', ['pki/certs', 'pki/certs/revoked', 'pki/issuers', 'pki/keys']),
    ...reads('v1', 'LIST', ['pki/roles', 'pki/eab', 'pki/acme/mgmt/account/keyid', 'root/issuers']),
    ...reads('v1', 'GET', [
      'pki/roles/web',
      `pki/issuer/${issuer}`,
      `pki/cert/${kept.serial_number}`,
      `pki/cert/${revoked.serial_number}`,
      `pki/cert-metadata/${kept.serial_number}`,
      'pki/config/urls',
      'pki/config/crl',
      'pki/config/cluster',
      'pki/config/acme',
      'pki/config/auto-tidy',
      'pki/config/issuers',
      'pki/config/keys',
      'root/cert/ca',
      'local-pki/cert/ca',
    ]),
  ];
};

const MESSAGES = 'sys/config/ui/custom-messages';

const makeAdministration = async ({ v1 }: GoldenCalls): Promise<readonly GoldenRead[]> => {
  await v1('POST', 'sys/policies/acl/readers', {
    policy: 'path "pki/*" { capabilities = ["read"] }',
  });
  await v1('POST', 'sys/namespaces/team');
  await v1('POST', 'team/sys/policies/acl/inner', {
    policy: 'path "pki/*" { capabilities = ["list"] }',
  });
  await v1('POST', 'team/sys/mounts/inner-pki', { type: 'pki' });
  await v1('POST', 'auth/token/roles/deploy', { allowed_policies: ['readers'] });
  await v1('POST', 'auth/token/create/deploy', { ttl: '768h' });
  await v1('POST', 'auth/token/create', { policies: ['readers'], num_uses: 5 });
  await v1('POST', 'cubbyhole/golden', { kept: 'yes' });
  const message = await v1('POST', MESSAGES, {
    title: 'Golden',
    message: Buffer.from('golden').toString('base64'),
    authenticated: true,
    type: 'banner',
    start_time: '2026-01-01T00:00:00Z',
  });
  await v1('POST', 'sys/audit/golden', { type: 'file', options: { file_path: 'discard' } });
  await v1('POST', 'sys/rotate');
  await v1('POST', 'sys/rotate/config', { enabled: true, interval: '8760h' });
  await v1('GET', 'sys/wrapping/pubkey');
  await v1('POST', 'sys/namespaces/locked');
  await v1('POST', 'sys/namespaces/api-lock/lock/locked');
  await v1('POST', 'sys/generate-root/attempt', {});
  await v1('POST', 'sys/rekey-recovery-key/init', { secret_shares: 1, secret_threshold: 1 });
  await v1('POST', 'sys/mounts/before', { type: 'pki' });
  await v1('POST', 'sys/remount', { from: 'before', to: 'after' });
  return [
    ...reads('v1', 'LIST', ['sys/policies/acl', 'sys/namespaces', 'auth/token/roles']),
    ...reads('v1', 'LIST', [MESSAGES, 'cubbyhole', 'team/sys/policies/acl']),
    ...reads('v1', 'GET', [
      'sys/policies/acl/readers',
      'team/sys/policies/acl/inner',
      'sys/namespaces/team',
      'sys/mounts',
      'team/sys/mounts',
      'auth/token/roles/deploy',
      'auth/token/lookup-self',
      'cubbyhole/golden',
      `${MESSAGES}/${message.data.id}`,
      'sys/audit',
      'sys/rotate/config',
      'sys/generate-root/attempt',
      'sys/rekey-recovery-key/init',
    ]),
  ];
};

/** Makes the contents. @returns the requests that read them */
export const makeContents = async (
  calls: GoldenCalls,
  { http, https }: Pick<KeelsonProcess, 'http' | 'https'>,
): Promise<readonly GoldenRead[]> => [
  ...(await makePeople(calls)),
  ...(await makeWorkspace(calls)),
  ...(await makeRun(calls, http)),
  ...(await makePki(calls, https)),
  ...(await makeAdministration(calls)),
];

/** Changes or adds a record in each area, and reads some again. @returns names of those that were not written */
export const writeToEachArea = async (calls: GoldenCalls): Promise<readonly string[]> => {
  const { v1, api } = calls;
  const changed = 'changed by a later version';
  const { data: workspace } = await api('GET', `${ORGANIZATION}/workspaces/production`);
  const target = `workspaces/${workspace.id}`;
  const requests: readonly (readonly [path: string, type: string, attributes: object])[] = [
    [ORGANIZATION, 'organizations', { email: 'later@example.com' }],
    [target, 'workspaces', { description: changed }],
  ];
  for (const [path, type, attributes] of requests)
    await api('PATCH', path, { data: { type, attributes } });
  await api('POST', `${ORGANIZATION}/projects`, resource('projects', { name: 'later' }));
  await api('POST', `${ORGANIZATION}/teams`, resource('teams', { name: 'later' }));
  await api('POST', `${target}/state-versions`, stateOf(2));
  const { data: vars } = await api('GET', `${target}/vars`);
  for (const { id } of vars)
    await api('PATCH', `${target}/vars/${id}`, {
      data: { type: 'vars', attributes: { description: changed } },
    });
  const { data: runs } = await api('GET', `${ORGANIZATION}/runs`);
  await api('POST', `runs/${runs[0].id}/actions/discard`, { comment: changed });
  await v1('POST', 'pki/roles/web', {
    allowed_domains: ['example.com'],
    allow_subdomains: true,
    key_type: 'ec',
  });
  const later = await issue(calls, 'pki', 'later');
  await v1('POST', 'pki/revoke', { serial_number: later.serial_number });
  await v1('GET', 'pki/crl/rotate');
  await v1('POST', 'sys/policies/acl/readers', {
    policy: 'path "sys/*" { capabilities = ["list"] }',
  });
  await v1('POST', 'sys/namespaces/later');
  await v1('POST', 'auth/token/roles/deploy', { allowed_policies: ['readers', 'default'] });
  await v1('POST', 'cubbyhole/golden', { kept: changed });
  const read = {
    [target]: (await api('GET', target)).data.attributes.description === changed,
    [ORGANIZATION]: (await api('GET', ORGANIZATION)).data.attributes.email === 'later@example.com',
    state: (await api('GET', `${target}/current-state-version`)).data.attributes.serial === 2,
    revoked: (await v1('LIST', 'pki/certs/revoked')).data.keys.includes(later.serial_number),
    'sys/namespaces': (await v1('LIST', 'sys/namespaces')).data.keys.includes('later/'),
    cubbyhole: (await v1('GET', 'cubbyhole/golden')).data.kept === changed,
  };
  return Object.entries(read).flatMap(([name, isWritten]) => (isWritten ? [] : [name]));
};
