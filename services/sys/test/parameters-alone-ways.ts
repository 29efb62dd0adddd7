/** The ways in which `parameters-alone.integration.test.ts` calls the operations of sys. */
import { openShamir } from './parameters-alone-cluster-ways.ts';
import type { Body, Place, Way } from './parameters-alone-way.ts';
import type { Document } from './sys-harness.ts';

const post = async ({ cluster }: Place, path: string, body: Body = {}): Promise<Document> => {
  const answer = await cluster.asRoot('POST', path, { body });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.body.errors}`);
  return answer.body;
};
const dataAt = async ({ cluster }: Place, path: string): Promise<Document> =>
  (await cluster.asRoot('GET', path)).body.data ?? {};

const readBack: Way['observe'] = (place, path) => dataAt(place, path);

const newToken = async (place: Place): Promise<Readonly<Record<string, string>>> => {
  const { auth } = await post(place, 'auth/token/create', { policies: ['default'], ttl: '1h' });
  return { token: auth.client_token, accessor: auth.accessor };
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

const newEntity = async (place: Place, serial: string) => ({
  id: (await post(place, 'identity/entity', { name: serial })).data.id,
});

/** An alias at the mount of tokens, the entity of it, and another entity. */
const newAlias = async (place: Place, serial: string) => {
  const { accessor } = (await dataAt(place, 'sys/auth'))['token/'];
  const alias = { name: serial, mount_accessor: accessor };
  const { data } = await post(place, 'identity/entity-alias', alias);
  const { id: other } = (await post(place, 'identity/entity', { name: serial })).data;
  return { accessor, alias: data.id, entity: data.canonical_id, other };
};

/** Two entities with aliases at the mount of tokens. */
const newAliases = async (place: Place, serial: string) => {
  const { accessor } = (await dataAt(place, 'sys/auth'))['token/'];
  const make = async (name: string): Promise<Document> =>
    (await post(place, 'identity/entity-alias', { name, mount_accessor: accessor })).data;
  const [from, into] = [await make(`${serial}-from`), await make(`${serial}-into`)];
  return { from: from.canonical_id, into: into.canonical_id, first: from.id };
};

/** An internal group, an external one with an alias at the mount of tokens, and possible members. */
const newGroup = async (place: Place, serial: string) => {
  const make = async (kind: string, body: Body): Promise<string> =>
    (await post(place, `identity/${kind}`, body)).data.id;
  const { accessor } = (await dataAt(place, 'sys/auth'))['token/'];
  const external = `${serial}-external`;
  const externalId = await make('group', { name: external, type: 'external' });
  return {
    id: await make('group', { name: serial }),
    inner: await make('group', { name: `${serial}-inner` }),
    entity: await make('entity', { name: serial }),
    alias: await make('group-alias', {
      name: external,
      mount_accessor: accessor,
      canonical_id: externalId,
    }),
    accessor,
    external,
    externalId,
  };
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
    route: /^POST \/auth\/token\/roles\/\{name\}$/,
    observe: readBack,
  },
  {
    route: /^POST \/identity\/entity(?:\/(?:id|name)\/\{\w+\})?$/,
    prepare: newEntity,
    at: (path, { id = '', serial }) => path.replace('{id}', id).replace('{name}', serial),
    values: ({ id, serial }) => ({
      id: { telling: id, beside: { policies: ['web'] } },
      name: `${serial}-renamed`,
    }),
    observe: async (place, path, _, { id = '' }) => {
      const { keys = [] } = (await place.cluster.asRoot('LIST', 'identity/entity/name')).body.data;
      return { ...(await dataAt(place, `identity/entity/id/${id}`)), keys, path };
    },
  },
  {
    route: /^POST \/identity\/entity\/batch-delete$/,
    prepare: newEntity,
    values: ({ id }) => ({ entity_ids: [id] }),
    observe: (place, _, __, { id = '' }) => dataAt(place, `identity/entity/id/${id}`),
  },
  {
    route: /^POST \/identity\/entity\/merge$/,
    prepare: newAliases,
    least: ({ from, into }) => ({ from_entity_ids: [from], to_entity_id: into }),
    values: ({ first }) => ({
      from_entity_ids: ['another'],
      to_entity_id: 'another',
      force: true,
      conflicting_alias_ids_to_keep: [first],
    }),
    observe: async (place, _, __, { into = '', serial }) => ({
      aliases: ((await dataAt(place, `identity/entity/id/${into}`)).aliases ?? []).map(
        ({ name }: Document) => name.replace(serial, ''),
      ),
    }),
  },
  {
    route: /^POST \/identity\/lookup\/entity$/,
    prepare: newAlias,
    values: ({ entity, alias, serial, accessor }) => ({
      id: entity,
      name: `entity_${entity?.slice(0, 8)}`,
      alias_id: alias,
      alias_name: { telling: serial, beside: { alias_mount_accessor: accessor } },
      alias_mount_accessor: { telling: accessor, beside: { alias_name: serial } },
    }),
  },
  {
    route: /^POST \/identity\/entity-alias(?:\/id\/\{id\})?$/,
    prepare: newAlias,
    at: (path, { alias = '' }) => path.replace('{id}', alias),
    least: ({ serial, accessor }) => ({ name: serial, mount_accessor: accessor }),
    values: ({ alias, serial, other }) => ({
      id: 'another',
      name: `${serial}-renamed`,
      mount_accessor: 'another',
      canonical_id: other,
      entity_id: other,
      custom_metadata: { alias: alias ?? '' },
    }),
    observe: async (place, _, answer, { entity }) => {
      const { id, canonical_id } = answer.data ?? {};
      const { name, custom_metadata } = await dataAt(place, `identity/entity-alias/id/${id}`);
      return { name, custom_metadata, isMoved: canonical_id !== entity };
    },
  },
  {
    route: /^POST \/identity\/group(?:\/(?:id|name)\/\{\w+\})?$/,
    prepare: newGroup,
    at: (path, { id = '', serial }) => path.replace('{id}', id).replace('{name}', serial),
    least: ({ serial }) => ({ name: serial }),
    values: ({ id, serial, entity, inner }) => ({
      id: { telling: id, beside: { name: `${serial}-renamed` } },
      name: `${serial}-renamed`,
      member_entity_ids: [entity],
      member_group_ids: [inner],
    }),
    observe: async (place, _, answer, { id = '' }) => {
      const { keys = [] } = (await place.cluster.asRoot('LIST', 'identity/group/name')).body.data;
      const { name, policies, member_entity_ids, member_group_ids, metadata } = await dataAt(
        place,
        `identity/group/id/${id}`,
      );
      const members = { entities: member_entity_ids?.length, groups: member_group_ids?.length };
      return {
        name,
        policies,
        metadata,
        members,
        made: keys.length,
        isOld: answer.data?.id === id,
      };
    },
  },
  {
    route: /^POST \/identity\/lookup\/group$/,
    prepare: newGroup,
    values: ({ id, alias, serial, external, accessor }) => ({
      id,
      name: serial,
      alias_id: alias,
      alias_name: { telling: external, beside: { alias_mount_accessor: accessor } },
      alias_mount_accessor: { telling: accessor, beside: { alias_name: external } },
    }),
  },
  {
    route: /^POST \/identity\/group-alias(?:\/id\/\{id\})?$/,
    prepare: newGroup,
    at: (path, { alias = '' }) => path.replace('{id}', alias),
    least: ({ external, accessor, externalId }) => ({
      name: external,
      mount_accessor: accessor,
      canonical_id: externalId,
    }),
    values: ({ external, serial }) => ({
      id: 'another',
      name: `${external}-${serial}`,
      mount_accessor: 'another',
      canonical_id: 'another',
    }),
    observe: async (place, _, answer, { external }) => {
      const { name } = await dataAt(place, `identity/group-alias/id/${answer.data?.id}`);
      return { isRenamed: name !== external };
    },
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
