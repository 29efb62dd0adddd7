/** Every parameter that a body below `/v1/<mount>` may have, and what it does. */
import { expect } from 'vitest';
import {
  type Effect,
  elsewhere,
  type FieldGroup,
  kept,
  made,
  madeWithout,
  refused,
  warned,
} from './field-effects.ts';

const ACME = 'src/acme/directories/directories.integration.test.ts';
const ACME_TIDY = 'src/acme/tidy.integration.test.ts';
const AUTHORITIES = 'src/issuers/intermediates.integration.test.ts';
const CLUSTERS = 'src/clusters/clusters.integration.test.ts';
const CRL = 'src/crl/crl.integration.test.ts';
const DETAILS = 'src/issuing/issuing-details.integration.test.ts';
const EST = 'src/est/est.integration.test.ts';
const ISSUERS = 'src/issuers/issuers.integration.test.ts';
const KEY_STORES = 'src/issuing/key-stores.integration.test.ts';
const OCSP = 'src/ocsp/ocsp.integration.test.ts';
const PARAMETERS = 'src/issuing/issuing-parameters.integration.test.ts';
const POLICY = 'src/external-policy/external-policy.integration.test.ts';
const POLICY_PROTOCOL = 'src/external-policy/policy-protocol.integration.test.ts';
const REVOCATION = 'src/revocation/revocation.integration.test.ts';
const ROLES = 'src/roles/roles.integration.test.ts';
const TIDY = 'src/tidy/tidy.integration.test.ts';

const all = (names: readonly string[], effect: Effect): Readonly<Record<string, Effect>> =>
  Object.fromEntries(names.map((name) => [name, effect]));

const NAMES = {
  common_name: made('other.example.com', /CN = other\.example\.com/),
  alt_names: made('c.example.com', /DNS:c\.example\.com/),
  ip_sans: made('10.0.0.9', /IP Address:10\.0\.0\.9/),
  uri_sans: made('https://a.example.com/x', /URI:https:\/\/a\.example\.com\/x/),
  other_sans: made('1.2.3;utf8:hello', /othername: 1\.2\.3/),
  serial_number: made('s-17', /serialNumber = s-17/),
  exclude_cn_from_sans: madeWithout(true, /DNS:a\.example\.com/),
};

const PACKAGING = all(['format', 'password', 'friendly_name'], elsewhere(KEY_STORES));

const LIFETIME = {
  ttl: made('600s', /lifetime 630 s/),
  not_after: elsewhere(DETAILS),
  ...PACKAGING,
};

const LEAF = {
  ...LIFETIME,
  not_before: elsewhere(DETAILS),
  remove_roots_from_chain: elsewhere(PARAMETERS),
  user_ids: made('user-17', /UID = user-17/),
  ...all(['metadata', 'cert_metadata'], elsewhere(DETAILS)),
};

const SUBJECT = {
  ...NAMES,
  ou: made('unit', /OU = unit/),
  organization: made('organization', /O = organization/),
  country: made('DE', /C = DE/),
  locality: made('locality', /L = locality/),
  province: made('province', /ST = province/),
  street_address: made('street', /street = street/),
  postal_code: made('12345', /postalCode = 12345/),
};

const LIMITS = {
  max_path_length: made(2, /pathlen:2/),
  ext_key_usage: made('TimeStamping', /Time Stamping/),
  ext_key_usage_oids: made('1.2.3.4', /1\.2\.3\.4/),
  policy_identifiers: made('1.2.3.5', /Policy: 1\.2\.3\.5/),
  permitted_dns_domains: made('in.example', /Permitted:\s+DNS:in\.example/),
  excluded_dns_domains: made('in.example', /Excluded:\s+DNS:in\.example/),
  permitted_ip_ranges: made('10.0.0.0/8', /Permitted:\s+IP:10\.0\.0\.0\/255\.0\.0\.0/),
  excluded_ip_ranges: made('10.0.0.0/8', /Excluded:\s+IP:10\.0\.0\.0\/255\.0\.0\.0/),
  permitted_email_addresses: made('in.example', /Permitted:\s+email:in\.example/),
  excluded_email_addresses: made('in.example', /Excluded:\s+email:in\.example/),
  permitted_uri_domains: made('in.example', /Permitted:\s+URI:in\.example/),
  excluded_uri_domains: made('in.example', /Excluded:\s+URI:in\.example/),
};

const AUTHORITY = {
  ...SUBJECT,
  ...LIMITS,
  key_usage: made('DigitalSignature', /Digital Signature/),
};

const SCHEME = all(['signature_bits', 'use_pss'], elsewhere(PARAMETERS));

