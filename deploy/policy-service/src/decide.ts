/** Decides about one request by the rules. */
import { isIP } from 'node:net';
import {
  ATTRIBUTE,
  attributeValues,
  basicConstraints,
  type CertificateFields,
  type CsrFields,
  createCertificate,
  decodePem,
  EXTENDED_KEY_USAGE,
  EXTENSION,
  encodeName,
  encodePem,
  extendedKeyUsage,
  findExtension,
  type GeneralName,
  type KeyUsage,
  keyIdentifierOf,
  keyUsage,
  parseCsr,
  parseGeneralNames,
  parseName,
  randomSerialNumber,
  type Signer,
  subjectAltName,
  subjectKeyIdentifier,
  toDistinguishedName,
} from '@keelson/x509';
import type { Decision, Question } from './question.ts';
import type { PolicyRules, Rules } from './rules.ts';

/** The reason for a refusal, shown to the requester. */
export class Refusal extends Error {}

const listOf = (value: string | readonly string[] | undefined): readonly string[] =>
  (typeof value === 'string' ? value.split(',') : (value ?? []))
    .map((name) => name.trim())
    .filter((name) => name !== '');

const readCsr = (pem: string): CsrFields => {
  const [block] = decodePem(pem);
  if (block === undefined) throw new Refusal('the request has no CSR');
  return parseCsr(block.der);
};

/** Names in the CSR and in the request. */
const namesAskedFor = (
  { user_request_key_values: values }: Question,
  csr: CsrFields,
): readonly string[] => {
  const extension = findExtension(csr.extensions, EXTENSION.subjectAltName);
  const inCsr = extension === undefined ? [] : parseGeneralNames(extension.value);
  const others = inCsr.filter(({ kind }) => kind !== 'dns' && kind !== 'ip');
  if (others.length > 0) throw new Refusal('only host names and addresses are issued for');
  return [
    ...new Set([
      ...attributeValues(parseName(csr.subject), ATTRIBUTE.commonName),
      ...inCsr.flatMap((name) => ('value' in name ? [name.value] : [])),
      ...listOf(values.common_name),
      ...listOf(values.alt_names),
      ...listOf(values.ip_sans),
    ]),
  ];
};

const matches = (pattern: string, name: string): boolean => {
  const [start = '', end] = pattern.toLowerCase().split('*', 2);
  const text = name.toLowerCase();
  if (end === undefined) return text === start;
  return text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end);
};

const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

const secondsOf = (ttl: string | number | undefined): number => {
  if (ttl === undefined || ttl === '') return 0;
  const [, amount, unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(String(ttl)) ?? [];
  if (amount === undefined) throw new Refusal('the lifetime asked for cannot be read');
  return Number(amount) * (UNITS[unit] ?? 1);
};

const toGeneralName = (value: string): GeneralName =>
  isIP(value) === 0 ? { kind: 'dns', value } : { kind: 'ip', value };

const templateOf = (
  policy: PolicyRules,
  question: Question,
  csr: CsrFields,
  nowMs: number,
): CertificateFields => {
  const isIntermediate = question.vault_request_values.issuance_mode === 'ica';
  const names = namesAskedFor(question, csr);
  const [commonName = ''] = names;
  if (commonName === '') throw new Refusal('no name is asked for');
  const foreign = names.find((name) => !policy.allowed_names.some((rule) => matches(rule, name)));
  if (foreign !== undefined) throw new Refusal(`${foreign} is not allowed by this policy`);
  const ttlSeconds = secondsOf(question.user_request_key_values.ttl) || policy.ttl_seconds;
  if (ttlSeconds > policy.max_ttl_seconds)
    throw new Refusal(
      `a lifetime of ${ttlSeconds}s is over the ${policy.max_ttl_seconds}s allowed`,
    );
  const { organization = [], path_length: pathLength } = policy;
  const subject = encodeName(toDistinguishedName({ commonName, organization }));
  const usages = (policy.key_usages ?? ['DigitalSignature']) as readonly KeyUsage[];
  const extended = (policy.extended_key_usages ?? ['ServerAuth']).map(
    (name) => EXTENDED_KEY_USAGE[name as keyof typeof EXTENDED_KEY_USAGE],
  );
  return {
    serialNumber: randomSerialNumber(),
    issuer: subject,
    subject,
    notBeforeMs: nowMs - 30_000,
    notAfterMs: nowMs + ttlSeconds * 1000,
    publicKeyDer: csr.publicKeyDer,
    extensions: isIntermediate
      ? [
          basicConstraints({ isCa: true, ...(pathLength !== undefined && { pathLength }) }),
          keyUsage(['CertSign', 'CRLSign']),
          subjectKeyIdentifier(keyIdentifierOf(csr.publicKeyDer)),
        ]
      : [
          keyUsage(usages),
          extendedKeyUsage(extended),
          subjectAltName(names.map(toGeneralName), false),
        ],
  };
};

const policyFor = (rules: Rules, question: Question): PolicyRules => {
  const { policy_name: given = '', issuance_mode: mode } = question.vault_request_values;
  const name = given || rules.default_policy;
  if (name === undefined) throw new Refusal('no policy is named, and there is none for that');
  const policy = Object.hasOwn(rules.policies, name) ? rules.policies[name] : undefined;
  if (policy === undefined) throw new Refusal(`there is no policy ${name}`);
  if (!(policy.modes ?? ['issue', 'sign', 'acme']).includes(mode))
    throw new Refusal(`the policy ${name} is not for requests of the kind ${mode}`);
  return policy;
};

/**
 * @param signer any key: the certificate is a template, its signature is replaced
 */
export const decide = async (
  rules: Rules,
  question: Question,
  signer: Signer,
  nowMs: number,
): Promise<Decision> => {
  const { request_uuid } = question;
  try {
    const policy = policyFor(rules, question);
    const csr = readCsr(question.user_request_key_values.csr);
    const wholeSecondMs = Math.floor(nowMs / 1000) * 1000;
    const template = templateOf(policy, question, csr, wholeSecondMs);
    return {
      request_uuid,
      certificate: encodePem('CERTIFICATE', await createCertificate(template, signer)),
      warnings: policy.warnings ?? [],
      issuer_ref: policy.issuer ?? question.vault_request_values.requested_issuer_id,
      store_certificate: policy.store_certificate ?? false,
      generate_lease: policy.generate_lease ?? false,
    };
  } catch (error) {
    if (error instanceof Refusal) return { request_uuid, error: error.message };
    throw error;
  }
};
