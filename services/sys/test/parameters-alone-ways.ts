/** The ways in which `parameters-alone.integration.test.ts` calls the operations of sys. */
import { openShamir } from './parameters-alone-cluster-ways.ts';
import { dataAt, type Place, post, type Way } from './parameters-alone-way.ts';
import type { Document } from './sys-harness.ts';

const readBack: Way['observe'] = (place, path) => dataAt(place, path);

const newToken = async (place: Place): Promise<Readonly<Record<string, string>>> => {
  const { auth } = await post(place, 'auth/token/create', { policies: ['default'], ttl: '1h' });
  return { token: auth.client_token, accessor: auth.accessor };
};

/** Tokens of an entity of its own: that of the request, and another one. */
const newPerson = async (place: Place, serial: string) => {
  await post(place, `auth/token/roles/${serial}`, { allowed_entity_aliases: serial });
  const [own, other] = [
    await post(place, `auth/token/create/${serial}`, { entity_alias: serial }),
    await post(place, `auth/token/create/${serial}`, { entity_alias: serial }),
  ];
  return { token: own.auth.client_token, accessor: other.auth.accessor };
};

const lookup = async (place: Place, token: string): Promise<Document> => {
  const { status, body } = await place.cluster.asRoot('POST', 'auth/token/lookup', {
    body: { token },
  });
  if (status !== 200) return { status };
  const { id, accessor: _, entity_id: __, ...data } = body.data;
  return { ...data, isOwn: id.startsWith('of-my-own') };
};

const newMount = async (place: Place, serial: string) => {
  await post(place, `sys/mounts/${serial}`, { type: 'sample' });
  return {};
};

/** A lease of a mount. */
const newLease = async (place: Place, serial: string) => {
  await newMount(place, serial);
  const { uuid } = await dataAt(place, `sys/mounts/${serial}`);
  const { token = '' } = await newToken(place);
  const { audit } = await place.cluster.resolve('GET', 'auth/token/lookup-self', { token });
  const { leaseId } = await place.cluster.sys.ledger.register({
    mountUuid: uuid,
    requestPath: '/issue/web',
    tokenHash: audit?.caller?.tokenHash ?? '',
    namespace: { id: 'root', path: '' },
    ttlSeconds: 600,
    maxTtlSeconds: 3600,
    renewable: true,
    engineData: Buffer.from('serial'),
    tokenType: 'service',
  });
  return { lease: leaseId };
};

const leaseState: Way['observe'] = async ({ cluster }, _, answer, { lease }) => {
  const { body } = await cluster.asRoot('POST', 'sys/leases/lookup', { body: { lease_id: lease } });
  return {
    lease_duration: answer.lease_duration,
    ttl: body.data?.ttl,
    isRevoked: cluster.engine.revoked.some(({ leaseId }) => leaseId === lease),
  };
};

const wrapped = async ({ cluster }: Place) => {
  const { body } = await cluster.asRoot('GET', 'sys/mounts', { wrapTtlSeconds: 60 });
  return { wrapping: body.wrap_info.token };
};

const message = { title: 'a', message: 'YWFh', start_time: '2026-01-01T00:00:00Z' };
const newMessage = async (place: Place) => {
  const { data } = await post(place, 'sys/config/ui/custom-messages', {
    ...message,
    end_time: '2020-01-01T00:00:00Z',
    start_time: '2019-01-01T00:00:00Z',
    type: 'modal',
    authenticated: false,
  });
  return { id: data.id };
};

const inNamespace = async (place: Place, serial: string) => {
  await post(place, `sys/namespaces/${serial}`);
  const { data } = await post(place, 'sys/namespaces/api-lock/lock', { path: serial });
  return { key: data.unlock_key };
};
const isOpen: Way['observe'] = async ({ cluster }, _, answer, { serial }) => ({
  data: Object.keys(answer.data ?? {}),
  status: (await cluster.asRoot('GET', 'sys/mounts', { namespace: serial })).status,
});

