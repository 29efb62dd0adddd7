/** Parameters of the issuing endpoints. */
import { type Fields, field } from '@keelson/secrets-api';
import { PACKAGING_FIELDS } from '../certificates/packaging.ts';
import {
  listField,
  MAX_LIST_LENGTH,
  MAX_TEXT_LENGTH,
  textField,
  timeField,
} from '../mounts/text-fields.ts';
import { DEFAULT_KEY_USAGE } from '../roles/domain/role.ts';

/** It is stored with every certificate. */
const MAX_METADATA_LENGTH = 65_536;

const metadataField = (description: string) =>
  field.string({ default: '', description, maxLength: MAX_METADATA_LENGTH });

export const ROLE_FIELD = { name: textField('Role.') };

const ISSUER_FIELD = {
  issuer_ref: field.string({
    description: 'Id or name of an issuer, or `default`.',
    maxLength: MAX_TEXT_LENGTH,
  }),
};

/**
 * The fields of a path. Only the path chooses the issuer, because policies allow paths: in the body of
 * another path, `issuer_ref` is an unrecognized parameter.
 */
export const fieldsOfPath = <F extends Fields>(path: string, fields: F): F => ({
  ...(path.includes(':issuer_ref') && ISSUER_FIELD),
  ...fields,
});

export const VALIDITY_FIELDS = {
  ttl: field.durationSeconds({ default: 0, description: 'Lifetime.' }),
  not_after: timeField(
    'End of validity, instead of a lifetime, and within the maximum of lifetimes unless the role or the vendor dialect permits more.',
  ),
  ...PACKAGING_FIELDS,
};

export const LIFETIME_FIELDS = {
  ...VALIDITY_FIELDS,
  not_before: timeField('Start of validity, within what the not_before_bound of the role allows.'),
  remove_roots_from_chain: field.bool({
    default: false,
    description: 'Leave self-signed certificates out of ca_chain.',
  }),
  user_ids: listField('User ids of the subject.'),
  metadata: metadataField('Stored with the certificate.'),
  cert_metadata: metadataField('Older name of metadata.'),
};

export const NAME_FIELDS = {
  common_name: textField('Common name.'),
  alt_names: listField('Host names and e-mail addresses.'),
  ip_sans: listField('IP addresses.'),
  uri_sans: listField('URIs.'),
  other_sans: listField('Other names: <oid>;UTF8:<value>.'),
  serial_number: textField("The subject's serial number; not the certificate's."),
  exclude_cn_from_sans: field.bool({
    default: false,
    description: 'Keep the common name out of the alternative names.',
  }),
};

export const ISSUE_FIELDS = {
  ...ROLE_FIELD,
  ...NAME_FIELDS,
  ...LIFETIME_FIELDS,
  private_key_format: field.string({ default: 'der', description: 'der, pem or pkcs8.' }),
  key_type: textField('Type of the key, where the role leaves it open: rsa, ec or ed25519.'),
  key_bits: field.integer({ default: 0, description: 'Its size; 0: usual size of the type.' }),
};

export const CSR_FIELD = { csr: field.string({ default: '', description: 'PEM of the request.' }) };
export const SIGN_FIELDS = { ...ROLE_FIELD, ...NAME_FIELDS, ...LIFETIME_FIELDS, ...CSR_FIELD };

export const SCHEME_FIELDS = {
  signature_bits: field.integer({ default: 0, description: 'Hash size of RSA signatures.' }),
  use_pss: field.bool({ default: false, description: 'PSS where the issuer has an RSA key.' }),
};

export const ENFORCE_FIELD = {
  enforce_leaf_not_after_behavior: field.bool({
    default: false,
    description: "Apply the issuer's leaf_not_after_behavior instead of cutting the lifetime.",
  }),
};

export const VERBATIM_FIELDS = {
  ...ROLE_FIELD,
  ...LIFETIME_FIELDS,
  ...CSR_FIELD,
  key_usage: field.commaList({
    description: `Key usages when the CSR names none; ${DEFAULT_KEY_USAGE.join(', ')} when not given, without those that the type of the key forbids.`,
    maxLength: MAX_LIST_LENGTH,
  }),
  ext_key_usage: listField('Extended key usages when the CSR names none.'),
  ext_key_usage_oids: listField('The same by object identifier.'),
  ...SCHEME_FIELDS,
  ...ENFORCE_FIELD,
};
