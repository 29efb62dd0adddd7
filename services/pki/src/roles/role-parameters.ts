/** A role's parameters on the wire: names, kinds, defaults, and their way into a `Role` and back. */
import type { Dialect } from '@keelson/proto/edge/v1/edge';
import { dialectRules, type FieldValues, field, type JsonObject } from '@keelson/secrets-api';
import { DEFAULT_KEY_USAGE, type Role } from './domain/role.ts';

const flag = (value: boolean, description: string) => field.bool({ default: value, description });
const list = (description: string) => field.commaList({ default: [], description });

export const ROLE_FIELDS = {
  issuer_ref: field.string({ default: 'default', description: 'Issuer of the certificates.' }),
  ttl: field.durationSeconds({ default: 0, description: 'Lifetime when none is asked for.' }),
  max_ttl: field.durationSeconds({ default: 0, description: 'Longest lifetime.' }),
  allow_localhost: flag(true, 'Accept localhost.'),
  allowed_domains: list('Domains that the allow_* parameters refer to.'),
  allowed_domains_template: flag(false, 'Fill identity templates in allowed_domains.'),
  allow_bare_domains: flag(false, 'Accept the allowed domains themselves.'),
  allow_subdomains: flag(false, 'Accept names below the allowed domains, wildcards included.'),
  allow_glob_domains: flag(false, 'Let * in allowed domains match any text.'),
  allow_wildcard_certificates: flag(true, 'Accept wildcard names at all.'),
  allow_any_name: flag(false, 'Accept every name.'),
  enforce_hostnames: flag(true, 'Accept only well-formed host names.'),
  allow_ip_sans: flag(true, 'Accept IP addresses.'),
  allowed_ip_sans_cidr: list('Ranges that IP addresses must lie in; empty: any.'),
  allowed_uri_sans: list('Globs of accepted URIs.'),
  allowed_uri_sans_template: flag(false, 'Fill identity templates in allowed_uri_sans.'),
  allowed_other_sans: list('Accepted other names: <oid>;UTF8:<glob>, or *.'),
  allowed_serial_numbers: list('Globs of accepted subject serial numbers.'),
  allowed_user_ids: list('Globs of accepted user ids.'),
  serial_number_source: field.string({
    default: 'json-csr',
    description: 'json-csr: from the request or the CSR; json: from the request only.',
  }),
  server_flag: flag(true, 'For server authentication.'),
  client_flag: flag(true, 'For client authentication.'),
  code_signing_flag: flag(false, 'For code signing.'),
  email_protection_flag: flag(false, 'For e-mail protection.'),
  key_type: field.string({ default: 'rsa', description: 'rsa, ec, ed25519 or any.' }),
  key_bits: field.integer({ default: 0, description: 'Key size; 0: usual size of the type.' }),
  signature_bits: field.integer({ default: 0, description: 'Hash size of RSA signatures.' }),
  use_pss: flag(false, 'Sign with PSS where the issuer has an RSA key.'),
  key_usage: field.commaList({
    description: `Key usages by name; ${DEFAULT_KEY_USAGE.join(', ')} when not given, without those that the type of the key forbids.`,
  }),
  ext_key_usage: list('Extended key usages by name, besides the flags.'),
  ext_key_usage_oids: list('Extended key usages by object identifier.'),
  use_csr_common_name: flag(true, 'Take the common name from a CSR that has one.'),
  use_csr_sans: flag(true, 'Take the alternative names from the CSR.'),
  ou: list('Organizational units of the subject.'),
  organization: list('Organizations of the subject.'),
  country: list('Countries of the subject.'),
  locality: list('Localities of the subject.'),
  province: list('Provinces of the subject.'),
  street_address: list('Street addresses of the subject.'),
  postal_code: list('Postal codes of the subject.'),
  generate_lease: flag(false, 'Put each certificate under a lease.'),
  no_store: flag(false, 'Keep no copy of certificates.'),
  no_store_metadata: flag(false, 'Keep no metadata of certificates.'),
  require_cn: flag(true, 'A common name must be given.'),
  cn_validations: field.commaList({
    default: ['email', 'hostname'],
    description: 'Kinds of common names: email, hostname; or disabled.',
  }),
  policy_identifiers: field.objectList({
    default: [],
    description: 'Certificate policies: identifiers, or objects of `oid`, `cps` and `notice`.',
  }),
  basic_constraints_valid_for_non_ca: flag(false, 'Write basic constraints with CA false.'),
  not_before_duration: field.durationSeconds({
    default: 30,
    description: 'How far the start of validity lies in the past.',
  }),
  not_after: field.string({ default: '', description: 'End of validity of every certificate.' }),
} as const;