const RULE = 'path "secret/x" { capabilities = ["read"] }';

export const WAYS: readonly Way[] = [
  {
    route: /^GET \/sys\/internal\/counters\/activity$/,
    values: () => ({
      start_time: '2020-01-01T00:00:00Z',
      end_time: '2020-01-01T00:00:00Z',
      limit_namespaces: -1,
      current_billing_period: true,
    }),
  },
  {
    route: /^GET \/sys\/internal\/counters\/activity\/export$/,
    without: 'it is a text, which src/activity reads',
  },
  {
    route: /^GET \/sys\/history$/,
    values: () => ({ window: 'month' }),
  },
  {
    route: /^POST \/sys\/internal\/counters\/config$/,
    values: () => ({ enabled: 'enable', default_report_months: 7, retention_months: 11 }),
    observe: (place, path) => dataAt(place, path),
  },
  {
    route: /^GET \/sys\/locked-users$/,
    // An accessor of no mount that locks users is refused.
    values: () => ({ mount_accessor: 'token_1' }),
  },
  {
    route: /^POST \/auth\/token\/create-orphan$/,
    least: () => ({ policies: ['default'] }),
    values: ({ serial }) => ({ id: `of-my-own-${serial}`, entity_alias: 'web' }),
    observe: (place, _, answer) => lookup(place, answer.auth?.client_token ?? ''),
    without: { no_parent: 'the address makes orphans' },
  },
  {
    route: /^POST \/auth\/token\/create/,
    at: (path) => path.replace('{role_name}', 'limited'),
    least: () => ({ policies: ['default'] }),
    values: ({ serial }) => ({ id: `of-my-own-${serial}`, entity_alias: 'web' }),
    observe: (place, _, answer) => lookup(place, answer.auth?.client_token ?? ''),
  },
  {
    route: /^(?:GET|POST) \/auth\/token\/lookup(?:-accessor)?$/,
    prepare: newToken,
    values: ({ token, accessor }) => ({ token, accessor }),
  },
  {
    route: /^POST \/auth\/token\/(?:renew|revoke)(?:-accessor|-orphan)?$/,
    prepare: newToken,
    least: ({ token, accessor }) => ({ token, accessor }),
    values: () => ({ token: 'hvs.another', accessor: 'another', increment: '30m' }),
    observe: async (place, _, answer, { token = '' }) => ({
      ...(await lookup(place, token)),
      lease_duration: answer.auth?.lease_duration,
    }),
  },
  {
    route: /^POST \/auth\/token\/renew-self$/,
    prepare: newToken,
    as: ({ token = '' }) => token,
    values: () => ({ increment: '30m' }),
    observe: async (_, __, { auth }) => ({ lease_duration: auth?.lease_duration }),
  },
  {
    route: /^GET \/auth\/token\/own$/,
    prepare: newPerson,
    as: ({ token = '' }) => token,
    values: () => ({ before: '2000-01-01T00:00:00Z', limit: 1001 }),
    observe: async (_, __, answer) => ({ tokens: answer.data?.tokens.length }),
  },
  {
    route: /^POST \/auth\/token\/own\/revoke$/,
    prepare: newPerson,
    as: ({ token = '' }) => token,
    least: ({ accessor }) => ({ accessor }),
    values: () => ({ accessor: 'another' }),
  },
  {
    route: /^POST \/auth\/token\/roles\/\{name\}$/,
    observe: readBack,
  },
  {
    route: /^POST \/sys\/polic(?:y|ies\/acl)\/\{name\}$/,
    values: () => ({ policy: RULE, rules: RULE }),
    observe: async (place, path) => ({ rules: (await dataAt(place, path)).rules ?? '' }),
  },
  {
    route: /^POST \/sys\/capabilities/,
    prepare: newToken,
    least: ({ token, accessor }) => ({ paths: ['auth/token/lookup-self'], token, accessor }),
    values: () => ({
      paths: ['sys/mounts'],
      path: { telling: 'sys/mounts', beside: { paths: undefined } },
      token: 'hvs.another',
      accessor: 'another',
    }),
  },
  {
    route: /^(?:POST|PATCH) \/sys\/namespaces\/\{path\}$/,
    prepare: async (place, serial) => {
      await post(place, `sys/namespaces/${serial}`);
      return {};
    },
    observe: async (place, path) => ({ metadata: (await dataAt(place, path)).custom_metadata }),
  },
  {
    route: /^POST \/sys\/namespaces\/api-lock/,
    prepare: inNamespace,
    least: ({ serial, key }) => ({ path: serial, unlock_key: key }),
    values: () => ({ path: 'another', unlock_key: 'another' }),
    observe: isOpen,
  },
  { route: /^POST \/sys\/auth\/\{path\}$/, without: 'there is no auth method but that of tokens' },
  {
    route: /^POST \/sys\/mounts\/\{path\}$/,
    least: () => ({ type: 'sample' }),
    values: ({ serial }) => ({
      type: 'another',
      plugin_name: 'another',
      'config.description': `for ${serial}`,
    }),
    observe: readBack,
  },
  {
    route: /^POST \/sys\/mounts\/\{path\}\/tune$/,
    prepare: newMount,
    observe: readBack,
  },
  {
    route: /^POST \/sys\/auth\/\{path\}\/tune$/,
    at: (path) => path.replace('{path}', 'token'),
    values: ({ serial }) => ({ description: `for ${serial}` }),
    observe: readBack,
  },
  {
    route: /^POST \/sys\/remount$/,
    prepare: newMount,
    least: ({ serial }) => ({ from: serial, to: `${serial}-moved` }),
    values: ({ serial }) => ({ from: 'another', to: `${serial}-elsewhere` }),
    observe: async (place, _, __, { serial }) => ({
      moved: (await dataAt(place, `sys/mounts/${serial}-moved`)).type ?? '',
    }),
  },
  {
    route: /^POST \/sys\/wrapping/,
    prepare: wrapped,
    values: ({ wrapping }) => ({ token: wrapping }),
  },
  {
    route: /^GET \/sys\/leases(?:\/count)?$/,
    open: openShamir,
    prepare: newLease,
    values: () => ({ type: 'irrevocable' }),
  },
  {
    route: /^POST \/sys\/(?:leases\/)?(?:renew|revoke)\/\{path\}$/,
    prepare: newLease,
    at: (path, { lease = '' }) => path.replace('{path}', lease),
    values: () => ({ lease_id: 'another', increment: '20m', sync: true }),
    observe: leaseState,
  },
  {
    route: /^POST \/sys\/(?:leases\/)?(?:lookup|renew|revoke)$/,
    prepare: newLease,
    least: ({ lease }) => ({ lease_id: lease }),
    values: ({ lease }) => ({
      lease_id: { telling: lease, beside: { lease_id: undefined } },
      path: { telling: lease, beside: { lease_id: undefined } },
      increment: '20m',
      sync: true,
    }),
    observe: leaseState,
  },
  {
    route: /^POST \/sys\/(?:leases\/)?revoke-prefix/,
    prepare: newLease,
    values: () => ({ sync: true }),
    observe: leaseState,
  },
  {
    route: /^POST \/sys\/audit\/\{path\}$/,
    least: () => ({ type: 'file', options: { file_path: 'discard' } }),
    values: () => ({ type: 'socket' }),
    observe: async (place, path) =>
      (await dataAt(place, 'sys/audit'))[`${path.split('/').at(-1)}/`],
  },
  {
    route: /^POST \/sys\/audit-hash/,
    prepare: async (place, serial) => {
      await post(place, `sys/audit/${serial}`, { type: 'file', options: { file_path: 'discard' } });
      return {};
    },
    values: () => ({ input: 'text' }),
  },
  {
    route: /^POST \/sys\/tools\/random/,
    at: (path) => path.replace('{source}', 'platform').replace('{bytes}', '32'),
    values: () => ({ bytes: 16, format: 'hex' }),
    observe: async (_, __, { data }) => ({ length: data?.random_bytes?.length }),
  },
  {
    route: /^POST \/sys\/tools\/hash/,
    at: (path) => path.replace('{algorithm}', 'sha2-256'),
    least: () => ({ input: 'YQ==' }),
    values: () => ({ format: 'base64', algorithm: 'sha2-512', input: 'Yg==' }),
    observe: async (_, __, { data }) => ({ sum: data?.sum?.slice(0, 20) }),
  },
  {
    route: /^POST \/sys\/quotas\/lease-count\/\{name\}$/,
    at: (path, { serial }) => path.replace('{name}', serial),
    least: () => ({ max_leases: 50_000 }),
    values: () => ({
      path: 'sys',
      max_leases: 70_000,
      inheritable: { telling: true, beside: { path: 'sys' } },
      role: 'web',
    }),
    observe: async (place, path) => {
      const { name: _, counter: __, ...data } = await dataAt(place, path);
      await place.cluster.asRoot('DELETE', path);
      return data;
    },
  },
  {
    route: /^POST \/sys\/quotas\/rate-limit\/\{name\}$/,
    at: (path, { serial }) => path.replace('{name}', serial),
    least: () => ({ rate: 5 }),
    values: () => ({
      path: 'sys',
      rate: 7,
      interval: 60,
      block_interval: 60,
      inheritable: { telling: true, beside: { path: 'sys' } },
      role: 'web',
    }),
    observe: async (place, path) => {
      const { name: _, ...data } = await dataAt(place, path);
      await place.cluster.asRoot('DELETE', path);
      return data;
    },
  },
  {
    route: /^POST \/sys\/quotas\/config$/,
    open: openShamir,
    values: () => ({
      rate_limit_exempt_paths: ['sys/mounts'],
      enable_rate_limit_audit_logging: true,
      enable_rate_limit_response_headers: true,
    }),
    observe: (place, path) => dataAt(place, path),
  },
  {
    route: /^LIST \/sys\/config\/ui\/custom-messages$/,
    open: openShamir,
    prepare: newMessage,
    values: () => ({ active: true, authenticated: true, type: 'banner' }),
  },
  {
    route: /^POST \/sys\/config\/ui\/custom-messages$/,
    least: () => message,
    observe: async (place, path, answer) => {
      const { id, ...data } = await dataAt(place, `${path}/${answer.data?.id}`);
      if (id !== undefined) await place.cluster.asRoot('DELETE', `${path}/${id}`);
      return data;
    },
  },
  {
    route: /^POST \/sys\/config\/ui\/custom-messages\/\{id\}$/,
    prepare: newMessage,
    at: (path, { id = '' }) => path.replace('{id}', id),
    least: () => message,
    observe: async (place, path) => {
      const { id: _, ...data } = await dataAt(place, path);
      await place.cluster.asRoot('DELETE', path);
      return data;
    },
  },
  {
    route: /openapi$/,
    without: {
      generic_mount_paths:
        'the gateway makes the document, and services/gateway/src/openapi tries it',
    },
  },
  { route: /^POST \/sys\/upgrade$/, values: () => ({ after: 'sys:shared/z' }) },
  { route: /^GET \/sys\/metrics$/, values: () => ({ format: 'json' }) },
  {
    route: /^POST \/sys\/rotate\/(?:keyring\/)?config$/,
    prepare: async (place) => {
      await post(place, 'sys/rotate/config', {
        enabled: true,
        max_operations: 3_865_470_566,
        interval: '72h',
      });
      return {};
    },
    observe: readBack,
  },
];
