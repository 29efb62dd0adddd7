/** Parameters that describe an authority: shared by roots, requests for intermediates and their signing. */
import { type FieldValues, field } from '@keelson/secrets-api';
import type { SubjectAttributes } from '@keelson/x509';
import { parsePolicyIdentifiers } from '../certificates/domain/policy-identifiers.ts';
import { requireExtendedKeyUsages, requireKeyUsages } from '../certificates/domain/usage-names.ts';
import { listField, MAX_LIST_LENGTH, textField } from '../mounts/text-fields.ts';
import {
  type AlternativeNames,
  judgeUnusable,
  type NameRules,
  readAlternativeNames,
  withCommonName,
} from '../names/domain/alternative-names.ts';
import type { CaLimits, CaSubject } from './domain/ca-certificate.ts';

export const SUBJECT_FIELDS = {
  common_name: textField('Common name.'),
  alt_names: listField('Host names and e-mail addresses.'),
  ip_sans: listField('IP addresses.'),
  uri_sans: listField('URIs.'),
  other_sans: listField('Other names: <oid>;UTF8:<value>.'),
  exclude_cn_from_sans: field.bool({
    default: false,
    description: 'Keep the common name out of the alternative names.',
  }),
  ou: listField('Organizational units.'),
  organization: listField('Organizations.'),
  country: listField('Countries.'),
  locality: listField('Localities.'),
  province: listField('Provinces.'),
  street_address: listField('Street addresses.'),
  postal_code: listField('Postal codes.'),
  serial_number: textField("The subject's serial number; not the certificate's."),
};

/** Longer chains than any verifier builds. */
const MAX_PATH_LENGTH = 255;

/** Limits that a signer sets, whatever the CSR asks for. */
export const LIMIT_FIELDS = {
  max_path_length: field.integer({
    default: -1,
    description: 'CAs allowed below this one; -1: no limit except that of the signer.',
    check: (value) =>
      value < -1 || value > MAX_PATH_LENGTH
        ? `max_path_length must be between -1 and ${MAX_PATH_LENGTH}`
        : undefined,
  }),
  permitted_dns_domains: listField('Name constraints.'),
  excluded_dns_domains: listField('Name constraints.'),
  permitted_ip_ranges: listField('Name constraints, CIDR.'),
  excluded_ip_ranges: listField('Name constraints, CIDR.'),
  permitted_email_addresses: listField('Name constraints.'),
  excluded_email_addresses: listField('Name constraints.'),
  permitted_uri_domains: listField('Name constraints.'),
  excluded_uri_domains: listField('Name constraints.'),
  ext_key_usage: listField('Extended key usages, by name, of all certificates below; empty: any.'),
  ext_key_usage_oids: listField('The same by object identifier.'),
  policy_identifiers: field.objectList({
    default: [],
    description: 'Certificate policies: identifiers, or objects of `oid`, `cps` and `notice`.',
    maxLength: MAX_LIST_LENGTH,
  }),
};

/** Parameters of a CA certificate. */
export const CA_SUBJECT_FIELDS = {
  ...SUBJECT_FIELDS,
  ...LIMIT_FIELDS,
  key_usage: listField('DigitalSignature may be added to the usages of every CA.'),
};

export const toAttributes = (values: FieldValues<typeof SUBJECT_FIELDS>): SubjectAttributes => ({
  country: values.country,
  organization: values.organization,
  organizationalUnit: values.ou,
  locality: values.locality,
  province: values.province,
  streetAddress: values.street_address,
  postalCode: values.postal_code,
  commonName: values.common_name,
  serialNumber: values.serial_number,
});

/**
 * Alternative names of an authority, to which no role applies.
 * @returns the names, and warnings
 * @throws KeelsonError `request.invalid` for names that cannot be in a certificate, unless the rules
 *   have them left out
 */
export const toAlternatives = (
  values: FieldValues<typeof SUBJECT_FIELDS>,
  rules: NameRules,
): { readonly alternatives: AlternativeNames; readonly warnings: readonly string[] } => {
  const { names, unusable } = readAlternativeNames(
    {
      altNames: values.alt_names,
      ipSans: values.ip_sans,
      uriSans: values.uri_sans,
      otherSans: values.other_sans,
    },
    false,
  );
  const commonName = values.exclude_cn_from_sans ? '' : values.common_name;
  return {
    alternatives: withCommonName(names, commonName, rules, false),
    warnings: judgeUnusable(unusable, rules),
  };
};

/** @throws KeelsonError `request.invalid` */
export const toCaLimits = (values: FieldValues<typeof LIMIT_FIELDS>): CaLimits => ({
  permitted: {
    dns: values.permitted_dns_domains,
    ipRanges: values.permitted_ip_ranges,
    email: values.permitted_email_addresses,
    uri: values.permitted_uri_domains,
  },
  excluded: {
    dns: values.excluded_dns_domains,
    ipRanges: values.excluded_ip_ranges,
    email: values.excluded_email_addresses,
    uri: values.excluded_uri_domains,
  },
  extendedKeyUsages: requireExtendedKeyUsages(values.ext_key_usage, values.ext_key_usage_oids),
  policies: parsePolicyIdentifiers(values.policy_identifiers),
});

/** @returns undefined if there is no limit */
export const toPathLength = (values: FieldValues<typeof LIMIT_FIELDS>): number | undefined =>
  values.max_path_length < 0 ? undefined : values.max_path_length;

/** @throws KeelsonError `request.invalid` */
export const toCaSubject = (
  values: FieldValues<typeof CA_SUBJECT_FIELDS>,
  rules: NameRules,
): CaSubject => ({
  attributes: toAttributes(values),
  alternatives: toAlternatives(values, rules).alternatives,
  ...toCaLimits(values),
  hasDigitalSignature: requireKeyUsages(values.key_usage).includes('DigitalSignature'),
});

/** Warnings about a CA certificate with these parameters. */
export const caSubjectWarnings = (
  values: FieldValues<typeof CA_SUBJECT_FIELDS>,
  rules: NameRules,
): string[] => [
  ...toAlternatives(values, rules).warnings,
  ...(values.max_path_length === 0
    ? [
        'max path length of the certificate is zero, which does not allow it to sign CA certificates',
      ]
    : []),
  ...requireKeyUsages(values.key_usage)
    .filter((name) => !['DigitalSignature', 'CertSign', 'CRLSign'].includes(name))
    .map((name) => `key usage ${name} was ignored: a CA may only be given DigitalSignature`),
];