const NEW_KEY = {
  key_name: made('key-17', /"key_name":"key-17"/),
  key_ref: elsewhere(ISSUERS),
  key_type: made('ed25519', /ED25519/),
  key_bits: made(384, /P-384/),
  ...all(['signature_bits', 'use_pss'], elsewhere(AUTHORITIES)),
};

const TIDYING = {
  ...all(
    [
      'tidy_cert_store',
      'tidy_revoked_certs',
      'tidy_revoked_cert_issuer_associations',
      'tidy_expired_issuers',
      'tidy_cert_metadata',
    ],
    kept(true, TIDY),
  ),
  tidy_acme: kept(true, ACME_TIDY),
  ...all(['tidy_revocation_queue', 'tidy_cross_cluster_revoked_certs'], kept(true, CLUSTERS)),
  ...all(
    ['tidy_move_legacy_ca_bundle', 'tidy_cmpv2_nonce_store', 'tidy_invalid_certs'],
    warned(true),
  ),
  tidy_revocation_list: elsewhere(TIDY),
  ...all(['safety_buffer', 'issuer_safety_buffer', 'revoked_safety_buffer'], kept(7200, TIDY)),
  acme_account_safety_buffer: kept(7200, ACME_TIDY),
  revocation_queue_safety_buffer: kept(7200, CLUSTERS),
  pause_duration: kept('500ms', TIDY),
  page_size: kept(7, TIDY),
};

const URLS = {
  ...all(['issuing_certificates', 'ocsp_servers'], kept(['http://a.example.com/x'], ISSUERS)),
  crl_distribution_points: kept(['http://a.example.com/x'], AUTHORITIES),
  delta_crl_distribution_points: kept(['http://a.example.com/x'], CRL),
};

