/**
 * Every field of every request with a JSON body, and its effect. `accepted-fields.integration.test.ts` compares the
 * table with the requests that sys describes, and sends the values. Members of objects are written with a dot.
 */
import { IDENTITY_FIELDS } from './accepted-fields-table-identity.ts';
import { OIDC_FIELDS } from './accepted-fields-table-oidc.ts';
import {
  type Effect,
  elsewhere,
  type FieldGroup,
  proof,
  RETURNED_ONLY,
  refused,
  shown,
  warned,
} from './field-effects.ts';

const ACTIVITY = 'src/activity/activity.integration.test.ts';
const TOKENS = 'src/tokens/tokens.integration.test.ts';
const OWN_TOKENS = 'src/own-tokens/own-tokens.integration.test.ts';
const ROLES = 'src/tokens/token-roles.integration.test.ts';
const ALIASED = 'src/tokens/aliased-tokens.integration.test.ts';
const MOUNTS = 'src/mounts/mounts.integration.test.ts';
const LEASES = 'src/leases/leases.integration.test.ts';
const CEREMONIES = 'src/seal/ceremonies.integration.test.ts';
const SEAL = 'src/seal/seal.integration.test.ts';
const INTERNAL_UI = 'src/internal-ui/internal-ui.integration.test.ts';
const TOOLS = 'src/tools/tools.integration.test.ts';
const WRAPPING = 'src/wrapping/wrapping.integration.test.ts';
const POLICIES = 'src/policies/policies.integration.test.ts';
const QUOTAS = 'src/quotas/quotas.integration.test.ts';
const LEASE_QUOTAS = 'src/quotas/lease-quotas.integration.test.ts';
const MESSAGES = 'src/custom-messages/custom-messages.integration.test.ts';
const NAMESPACES = 'src/namespaces/namespaces.integration.test.ts';
const ADDRESSES = 'src/replication/replication-addresses.integration.test.ts';
const ROTATION = 'src/seal/rotation.integration.test.ts';
const AUDIT_LOG = 'services/standalone/test/audit-devices.integration.test.ts';
const PROCESSES = 'services/standalone/test';

const inFields = (group: string, fields: Readonly<Record<string, Effect>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, effect]) => [`${group}.${name}`, effect]));

const AUDITED = proof('src/audit/audit.integration.test.ts', 'logged in clear');
const LISTS: Readonly<Record<string, Effect>> = {
  audit_non_hmac_request_keys: shown(['common_name'], AUDITED),
  audit_non_hmac_response_keys: shown(['serial_number'], AUDITED),
};
const HEADERS: Readonly<Record<string, Effect>> = {
  passthrough_request_headers: shown(
    ['If-Modified-Since'],
    proof(MOUNTS, 'passthroughRequestHeaders'),
  ),
  allowed_response_headers: shown(['Last-Modified'], proof(MOUNTS, 'allowedResponseHeaders')),
};
const LIFETIMES: Readonly<Record<string, Effect>> = {
  default_lease_ttl: shown('1h', proof(TOKENS, "default_lease_ttl: '30m'"), [
    'default_lease_ttl',
    3600,
  ]),
  max_lease_ttl: shown('2h', proof(TOKENS, "max_lease_ttl: '1h'"), ['max_lease_ttl', 7200], {
    default_lease_ttl: '1h',
  }),
};
const CONFIG: Readonly<Record<string, Effect>> = {
  ...LIFETIMES,
  ...LISTS,
  ...HEADERS,
  listing_visibility: shown('unauth', proof(INTERNAL_UI, 'anonymous callers')),
  force_no_cache: refused(true),
  allowed_managed_keys: refused(['key']),
  delegated_auth_accessors: warned(['auth_token_1']),
  identity_token_key: refused('key'),
  plugin_version: refused('v1'),
  // Mounts of auth methods have it: services/standalone/test/logins.integration.test.ts.
  token_type: refused('batch'),
  // Mounts of methods with passwords have it: services/standalone/test/locked-users.integration.test.ts.
  ...inFields('user_lockout_config', {
    lockout_threshold: refused(3),
    lockout_duration: refused('1h'),
    lockout_counter_reset_duration: refused('1h'),
    lockout_disable: refused(true),
  }),
};
const DESCRIPTION = shown('for the team', RETURNED_ONLY);
const TUNING: Readonly<Record<string, Effect>> = {
  ...CONFIG,
  description: DESCRIPTION,
  options: warned({ version: '2' }),
};
/** Routes of PUT have the fields of POST. */
const REKEYS = ['rekey', 'rekey-recovery-key', 'rotate/root', 'rotate/recovery'];
const KINDS = ['performance', 'dr'];

