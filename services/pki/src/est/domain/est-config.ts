/** How a mount serves EST (RFC 7030; reference §9.1). */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** The policy of a path: the CSR alone decides, or a role does. */
export type PathPolicy =
  | { readonly kind: 'sign-verbatim' }
  | { readonly kind: 'role'; readonly role: string };

export const certificateAuthenticatorShape = Type.Object({
  /**
   * Ids or names of the issuers whose certificates are accepted; empty means all issuers with a key in this
   * mount, or those that the auth method knows.
   */
  issuers: Type.Array(Type.String()),
  /** Accessor of the mount of the method cert that says who may enroll; "" for none. */
  accessor: Type.String(),
  /** Role of that mount; "" for any. */
  role: Type.String(),
});
export type CertificateAuthenticator = Shaped<typeof certificateAuthenticatorShape>;

export const AUDIT_FIELDS = [
  'csr',
  'common_name',
  'alt_names',
  'ip_sans',
  'uri_sans',
  'other_sans',
  'serial_number',
  'key_type',
  'key_bits',
] as const;

export const auditFieldShape = Type.Enum(AUDIT_FIELDS);
export type AuditField = Shaped<typeof auditFieldShape>;

export const estConfigShape = Type.Object({
  enabled: Type.Boolean(),
  /** Answers /.well-known/est without a label. */
  defaultMount: Type.Boolean(),
  /** Empty if there is none. */
  defaultPathPolicy: Type.String(),
  labelToPathPolicy: Type.Record(Type.String(), Type.String()),
  certificate: Type.Optional(certificateAuthenticatorShape),
  /** Whether the password of HTTP Basic is a token. */
  acceptsBasic: Type.Boolean(),
  enableSentinelParsing: Type.Boolean(),
  auditFields: Type.Array(auditFieldShape),
  /** 0 if it was never set. */
  updatedAtMs: Type.Number(),
});
export type EstConfig = Shaped<typeof estConfigShape>;

export const NO_EST: EstConfig = {
  enabled: false,
  defaultMount: false,
  defaultPathPolicy: '',
  labelToPathPolicy: {},
  certificate: undefined,
  acceptsBasic: false,
  enableSentinelParsing: false,
  auditFields: ['common_name', 'alt_names', 'ip_sans', 'uri_sans'],
  updatedAtMs: 0,
};

export const EST_OPERATIONS = ['cacerts', 'csrattrs', 'simpleenroll', 'simplereenroll'] as const;

/** Operations of RFC 7030 that are not served; no label may have their names (§3.2.2). */
const OTHER_OPERATIONS: readonly string[] = ['fullcmc', 'serverkeygen'];

const MAX_LABELS = 1000;
const LABEL = /^[\w-]{1,128}$/;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @throws KeelsonError `request.invalid` */
export const parsePathPolicy = (text: string): PathPolicy => {
  if (text === 'sign-verbatim') return { kind: 'sign-verbatim' };
  const role = /^role:(.+)$/.exec(text)?.[1];
  return role === undefined
    ? refuse(`unknown path policy "${text}": it must be "sign-verbatim" or "role:<name>"`)
    : { kind: 'role', role };
};

/** Every path policy of a configuration. */
export const pathPoliciesOf = ({
  defaultPathPolicy,
  labelToPathPolicy,
}: EstConfig): readonly PathPolicy[] =>
  [defaultPathPolicy, ...Object.values(labelToPathPolicy)]
    .filter((text) => text !== '')
    .map(parsePathPolicy);

/** @throws KeelsonError `request.invalid` */
export const checkEstConfig = (config: EstConfig): EstConfig => {
  const labels = Object.keys(config.labelToPathPolicy);
  if (labels.length > MAX_LABELS) refuse(`there are more than ${MAX_LABELS} labels`);
  const reserved: readonly string[] = [...EST_OPERATIONS, ...OTHER_OPERATIONS];
  const bad = labels.find((label) => !LABEL.test(label) || reserved.includes(label));
  if (bad !== undefined) refuse(`"${bad}" cannot be a label`);
  if (Object.values(config.labelToPathPolicy).includes('')) refuse('a label has no path policy');
  pathPoliciesOf(config);
  if (config.defaultMount && config.defaultPathPolicy === '')
    refuse('default_path_policy must be set for the default mount');
  return config;
};

/** The refusal of requests to a label, or to none (""), that has no path policy. */
export const noPathPolicy = (label: string): KeelsonError =>
  label === ''
    ? new KeelsonError('pki.est_label_missing')
    : new KeelsonError('pki.est_unknown_label', { label });

/**
 * The policy for requests to a label, or to none ("").
 * @returns undefined where there is no such label, or nothing without one
 */
export const findPathPolicy = (config: EstConfig, label: string): PathPolicy | undefined => {
  if (label === '')
    return config.defaultPathPolicy === '' ? undefined : parsePathPolicy(config.defaultPathPolicy);
  const text = Object.hasOwn(config.labelToPathPolicy, label)
    ? config.labelToPathPolicy[label]
    : undefined;
  return text === undefined ? undefined : parsePathPolicy(text);
};