export const FIELD_GROUPS: Readonly<Record<string, FieldGroup>> = {
  roles: {
    paths: ['roles/{name}'],
    fields: {
      issuer_ref: kept('first', PARAMETERS),
      ...all(['ttl', 'max_ttl'], kept('3600s', ROLES, { shown: '1h' })),
      ...all(
        [
          'allow_localhost',
          'allow_wildcard_certificates',
          'enforce_hostnames',
          'allow_ip_sans',
          'server_flag',
          'client_flag',
          'use_csr_common_name',
          'use_csr_sans',
          'require_cn',
        ],
        kept(false, ROLES),
      ),
      ...all(
        [
          'allowed_domains_template',
          'allow_bare_domains',
          'allow_subdomains',
          'allow_glob_domains',
          'allow_any_name',
          'allowed_uri_sans_template',
          'code_signing_flag',
          'email_protection_flag',
          'use_pss',
          'generate_lease',
          'no_store',
          'no_store_metadata',
          'basic_constraints_valid_for_non_ca',
        ],
        kept(true, ROLES),
      ),
      ...all(
        [
          'allowed_domains',
          'allowed_uri_sans',
          'allowed_serial_numbers',
          'allowed_user_ids',
          'ou',
          'organization',
          'locality',
          'province',
          'street_address',
          'postal_code',
        ],
        kept(['example'], ROLES),
      ),
      allowed_ip_sans_cidr: kept(['10.0.0.0/8'], ROLES),
      allowed_other_sans: kept(['1.2.3;utf8:*'], ROLES),
      serial_number_source: kept('json', ROLES),
      key_type: kept('ed25519', ROLES, { shown: 'ed25519' }),
      key_bits: kept(4096, ROLES),
      signature_bits: kept(512, ROLES),
      key_usage: kept(['DigitalSignature'], ROLES),
      ext_key_usage: kept(['TimeStamping'], ROLES),
      ext_key_usage_oids: kept(['1.2.3'], ROLES),
      country: kept(['DE'], ROLES),
      cn_validations: kept(['disabled'], ROLES),
      policy_identifiers: kept(['1.2.3'], ROLES),
      not_before_duration: kept(60, ROLES),
      not_after: kept('2030-01-01T00:00:00Z', ROLES),
      not_before_bound: kept('forbid', DETAILS),
      not_after_bound: kept('forbid', DETAILS),
    },
  },
  issuers: {
    paths: ['issuer/{issuer_ref}'],
    fields: {
      issuer_name: kept('another', ISSUERS),
      leaf_not_after_behavior: kept('permit', DETAILS),
      manual_chain: kept(['self'], ISSUERS, { shown: expect.any(Array) }),
      usage: kept('read-only', ISSUERS),
      revocation_signature_algorithm: elsewhere(ISSUERS),
      ...URLS,
      enable_aia_url_templating: kept(true, ISSUERS, {
        additional: { ocsp_servers: 'http://a.example.com/ocsp' },
      }),
      disable_path_length_checks: kept(true, ISSUERS),
      disable_critical_extension_checks: kept(true, AUTHORITIES),
      disable_name_checks: kept(true, DETAILS),
      disable_name_constraint_checks: kept(true, AUTHORITIES),
    },
  },
  'default issuer': {
    paths: ['config/issuers', 'root/replace'],
    fields: {
      default: elsewhere(ISSUERS),
      default_follows_latest_issuer: kept(true, ISSUERS, { additional: { default: 'first' } }),
    },
  },
  'default key': {
    paths: ['config/keys'],
    fields: { default: elsewhere(ISSUERS) },
  },
  keys: {
    paths: ['key/{key_ref}'],
    fields: { key_name: kept('another', ISSUERS) },
  },
  URLs: {
    paths: ['config/urls'],
    fields: {
      ...URLS,
      enable_templating: kept(true, ISSUERS),
    },
  },
  'path of the cluster': {
    paths: ['config/cluster'],
    fields: all(['path', 'aia_path'], kept('https://b.example.com/v1/pki', ISSUERS)),
  },
  'revocation lists': {
    paths: ['config/crl'],
    fields: {
      ...all(['expiry', 'auto_rebuild_grace_period', 'delta_rebuild_interval'], kept('11h', CRL)),
      disable: kept(true, CRL),
      ocsp_disable: kept(true, OCSP),
      ocsp_expiry: kept('11h', OCSP),
      auto_rebuild: kept(true, CRL),
      enable_delta: kept(true, CRL, { additional: { auto_rebuild: true } }),
      max_crl_entries: kept(17, CRL),
      allow_expired_cert_revocation: kept(true, REVOCATION),
      ...all(['cross_cluster_revocation', 'unified_crl'], kept(true, CLUSTERS)),
      unified_crl_on_existing_paths: kept(true, CLUSTERS, { additional: { unified_crl: true } }),
    },
  },
  'automatic tidying': {
    paths: ['config/auto-tidy', 'tidy'],
    fields: {
      ...TIDYING,
      enabled: kept(true, TIDY, { additional: { tidy_cert_store: true } }),
      interval_duration: kept(7200, TIDY),
      maintain_stored_certificate_counts: kept(true, TIDY),
      publish_stored_certificate_count_metrics: warned(true, {
        maintain_stored_certificate_counts: true,
      }),
      min_startup_backoff_duration: kept(17, TIDY),
      max_startup_backoff_duration: kept(1700, TIDY),
    },
  },
  ACME: {
    paths: ['config/acme'],
    fields: {
      enabled: kept(true, ACME),
      allowed_issuers: kept(['default'], ACME),
      allowed_roles: kept(['any'], ACME, { additional: { default_directory_policy: 'role:any' } }),
      allow_role_ext_key_usage: kept(true, ACME),
      default_directory_policy: kept('forbid', ACME),
      dns_resolver: kept('127.0.0.1:5353', ACME),
      eab_policy: kept('always-required', 'src/acme/accounts/accounts.integration.test.ts'),
      max_ttl: kept(3600, ACME),
      ...all(
        ['challenge_permitted_ip_ranges', 'challenge_excluded_ip_ranges'],
        kept(['10.0.0.0/8'], ACME),
      ),
    },
  },
  EST: {
    paths: ['config/est'],
    fields: {
      enabled: kept(true, EST),
      default_mount: kept(true, EST, { additional: { default_path_policy: 'role:any' } }),
      default_path_policy: kept('role:any', EST),
      label_to_path_policy: kept({ label: 'role:any' }, EST),
      authenticators: kept(
        { cert: { accessor: '', cert_role: '' }, userpass: { accessor: '' } },
        EST,
      ),
      enable_sentinel_parsing: refused(true),
      audit_fields: kept(['csr'], EST),
    },
  },
  'external policy': {
    paths: ['config/external-policy'],
    fields: {
      enabled: elsewhere(POLICY),
      external_service_url: kept('https://a.example.com/', POLICY_PROTOCOL),
      timeout: kept('17s', POLICY, { shown: 17_000_000_000 }),
      ...all(
        ['trusted_ca', 'trusted_leaf_certificate_bundle', 'vault_client_cert_bundle'],
        elsewhere(POLICY_PROTOCOL),
      ),
      ...all(['entity_jmespath', 'group_jmespath'], kept('@', POLICY_PROTOCOL)),
    },
  },
  issue: {
    paths: ['issue/{name}', 'issuer/{issuer_ref}/issue/{name}'],
    fields: {
      ...NAMES,
      ...LEAF,
      private_key_format: made('pkcs8', /BEGIN PRIVATE KEY/),
      key_type: made('ed25519', /ED25519/),
      key_bits: made(384, /P-384/),
    },
  },
  sign: {
    paths: ['sign/{name}', 'issuer/{issuer_ref}/sign/{name}'],
    fields: { ...NAMES, ...LEAF, csr: elsewhere(PARAMETERS) },
  },
  'sign verbatim': {
    paths: ['', 'issuer/{issuer_ref}/'].flatMap((before) => [
      `${before}sign-verbatim`,
      `${before}sign-verbatim/{name}`,
    ]),
    fields: {
      name: elsewhere(PARAMETERS),
      ...LEAF,
      csr: elsewhere(PARAMETERS),
      key_usage: made('ContentCommitment', /Non Repudiation/),
      ext_key_usage: made('TimeStamping', /Time Stamping/),
      ext_key_usage_oids: made('1.2.3.4', /1\.2\.3\.4/),
      ...SCHEME,
      enforce_leaf_not_after_behavior: elsewhere(DETAILS),
    },
  },
  roots: {
    paths: ['root/generate/{type}', 'issuers/generate/root/{type}', 'root/rotate/{type}'],
    fields: {
      ...AUTHORITY,
      ...NEW_KEY,
      issuer_name: made('issuer-17', /"issuer_name":"issuer-17"/),
      ...LIFETIME,
      not_before_duration: made(3600, /lifetime 2768400 s/),
      private_key_format: elsewhere(ISSUERS),
    },
  },
  'requests for intermediates': {
    paths: [
      'intermediate/generate/{type}',
      'issuers/generate/intermediate/{type}',
      'intermediate/cross-sign',
    ],
    fields: {
      ...SUBJECT,
      ...LIMITS,
      ...all(['ttl', 'not_before_duration'], refused(3600)),
      not_after: refused('2030-01-01T00:00:00Z'),
      ...NEW_KEY,
      key_name: elsewhere(ISSUERS),
      add_basic_constraints: made(true, /CA:TRUE/),
      key_usage: made('DigitalSignature', /Digital Signature/),
      format: elsewhere(AUTHORITIES),
      private_key_format: elsewhere(AUTHORITIES),
    },
  },
  intermediates: {
    paths: ['root/sign-intermediate', 'issuer/{issuer_ref}/sign-intermediate'],
    fields: {
      ...AUTHORITY,
      ...LIFETIME,
      ...SCHEME,
      csr: elsewhere(PARAMETERS),
      use_csr_values: elsewhere(AUTHORITIES),
      skid: made('01:02:03', /Subject Key Identifier:\s+01:02:03\n/),
      not_before_duration: elsewhere(PARAMETERS),
      enforce_leaf_not_after_behavior: elsewhere(AUTHORITIES),
    },
  },
  'self-issued certificates': {
    paths: ['root/sign-self-issued', 'issuer/{issuer_ref}/sign-self-issued'],
    fields: all(['certificate', 'require_matching_certificate_algorithms'], elsewhere(AUTHORITIES)),
  },
  imports: {
    paths: [
      'config/ca',
      'issuers/import/bundle',
      'issuers/import/cert',
      'intermediate/set-signed',
      'keys/import',
    ],
    fields: {
      ...all(['pem_bundle', 'key_name'], elsewhere(ISSUERS)),
      certificate: elsewhere(AUTHORITIES),
    },
  },
  'accounts of ACME': {
    paths: ['acme/mgmt/account/keyid/{keyid}'],
    fields: { status: elsewhere('src/acme/management/account-management.integration.test.ts') },
  },
  'new keys': {
    paths: ['keys/generate/{type}'],
    triedAt: 'keys/generate/exported',
    fields: {
      key_name: made('key-17', /"key_name":"key-17"/),
      key_type: made('ed25519', /ED25519/),
      key_bits: made(384, /P-384/),
    },
  },
  revocation: {
    paths: ['revoke', 'revoke-with-key', 'issuer/{issuer_ref}/revoke', 'batch/certs'],
    fields: all(
      ['serial_number', 'certificate', 'private_key', 'serial_numbers', 'reason'],
      elsewhere(REVOCATION),
    ),
  },
  'signing of lists': {
    paths: ['issuer/{issuer_ref}/resign-crls', 'issuer/{issuer_ref}/sign-revocation-list'],
    fields: all(
      ['crl_number', 'delta_crl_base_number', 'next_update', 'format', 'crls'],
      elsewhere(CRL),
    ),
  },
  'issuing under an external policy': {
    paths: ['', 'issuer/{issuer_ref}/'].flatMap((before) =>
      ['issue', 'sign', 'sign-intermediate'].flatMap((name) => [
        `${before}external-policy/${name}`,
        `${before}external-policy/${name}/{policy}`,
      ]),
    ),
    fields: {
      ...all(['policy', 'csr'], elsewhere(POLICY_PROTOCOL)),
      ...all(
        ['format', 'private_key_format', 'remove_roots_from_chain', 'key_type', 'key_bits'],
        elsewhere(POLICY),
      ),
    },
  },
};