export const FIELD_GROUPS: Readonly<Record<string, FieldGroup>> = {
  tokens: {
    routes: [
      'POST /auth/token/create',
      'POST /auth/token/create/{role_name}',
      'POST /auth/token/create-orphan',
    ],
    least: { policies: ['default'] },
    fields: {
      id: shown('of-my-own', proof(TOKENS, "id: 'mine'")),
      role_name: shown('limited', proof(ROLES, 'limited'), ['role', 'limited']),
      policies: shown(['web'], proof(INTERNAL_UI, "policies: ['one', 'two']"), [
        'policies',
        ['default', 'web'],
      ]),
      meta: shown({ team: 'a' }, RETURNED_ONLY),
      display_name: shown('a b', proof(AUDIT_LOG, 'display_name'), ['display_name', 'token-a-b']),
      no_parent: shown(true, proof(TOKENS, 'no_parent: true'), ['orphan', true]),
      no_default_policy: shown(
        true,
        proof(INTERNAL_UI, 'no_default_policy: true'),
        ['policies', ['web']],
        {
          policies: ['web'],
        },
      ),
      renewable: shown(false, proof(TOKENS, 'renewable: false')),
      ttl: shown('2h', proof(TOKENS, "ttl: '1h'"), ['creation_ttl', 7200]),
      lease: shown('2h', proof(TOKENS, "lease: '1h'"), ['creation_ttl', 7200]),
      type: shown('batch', proof(TOKENS, 'a batch token works')),
      explicit_max_ttl: shown('3h', proof(TOKENS, "explicit_max_ttl: '2h'"), [
        'explicit_max_ttl',
        10_800,
      ]),
      num_uses: shown(5, proof(TOKENS, 'num_uses: 3')),
      period: shown('1h', proof(TOKENS, "period: '1h'"), ['period', 3600]),
      entity_alias: elsewhere(ALIASED, 'entity_alias'),
    },
  },
  'token roles': {
    routes: ['POST /auth/token/roles/{name}'],
    fields: {
      allowed_policies: shown(['web'], proof(ROLES, 'allowed_policies')),
      allowed_policies_glob: shown(['web-*'], proof(ROLES, 'allowed_policies_glob')),
      disallowed_policies: shown(['web'], proof(ROLES, 'disallowed_policies')),
      disallowed_policies_glob: shown(['web-*'], proof(ROLES, 'disallowed_policies_glob')),
      orphan: shown(true, proof(ROLES, 'orphan')),
      renewable: shown(false, proof(ROLES, 'renewable')),
      period: shown('1h', proof(ROLES, 'period'), ['token_period', 3600]),
      token_period: shown('1h', proof(ROLES, 'token_period'), ['token_period', 3600]),
      explicit_max_ttl: shown('1h', proof(ROLES, 'explicit_max_ttl'), [
        'token_explicit_max_ttl',
        3600,
      ]),
      token_explicit_max_ttl: shown('1h', proof(ROLES, 'token_explicit_max_ttl'), [
        'token_explicit_max_ttl',
        3600,
      ]),
      path_suffix: shown('ci', proof(ROLES, 'path_suffix')),
      bound_cidrs: shown(['10.0.0.0/8'], proof(ROLES, 'bound_cidrs'), [
        'token_bound_cidrs',
        ['10.0.0.0/8'],
      ]),
      token_bound_cidrs: shown(['10.0.0.0/8'], proof(ROLES, 'token_bound_cidrs')),
      token_no_default_policy: shown(true, proof(ROLES, 'token_no_default_policy')),
      token_num_uses: shown(5, proof(ROLES, 'token_num_uses')),
      token_type: shown('service', proof(ROLES, 'token_type')),
      allowed_entity_aliases: shown(['web-*'], proof(ALIASED, 'allowed_entity_aliases')),
    },
  },
  'tokens that are named': {
    routes: [
      'lookup',
      'lookup-accessor',
      'renew',
      'renew-self',
      'renew-accessor',
      'revoke',
      'revoke-accessor',
      'revoke-orphan',
    ].map((name) => `POST /auth/token/${name}`),
    fields: {
      token: elsewhere(TOKENS, "lookup('auth/token/lookup', { token })"),
      accessor: elsewhere(TOKENS, "lookup('auth/token/lookup-accessor', { accessor })"),
      increment: elsewhere(TOKENS, 'body: { increment }'),
    },
  },
  'tokens of a person': {
    routes: ['POST /auth/token/own/revoke'],
    fields: { accessor: elsewhere(OWN_TOKENS, 'body: { accessor }') },
  },
  mounts: {
    routes: ['POST /sys/mounts/{path}', 'POST /sys/auth/{path}'],
    least: { type: 'sample' },
    fields: {
      type: shown('sample', proof(MOUNTS, "type: 'sample'")),
      plugin_name: elsewhere(MOUNTS, 'plugin_name'),
      description: DESCRIPTION,
      ...inFields('config', CONFIG),
      'config.description': elsewhere(MOUNTS, 'takes the description from config'),
      options: warned({ version: '2' }),
      local: shown(true, proof('src/mounts/local-mounts.integration.test.ts', 'local: true')),
      seal_wrap: refused(true),
      external_entropy_access: refused(true),
      plugin_version: refused('v1'),
    },
  },
  'tuning of mounts': {
    routes: ['POST /sys/mounts/{path}/tune', 'POST /sys/auth/{path}/tune'],
    fields: TUNING,
  },
  ...IDENTITY_FIELDS,
  'lease count quotas': {
    routes: ['POST /sys/quotas/lease-count/{name}'],
    least: { max_leases: 1 },
    fields: {
      path: elsewhere(LEASE_QUOTAS, "path: 'ca/issue/web'"),
      max_leases: elsewhere(LEASE_QUOTAS, 'max_leases: 5'),
      inheritable: elsewhere(LEASE_QUOTAS, 'max_leases: 2, inheritable: true'),
      role: elsewhere(LEASE_QUOTAS, "role: 'web'"),
    },
  },
  'counting of clients': {
    routes: ['POST /sys/internal/counters/config'],
    fields: {
      enabled: elsewhere(ACTIVITY, "enabled: 'disable'"),
      default_report_months: elsewhere(ACTIVITY, 'default_report_months: 3'),
      retention_months: elsewhere(ACTIVITY, 'retention_months: 1'),
    },
  },
  ...OIDC_FIELDS,
  moves: {
    routes: ['POST /sys/remount'],
    least: { from: 'a', to: 'b' },
    fields: { from: elsewhere(MOUNTS, 'from:'), to: elsewhere(MOUNTS, 'to:') },
  },
  policies: {
    routes: ['POST /sys/policies/acl/{name}', 'POST /sys/policy/{name}'],
    fields: {
      policy: elsewhere(POLICIES, 'a changed policy applies from the next request on'),
      rules: elsewhere(POLICIES, 'rules'),
    },
  },
  capabilities: {
    routes: ['capabilities', 'capabilities-self', 'capabilities-accessor'].map(
      (name) => `POST /sys/${name}`,
    ),
    fields: {
      paths: elsewhere(POLICIES, 'paths'),
      path: elsewhere(POLICIES, 'path:'),
      token: elsewhere(POLICIES, "'sys/capabilities'"),
      accessor: elsewhere(POLICIES, "'sys/capabilities-accessor'"),
    },
  },
  namespaces: {
    routes: ['POST /sys/namespaces/{path}', 'PATCH /sys/namespaces/{path}'],
    fields: { custom_metadata: shown({ team: 'a' }, RETURNED_ONLY) },
  },
  'locks of namespaces': {
    routes: [
      'POST /sys/namespaces/api-lock/lock',
      'POST /sys/namespaces/api-lock/unlock',
      'POST /sys/namespaces/api-lock/unlock/{path}',
    ],
    fields: {
      path: elsewhere(NAMESPACES, 'path:'),
      unlock_key: elsewhere(NAMESPACES, 'unlock_key'),
    },
  },
  'rate limit quotas': {
    routes: ['POST /sys/quotas/rate-limit/{name}'],
    least: { rate: 5 },
    fields: {
      path: elsewhere(QUOTAS, "path: 'team/ca/issue/web'"),
      rate: shown(7, proof(QUOTAS, 'rate: 0.5')),
      interval: shown('1h', proof(QUOTAS, 'interval: 60'), ['interval', 3600]),
      block_interval: shown(5, proof(QUOTAS, 'block_interval: 5')),
      inheritable: elsewhere(QUOTAS, 'inheritable: true'),
      role: elsewhere(QUOTAS, "role: 'web'"),
    },
  },
  'settings of quotas': {
    routes: ['POST /sys/quotas/config'],
    fields: {
      rate_limit_exempt_paths: elsewhere(QUOTAS, "rate_limit_exempt_paths: ['ca/open/*']"),
      enable_rate_limit_audit_logging: elsewhere(QUOTAS, 'enable_rate_limit_audit_logging: true'),
      enable_rate_limit_response_headers: elsewhere(
        QUOTAS,
        'enable_rate_limit_response_headers: true',
      ),
    },
  },
  'custom messages': {
    routes: ['POST /sys/config/ui/custom-messages', 'POST /sys/config/ui/custom-messages/{id}'],
    least: { title: 'a', message: 'YWFh', start_time: '2026-01-01T00:00:00Z' },
    fields: {
      title: shown('another', RETURNED_ONLY),
      authenticated: shown(false, proof(MESSAGES, 'authenticated')),
      type: shown('modal', proof(MESSAGES, 'is filtered by every combination')),
      message: shown('YmJi', RETURNED_ONLY),
      start_time: shown('2026-02-01T00:00:00Z', proof(MESSAGES, 'active')),
      end_time: shown('2090-01-01T00:00:00Z', proof(MESSAGES, 'active')),
      link: shown({ more: 'https://example.com' }, RETURNED_ONLY),
      options: shown({ colour: 'red' }, RETURNED_ONLY),
    },
  },
  'audit devices': {
    routes: ['POST /sys/audit/{path}'],
    least: { type: 'file', options: { file_path: 'discard' } },
    fields: {
      type: shown('file', proof(`${PROCESSES}/audit-devices.integration.test.ts`, "'file'")),
      description: DESCRIPTION,
      options: shown(
        { file_path: 'discard', prefix: '@' },
        proof(`${PROCESSES}/audit-devices.integration.test.ts`, 'options'),
      ),
      local: shown(true, proof('src/audit/audit.integration.test.ts', 'local: true')),
    },
  },
  'audit hashes': {
    routes: ['POST /sys/audit-hash/{path}'],
    fields: { input: elsewhere('src/audit/audit.integration.test.ts', 'input') },
  },
  'key rotation': {
    routes: ['POST /sys/rotate/config', 'POST /sys/rotate/keyring/config'],
    fields: {
      enabled: shown(false, proof(ROTATION, 'enabled: false')),
      max_operations: shown(
        1_000_000,
        proof('src/seal/domain/rotation-config.test.ts', 'max_operations'),
      ),
      interval: shown('48h', proof(ROTATION, 'interval'), ['interval', 172_800]),
    },
  },
  leases: {
    routes: [
      'POST /sys/leases/lookup',
      ...['/sys/leases', '/sys'].flatMap((base) => [
        `POST ${base}/renew`,
        `POST ${base}/renew/{path}`,
        `POST ${base}/revoke`,
        `POST ${base}/revoke/{path}`,
        `POST ${base}/revoke-prefix/{path}`,
      ]),
    ],
    fields: {
      lease_id: elsewhere(LEASES, 'lease_id'),
      path: elsewhere(LEASES, 'by body or path'),
      increment: elsewhere(LEASES, 'increment'),
      sync: elsewhere(LEASES, 'sync: true'),
    },
  },
  wrapping: {
    routes: ['lookup', 'unwrap', 'rewrap'].map((name) => `POST /sys/wrapping/${name}`),
    fields: { token: elsewhere(WRAPPING, 'in the header or in the body') },
  },
  tools: {
    routes: [
      'POST /sys/tools/random',
      'POST /sys/tools/random/{bytes}',
      'POST /sys/tools/random/{source}/{bytes}',
      'POST /sys/tools/hash',
      'POST /sys/tools/hash/{algorithm}',
    ],
    least: { input: 'YQ==' },
    fields: {
      bytes: elsewhere(TOOLS, 'bytes'),
      source: refused('seal'),
      format: elsewhere(TOOLS, "format: 'hex'"),
      algorithm: elsewhere(TOOLS, 'algorithm'),
      input: elsewhere(TOOLS, 'input'),
    },
  },
  initialization: {
    routes: ['POST /sys/init'],
    fields: {
      secret_shares: elsewhere(SEAL, 'secret_shares: 3'),
      secret_threshold: elsewhere(SEAL, 'secret_threshold: 2'),
      pgp_keys: elsewhere(SEAL, 'PGP keys of unseal shares'),
      root_token_pgp_key: elsewhere(CEREMONIES, 'root_token_pgp_key'),
      stored_shares: elsewhere(SEAL, 'stored_shares'),
      recovery_shares: elsewhere(SEAL, 'recovery_shares'),
      recovery_threshold: elsewhere(SEAL, 'recovery_threshold'),
      recovery_pgp_keys: elsewhere(SEAL, 'recovery_pgp_keys'),
    },
  },
  unsealing: {
    routes: ['POST /sys/unseal'],
    fields: {
      key: elsewhere(SEAL, 'wrong and malformed shares'),
      reset: elsewhere(SEAL, 'reset: true'),
      migrate: refused(true),
    },
  },
  ceremonies: {
    routes: [
      'POST /sys/generate-root/attempt',
      'POST /sys/generate-root/update',
      'POST /sys/generate-root-token/attempt',
      'POST /sys/generate-root-token/update',
      'POST /sys/replication/dr/secondary/generate-operation-token/attempt',
      'POST /sys/replication/dr/secondary/generate-operation-token/update',
      ...REKEYS.flatMap((name) => [
        `POST /sys/${name}/init`,
        `POST /sys/${name}/update`,
        `POST /sys/${name}/verify`,
      ]),
      'POST /sys/decode-token',
    ],
    fields: {
      otp: elsewhere(CEREMONIES, 'otp'),
      pgp_key: elsewhere(CEREMONIES, 'pgp_key'),
      key: elsewhere(CEREMONIES, 'key'),
      nonce: elsewhere(CEREMONIES, 'nonce'),
      secret_shares: elsewhere(CEREMONIES, 'secret_shares'),
      secret_threshold: elsewhere(CEREMONIES, 'secret_threshold'),
      pgp_keys: elsewhere(CEREMONIES, 'encrypted to the holders’ PGP keys'),
      backup: elsewhere(CEREMONIES, 'backup: true'),
      require_verification: elsewhere(CEREMONIES, 'require_verification: true'),
      encoded_token: elsewhere(CEREMONIES, 'encoded_token'),
    },
  },
  replication: {
    routes: [
      ...KINDS.map((kind) => `/sys/replication/${kind}`)
        .concat('/sys/replication')
        .flatMap((base) => [
          ...['enable', 'secondary-token', 'revoke-secondary'].map(
            (name) => `POST ${base}/primary/${name}`,
          ),
          ...['enable', 'promote', 'disable', 'update-primary'].map(
            (name) => `POST ${base}/secondary/${name}`,
          ),
        ]),
      ...['operation-token/delete', 'reindex', 'recover', 'merkle-check'].map(
        (name) => `POST /sys/replication/dr/secondary/${name}`,
      ),
      'POST /sys/replication/reindex',
    ],
    least: { id: 'two', token: 'none' },
    fields: {
      primary_cluster_addr: elsewhere(ADDRESSES, 'primary_cluster_addr'),
      id: elsewhere(ADDRESSES, 'id:'),
      ttl: elsewhere(`${PROCESSES}/clusters/rejoin.integration.test.ts`, "ttl: '1s'"),
      secondary_public_key: elsewhere(
        'src/replication/role-table.integration.test.ts',
        'secondary_public_key',
      ),
      token: elsewhere(ADDRESSES, 'token:'),
      primary_api_addr: elsewhere(ADDRESSES, 'primary_api_addr'),
      ca_file: elsewhere(ADDRESSES, 'ca_file'),
      ca_path: elsewhere(ADDRESSES, 'ca_path'),
      dr_operation_token: elsewhere(
        'test/dr-caller-table.integration.test.ts',
        'dr_operation_token',
      ),
      force: elsewhere('src/replication/forced-promotion.integration.test.ts', 'force: true'),
      dry_run: elsewhere(
        `${PROCESSES}/clusters/dr-replication.integration.test.ts`,
        'dry_run: true',
      ),
      update_primary_addrs: elsewhere(ADDRESSES, 'update_primary_addrs'),
      diff: elsewhere(`${PROCESSES}/dr-operation.integration.test.ts`, 'diff: true'),
      skip_flush: elsewhere('libs/storage/src/merkle/merkle-tree.property.test.ts', 'save()'),
    },
  },
  upgrade: {
    routes: ['POST /sys/upgrade'],
    fields: {
      after: elsewhere('src/upgrades/upgrades.integration.test.ts', 'after'),
    },
  },
  'paths filters': {
    routes: ['paths-filter', 'mount-filter'].flatMap((name) =>
      ['performance/primary', ...(name === 'paths-filter' ? ['primary'] : [])].map(
        (base) => `POST /sys/replication/${base}/${name}/{id}`,
      ),
    ),
    fields: {
      mode: elsewhere(`${PROCESSES}/clusters/paths-filters.integration.test.ts`, 'mode'),
      paths: elsewhere(`${PROCESSES}/clusters/paths-filters.integration.test.ts`, 'paths'),
    },
  },
};
