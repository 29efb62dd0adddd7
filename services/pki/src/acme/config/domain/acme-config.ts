/** The ACME configuration of a mount (reference §7.7). */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { parseIpAddress, parseIpRange } from '@keelson/x509';
import { Type } from 'typebox';

export const EAB_POLICIES = ['not-required', 'new-account-required', 'always-required'] as const;
export const eabPolicyShape = Type.Enum(EAB_POLICIES);
export type EabPolicy = Shaped<typeof eabPolicyShape>;

export const acmeConfigShape = Type.Object({
  enabled: Type.Boolean(),
  /** Names or ids, or `*` alone. */
  allowedIssuers: Type.Array(Type.String()),
  allowedRoles: Type.Array(Type.String()),
  allowRoleExtKeyUsage: Type.Boolean(),
  /** As written; `parseDefaultPolicy` parses it. */
  defaultDirectoryPolicy: Type.String(),
  /** "address:port"; "" means the system's resolver. */
  dnsResolver: Type.String(),
  eabPolicy: eabPolicyShape,
  maxTtlSeconds: Type.Number(),
  /** Addresses or CIDR ranges. */
  challengePermittedIpRanges: Type.Array(Type.String()),
  challengeExcludedIpRanges: Type.Array(Type.String()),
});
export type AcmeConfig = Shaped<typeof acmeConfigShape>;

export const DEFAULT_ACME_CONFIG: AcmeConfig = {
  enabled: false,
  allowedIssuers: ['*'],
  allowedRoles: ['*'],
  allowRoleExtKeyUsage: false,
  defaultDirectoryPolicy: 'sign-verbatim',
  dnsResolver: '',
  eabPolicy: 'not-required',
  maxTtlSeconds: 90 * 24 * 3600,
  challengePermittedIpRanges: [],
  challengeExcludedIpRanges: [],
};

/** Policy of directories without a role in their path. */
export type DefaultPolicy =
  | { readonly kind: 'forbid' }
  | { readonly kind: 'sign-verbatim' }
  | { readonly kind: 'role'; readonly role: string }
  | { readonly kind: 'external-policy'; readonly policy: string };

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @throws KeelsonError `request.invalid` */
export const parseDefaultPolicy = (text: string): DefaultPolicy => {
  if (text === 'forbid') return { kind: 'forbid' };
  if (text === 'sign-verbatim') return { kind: 'sign-verbatim' };
  if (text === 'external-policy') return { kind: 'external-policy', policy: '' };
  const [kind, ...rest] = text.split(':');
  const name = rest.join(':');
  if (kind === 'role' && name !== '') return { kind: 'role', role: name };
  if (kind === 'external-policy' && name !== '') return { kind: 'external-policy', policy: name };
  return refuse(
    `default_directory_policy must be "forbid", "sign-verbatim", "role:<role name>" or "external-policy[:<policy>]", not "${text}"`,
  );
};

const checkList = (field: string, what: string, values: readonly string[]): void => {
  if (values.length === 0)
    refuse(
      `${field} must take a non-zero length value; specify "*" as the value to allow anything or specify enabled=false to disable ACME entirely`,
    );
  const star = values.indexOf('*');
  if (star >= 0 && values.length > 1)
    refuse(`cannot use '*' as ${what} name at index ${star} together with other names`);
};

const RESOLVER = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/;

const checkResolver = (resolver: string): void => {
  if (resolver === '') return;
  const [, inBrackets, plain, port = ''] = RESOLVER.exec(resolver) ?? [];
  const isAddress = parseIpAddress(inBrackets ?? plain ?? '') !== undefined;
  if (!isAddress || Number(port) < 1 || Number(port) > 65_535)
    refuse(`failed to parse DNS resolver address: "${resolver}" is not <IP address>:<port>`);
};

const checkRanges = (ranges: readonly string[]): void => {
  for (const range of ranges)
    if (parseIpAddress(range) === undefined && parseIpRange(range) === undefined)
      refuse(`invalid CIDR or IP address: "${range}"`);
};

export const allowsAll = (names: readonly string[]): boolean => names.includes('*');

/**
 * Refuses a configuration that contradicts itself. References to other records are checked in the operations.
 * @throws KeelsonError `request.invalid`
 */
export const checkAcmeConfig = (config: AcmeConfig): AcmeConfig => {
  checkList('allowed_roles', 'role', config.allowedRoles);
  checkList('allowed_issuers', 'issuer', config.allowedIssuers);
  checkResolver(config.dnsResolver);
  checkRanges([...config.challengePermittedIpRanges, ...config.challengeExcludedIpRanges]);
  if (config.maxTtlSeconds <= 0) refuse('max_ttl must be greater than zero');
  const policy = parseDefaultPolicy(config.defaultDirectoryPolicy);
  if (
    policy.kind === 'role' &&
    !allowsAll(config.allowedRoles) &&
    !config.allowedRoles.includes(policy.role)
  )
    refuse(
      `default directory policy ${policy.role} was not specified in allowed_roles: ${config.allowedRoles.join(', ')}`,
    );
  return config;
};

/** @throws KeelsonError `request.invalid` */
export const requireEabPolicy = (text: string): EabPolicy =>
  EAB_POLICIES.find((policy) => policy === text) ??
  refuse(`invalid eab_policy "${text}"; expected one of ${EAB_POLICIES.join(', ')}`);