export type RoleParameters = FieldValues<typeof ROLE_FIELDS>;

export const toRole = (values: RoleParameters): Role => ({
  issuerRef: values.issuer_ref,
  ttlSeconds: values.ttl,
  maxTtlSeconds: values.max_ttl,
  allowLocalhost: values.allow_localhost,
  allowedDomains: values.allowed_domains,
  allowedDomainsTemplate: values.allowed_domains_template,
  allowBareDomains: values.allow_bare_domains,
  allowSubdomains: values.allow_subdomains,
  allowGlobDomains: values.allow_glob_domains,
  allowWildcardCertificates: values.allow_wildcard_certificates,
  allowAnyName: values.allow_any_name,
  enforceHostnames: values.enforce_hostnames,
  allowIpSans: values.allow_ip_sans,
  allowedIpSansCidr: values.allowed_ip_sans_cidr,
  allowedUriSans: values.allowed_uri_sans,
  allowedUriSansTemplate: values.allowed_uri_sans_template,
  allowedOtherSans: values.allowed_other_sans,
  allowedSerialNumbers: values.allowed_serial_numbers,
  allowedUserIds: values.allowed_user_ids,
  serialNumberSource: values.serial_number_source,
  serverFlag: values.server_flag,
  clientFlag: values.client_flag,
  codeSigningFlag: values.code_signing_flag,
  emailProtectionFlag: values.email_protection_flag,
  keyType: values.key_type,
  keyBits: values.key_bits,
  signatureBits: values.signature_bits,
  usePss: values.use_pss,
  keyUsage: values.key_usage,
  extKeyUsage: values.ext_key_usage,
  extKeyUsageOids: values.ext_key_usage_oids,
  useCsrCommonName: values.use_csr_common_name,
  useCsrSans: values.use_csr_sans,
  ou: values.ou,
  organization: values.organization,
  country: values.country,
  locality: values.locality,
  province: values.province,
  streetAddress: values.street_address,
  postalCode: values.postal_code,
  generateLease: values.generate_lease,
  noStore: values.no_store,
  noStoreMetadata: values.no_store_metadata,
  requireCn: values.require_cn,
  cnValidations: values.cn_validations,
  policyIdentifiers: values.policy_identifiers,
  basicConstraintsValidForNonCa: values.basic_constraints_valid_for_non_ca,
  notBeforeDurationSeconds: values.not_before_duration,
  notAfter: values.not_after,
});

const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Durations carry their unit in the domain and not on the wire. */
const RENAMED: Readonly<Record<string, keyof Role>> = {
  ttl: 'ttlSeconds',
  max_ttl: 'maxTtlSeconds',
  not_before_duration: 'notBeforeDurationSeconds',
};

/** Each parameter's name on the wire, its name in the domain, and its default. */
const PARAMETERS = Object.entries(ROLE_FIELDS).map(
  ([name, parameter]) =>
    [
      name,
      RENAMED[name] ?? (camelCase(name) as keyof Role),
      parameter.read(name, undefined),
    ] as const,
);

/** The parameters of a stored role; one that it does not have is the default. */
export const toRoleParameters = (role: Role): RoleParameters => {
  const parameters: Record<string, unknown> = {};
  for (const [name, member, ownDefault] of PARAMETERS)
    parameters[name] = role[member] ?? ownDefault;
  return parameters as RoleParameters;
};

/** `data` of a role, as the dialect of the request has it. */
export const roleDocument = (role: Role, dialect: Dialect): JsonObject => ({
  ...toRoleParameters(role),
  ttl: dialectRules(dialect).roleLifetime(role.ttlSeconds),
  max_ttl: dialectRules(dialect).roleLifetime(role.maxTtlSeconds),
  key_usage: role.keyUsage ?? DEFAULT_KEY_USAGE,
  allow_token_displayname: false,
});
