/** A role: the rules for certificates issued under its name. Reference §3.1. */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { EXTENDED_KEY_USAGE, keyBits, parseIpRange, toKeyAlgorithm } from '@keelson/x509';
import { Type } from 'typebox';
import { parsePolicyIdentifiers } from '../../certificates/domain/policy-identifiers.ts';
import {
  requireExtendedKeyUsages,
  requireKeyUsages,
  toExtendedKeyUsageOids,
} from '../../certificates/domain/usage-names.ts';
import { NOT_AFTER_BOUNDS, NOT_BEFORE_BOUNDS } from '../../validity/domain/lifetime.ts';
import { checkTemplates } from './name-templates.ts';

export const roleShape = Type.Object({
  issuerRef: Type.String(),
  /** 0 means the mount's default. */
  ttlSeconds: Type.Number(),
  /** 0 means the mount's maximum. */
  maxTtlSeconds: Type.Number(),
  allowLocalhost: Type.Boolean(),
  allowedDomains: Type.Array(Type.String()),
  allowedDomainsTemplate: Type.Boolean(),
  allowBareDomains: Type.Boolean(),
  allowSubdomains: Type.Boolean(),
  allowGlobDomains: Type.Boolean(),
  allowWildcardCertificates: Type.Boolean(),
  allowAnyName: Type.Boolean(),
  enforceHostnames: Type.Boolean(),
  allowIpSans: Type.Boolean(),
  allowedIpSansCidr: Type.Array(Type.String()),
  allowedUriSans: Type.Array(Type.String()),
  allowedUriSansTemplate: Type.Boolean(),
  allowedOtherSans: Type.Array(Type.String()),
  allowedSerialNumbers: Type.Array(Type.String()),
  allowedUserIds: Type.Array(Type.String()),
  serialNumberSource: Type.String(),
  serverFlag: Type.Boolean(),
  clientFlag: Type.Boolean(),
  codeSigningFlag: Type.Boolean(),
  emailProtectionFlag: Type.Boolean(),
  /** rsa, ec, ed25519 or any. */
  keyType: Type.String(),
  /** 0 for ed25519 and any. */
  keyBits: Type.Number(),
  signatureBits: Type.Number(),
  usePss: Type.Boolean(),
  /** Undefined means the default, which depends on the key. */
  keyUsage: Type.Optional(Type.Array(Type.String())),
  extKeyUsage: Type.Array(Type.String()),
  extKeyUsageOids: Type.Array(Type.String()),
  useCsrCommonName: Type.Boolean(),
  useCsrSans: Type.Boolean(),
  ou: Type.Array(Type.String()),
  organization: Type.Array(Type.String()),
  country: Type.Array(Type.String()),
  locality: Type.Array(Type.String()),
  province: Type.Array(Type.String()),
  streetAddress: Type.Array(Type.String()),
  postalCode: Type.Array(Type.String()),
  generateLease: Type.Boolean(),
  noStore: Type.Boolean(),
  noStoreMetadata: Type.Boolean(),
  requireCn: Type.Boolean(),
  cnValidations: Type.Array(Type.String()),
  /** Object identifiers, or JSON objects with `oid`, `cps`, `notice`. */
  policyIdentifiers: Type.Array(Type.String()),
  basicConstraintsValidForNonCa: Type.Boolean(),
  notBeforeDurationSeconds: Type.Number(),
  /** RFC 3339, or "" when lifetimes decide. */
  notAfter: Type.String(),
  /** Whether a request may give its certificate a start; "" leaves it to the dialect. */
  notBeforeBound: Type.String(),
  /** Whether a request may give its certificate an end, or the latest one; "" leaves it to the dialect. */
  notAfterBound: Type.String(),
});
export type Role = Shaped<typeof roleShape>;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const CN_VALIDATIONS = ['email', 'hostname', 'disabled'];

const checkCnValidations = (values: readonly string[]): readonly string[] => {
  const unknown = values.find((value) => !CN_VALIDATIONS.includes(value));
  if (unknown !== undefined)
    refuse(
      `cn_validations value incorrect: unknown type: \`${unknown}\`; valid values are "email", "hostname" or "disabled"`,
    );
  if (values.includes('disabled') && values.length > 1)
    refuse('cn_validations value incorrect: cannot specify `disabled` along with other values');
  return values.length === 0 ? ['email', 'hostname'] : values;
};

const OTHER_SAN_RULE = /^\d+(?:\.\d+)+;\s*utf-?8:/i;

const checkOtherSans = (rules: readonly string[]): void => {
  if (rules.length === 1 && rules[0] === '*') return;
  const bad = rules.find((rule) => !OTHER_SAN_RULE.test(rule));
  if (bad !== undefined) refuse(`error parsing allowed_other_sans: could not parse "${bad}"`);
};

