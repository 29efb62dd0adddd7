/** `certs` and `crls`: which certificates sign in, and which no longer do. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { type FieldValues, field, type JsonObject } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { isObjectIdentifier, parseCrl, readPemBlocks, toSerialKey } from '@keelson/x509';
import { namedRoutes } from '../logins/named-routes.ts';
import {
  changedTokenSettings,
  OLDER_TOKEN_FIELDS,
  olderTokenDocument,
  TOKEN_FIELDS,
  tokenSettingsDocument,
} from '../logins/token-fields.ts';
import { certificatesField } from '../providers/provider-fields.ts';
import { revocationListRecords, roleRecords } from './cert-records.ts';
import {
  type CertRole,
  NEW_CERT_ROLE,
  type RevocationList,
  requireSoundRole,
} from './domain/cert-role.ts';

const TAG = 'cert';
const LIST = { maxLength: 16_384 } as const;
const MAX_CRL_LENGTH = 1024 * 1024;
const MAX_REVOKED = 10_000;

const patterns = (of: string) =>
  field.commaList({ description: `Patterns of ${of}, in which * is any text.`, ...LIST });

const refusedFlag = (name: string) =>
  field.bool({
    description: 'Not supported; false is accepted.',
    check: (isOn) =>
      isOn ? `${name} is not supported: revoked certificates are those of crls` : undefined,
  });

const ROLE_FIELDS = {
  certificate: {
    ...certificatesField('certificate'),
    description: 'PEM: authorities whose certificates sign in, or the certificate that signs in.',
  },
  display_name: field.string({ description: 'Name of the logins.', maxLength: 256 }),
  allowed_names: patterns('common names, DNS names and mail addresses'),
  allowed_common_names: patterns('common names'),
  allowed_dns_sans: patterns('DNS names'),
  allowed_email_sans: patterns('mail addresses'),
  allowed_uri_sans: patterns('URIs'),
  allowed_organizational_units: patterns('organizational units'),
  allowed_organizations: patterns('organizations'),
  required_extensions: field.commaList({
    description: 'Extensions that it must have: oid:pattern, or hex:oid:pattern for other values.',
    ...LIST,
    check: (given) =>
      given.every((one) => isObjectIdentifier(one.replace(/^hex:/, '').split(':', 1)[0] ?? ''))
        ? undefined
        : 'required_extensions must be a list of oid:pattern or hex:oid:pattern',
  }),
  allowed_metadata_extensions: field.commaList({
    description: 'Object identifiers of extensions whose values are metadata of the login.',
    ...LIST,
    check: (given) =>
      given.every(isObjectIdentifier)
        ? undefined
        : 'allowed_metadata_extensions must be a list of object identifiers',
  }),
  ocsp_enabled: refusedFlag('ocsp_enabled'),
  ...TOKEN_FIELDS,
  ...OLDER_TOKEN_FIELDS,
} as const;

const changedRole = (role: CertRole, given: FieldValues<typeof ROLE_FIELDS>): CertRole => {
  const list = (now: readonly string[] | undefined, before: readonly string[]) => [
    ...(now ?? before),
  ];
  return {
    certificates: given.certificate || role.certificates,
    displayName: given.display_name ?? role.displayName,
    allowedNames: list(given.allowed_names, role.allowedNames),
    allowedCommonNames: list(given.allowed_common_names, role.allowedCommonNames),
    allowedDnsSans: list(given.allowed_dns_sans, role.allowedDnsSans),
    allowedEmailSans: list(given.allowed_email_sans, role.allowedEmailSans),
    allowedUriSans: list(given.allowed_uri_sans, role.allowedUriSans),
    allowedOrganizationalUnits: list(
      given.allowed_organizational_units,
      role.allowedOrganizationalUnits,
    ),
    allowedOrganizations: list(given.allowed_organizations, role.allowedOrganizations),
    requiredExtensions: list(given.required_extensions, role.requiredExtensions),
    metadataExtensions: list(given.allowed_metadata_extensions, role.metadataExtensions),
    token: changedTokenSettings(role.token, given),
  };
};

const roleDocument = (role: CertRole): JsonObject => ({
  certificate: role.certificates,
  display_name: role.displayName,
  allowed_names: role.allowedNames,
  allowed_common_names: role.allowedCommonNames,
  allowed_dns_sans: role.allowedDnsSans,
  allowed_email_sans: role.allowedEmailSans,
  allowed_uri_sans: role.allowedUriSans,
  allowed_organizational_units: role.allowedOrganizationalUnits,
  allowed_organizations: role.allowedOrganizations,
  required_extensions: role.requiredExtensions,
  allowed_metadata_extensions: role.metadataExtensions,
  ocsp_enabled: false,
  ...tokenSettingsDocument(role.token),
  ...olderTokenDocument(role.token),
});

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const toRevocationList = (pem: string): RevocationList => {
  const [block, ...others] = readPemBlocks(pem);
  if (block?.label !== 'X509 CRL' || others.length > 0)
    return refuse('crl must be one revocation list in PEM');
  const { issuer, entries } = parseCrl(block.der);
  if (entries.length > MAX_REVOKED) refuse(`crl has at most ${MAX_REVOKED} certificates`);
  return {
    issuer: Buffer.from(issuer).toString('base64'),
    serials: entries.map(({ serialNumber }) => toSerialKey(serialNumber)),
  };
};

export const roleRoutes = (store: Store): Route[] => [
  ...namedRoutes({
    path: '/cert/certs',
    tag: TAG,
    noun: 'role',
    deletion: 'tokens of its logins can no longer be renewed',
    store,
    recordsAt: roleRecords,
    fields: ROLE_FIELDS,
    change: (before, given) => requireSoundRole(changedRole(before ?? NEW_CERT_ROLE, given)),
    document: roleDocument,
  }),
  ...namedRoutes({
    path: '/cert/crls',
    tag: TAG,
    noun: 'revocation list',
    deletion: 'certificates that it alone lists sign in again',
    store,
    recordsAt: revocationListRecords,
    fields: {
      crl: field.string({
        description: 'A revocation list in PEM, in place of the one of this name.',
        required: 'missing crl',
        maxLength: MAX_CRL_LENGTH,
      }),
    },
    change: (_, { crl }) => toRevocationList(crl),
    document: ({ serials }) => ({
      serials: Object.fromEntries(serials.map((serial) => [serial, {}])),
    }),
  }),
];