const checkBounds = ({ notBeforeBound, notAfterBound }: Role): void => {
  const isOneOf = (values: readonly string[], value: string): boolean =>
    value === '' || values.includes(value);
  if (!isOneOf(NOT_BEFORE_BOUNDS, notBeforeBound))
    refuse(`not_before_bound: "${notBeforeBound}" is not one of ${NOT_BEFORE_BOUNDS.join(', ')}`);
  if (!isOneOf(NOT_AFTER_BOUNDS, notAfterBound) && Number.isNaN(Date.parse(notAfterBound)))
    refuse(
      `not_after_bound: "${notAfterBound}" is not one of ${NOT_AFTER_BOUNDS.join(', ')} or an RFC 3339 time`,
    );
};

/**
 * A role as stored: checked, with sizes resolved.
 * @returns the role and its warnings
 * @throws KeelsonError `request.invalid`
 */
export const checkRole = (
  role: Role,
  mountMaxTtlSeconds: number,
): { readonly role: Role; readonly warnings: readonly string[] } => {
  const warnings: string[] = [];
  if (role.maxTtlSeconds > 0 && role.ttlSeconds > role.maxTtlSeconds)
    refuse('"ttl" value must be less than "max_ttl" value');
  if (role.ttlSeconds < 0 || role.maxTtlSeconds < 0 || role.notBeforeDurationSeconds < 0)
    refuse('"ttl", "max_ttl" and "not_before_duration" must not be negative');
  if (role.maxTtlSeconds > mountMaxTtlSeconds)
    warnings.push(
      `max_ttl is greater than the mount's maximum; issued certificates are limited to ${mountMaxTtlSeconds} seconds`,
    );
  if (role.ttlSeconds > mountMaxTtlSeconds)
    warnings.push(
      `ttl is greater than the mount's maximum; issued certificates are limited to ${mountMaxTtlSeconds} seconds`,
    );
  const bits = role.keyType === 'any' ? 0 : keyBits(toKeyAlgorithm(role.keyType, role.keyBits));
  if (![0, 256, 384, 512].includes(role.signatureBits))
    refuse(`unsupported hash signature algorithm: ${role.signatureBits}`);
  if (!['json-csr', 'json'].includes(role.serialNumberSource))
    refuse(`unknown serial_number_source "${role.serialNumberSource}"`);
  checkOtherSans(role.allowedOtherSans);
  checkTemplates(role);
  for (const range of role.allowedIpSansCidr)
    if (parseIpRange(range) === undefined)
      refuse(`allowed_ip_sans_cidr: "${range}" is not an IP range`);
  if (role.notAfter !== '' && Number.isNaN(Date.parse(role.notAfter)))
    refuse(`not_after: "${role.notAfter}" is not an RFC 3339 time`);
  checkBounds(role);
  parsePolicyIdentifiers(role.policyIdentifiers);
  requireKeyUsages(role.keyUsage ?? []);
  requireExtendedKeyUsages(role.extKeyUsage, role.extKeyUsageOids);
  if (role.noStore && role.generateLease)
    warnings.push(
      'mutually exclusive values no_store=true and generate_lease=true were both specified; no_store=true takes priority',
    );
  else if (role.generateLease)
    warnings.push(
      'it is encouraged to disable generate_lease and rely on PKI native capabilities when possible; each lease has a cost and revokes its certificate when it ends',
    );
  return {
    role: {
      ...role,
      keyBits: bits,
      generateLease: role.generateLease && !role.noStore,
      cnValidations: checkCnValidations(role.cnValidations),
    },
    warnings,
  };
};

/** The `key_usage` that a role shows where none was given. */
export const DEFAULT_KEY_USAGE = ['DigitalSignature', 'KeyAgreement', 'KeyEncipherment'] as const;

/** Extended key usages of the certificates of a role: flags, names and identifiers together. */
export const extendedKeyUsagesOf = (role: Role): readonly string[] => [
  ...new Set([
    ...(role.serverFlag ? [EXTENDED_KEY_USAGE.ServerAuth] : []),
    ...(role.clientFlag ? [EXTENDED_KEY_USAGE.ClientAuth] : []),
    ...(role.codeSigningFlag ? [EXTENDED_KEY_USAGE.CodeSigning] : []),
    ...(role.emailProtectionFlag ? [EXTENDED_KEY_USAGE.EmailProtection] : []),
    ...toExtendedKeyUsageOids(role.extKeyUsage),
    ...role.extKeyUsageOids,
  ]),
];
