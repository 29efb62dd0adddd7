/** `certs` and `crls`: which certificates sign in, and which no longer do. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { ClientAuthoritiesDefinition } from '@keelson/proto/pki/v1/client_authorities';
import type { RpcService } from '@keelson/rpc';
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
import {
  certificatesComplaint,
  certificatesField,
  MAX_PEM_LENGTH,
  urlComplaint,
} from '../providers/provider-fields.ts';
import { revocationListRecords, roleRecords } from './cert-records.ts';
import {
  type CertRole,
  NEW_CERT_ROLE,
  type OcspSettings,
  type PkiMount,
  type RevocationList,
  requireSoundRole,
} from './domain/cert-role.ts';

export interface RoleRouteParts {
  readonly store: Store;
  readonly pki: RpcService<typeof ClientAuthoritiesDefinition>;
}

const TAG = 'cert';
const LIST = { maxLength: 16_384 } as const;
const MAX_CRL_LENGTH = 1024 * 1024;
const MAX_REVOKED = 10_000;

const patterns = (of: string) =>
  field.commaList({ description: `Patterns of ${of}, in which * is any text.`, ...LIST });

const MAX_OCSP_SERVERS = 8;
const MAX_PKI_MOUNTS = 8;
const MAX_RETRIES = 10;

/** PEM, or its base64, which is how a provider for Terraform hands it over. */
const toPem = (text: string): string =>
  text === '' || text.includes('-----BEGIN') ? text : Buffer.from(text, 'base64').toString();

const OCSP_FIELDS = {
  ocsp_enabled: field.bool({
    description: 'Whether a responder of OCSP is asked if the certificate is revoked.',
  }),
  ocsp_ca_certificates: field.string({
    description:
      'PEM, or its base64: responders, and authorities of responders, that are trusted like the issuer.',
    maxLength: 2 * MAX_PEM_LENGTH,
    check: (text) => certificatesComplaint('ocsp_ca_certificates')(toPem(text)),
  }),
  ocsp_servers_override: field.commaList({
    description: 'URLs of responders, in place of those in the certificate.',
    ...LIST,
    check: (urls) =>
      urls.length > MAX_OCSP_SERVERS
        ? `ocsp_servers_override has at most ${MAX_OCSP_SERVERS} elements`
        : urls.map(urlComplaint('ocsp_servers_override')).find((text) => text !== undefined),
  }),
  ocsp_fail_open: field.bool({
    description: 'Whether a login succeeds when no responder knows the status.',
  }),
  ocsp_query_all_servers: field.bool({
    description: 'Whether all responders are asked, and each must say that it is good.',
  }),
  ocsp_this_update_max_age: field.durationSeconds({
    description: 'Age at which an answer is refused; 0: as the answer says.',
  }),
  ocsp_max_retries: field.integer({
    description: `Further requests to a responder that does not answer, 0 to ${MAX_RETRIES}.`,
    check: (count) =>
      count >= 0 && count <= MAX_RETRIES
        ? undefined
        : `ocsp_max_retries must be an integer from 0 to ${MAX_RETRIES}`,
  }),
} as const;

const changedOcsp = (
  before: OcspSettings,
  given: FieldValues<typeof OCSP_FIELDS>,
): OcspSettings => ({
  isEnabled: given.ocsp_enabled ?? before.isEnabled,
  caCertificates:
    given.ocsp_ca_certificates === undefined
      ? before.caCertificates
      : toPem(given.ocsp_ca_certificates),
  servers: [...(given.ocsp_servers_override ?? before.servers)],
  failsOpen: given.ocsp_fail_open ?? before.failsOpen,
  asksAll: given.ocsp_query_all_servers ?? before.asksAll,
  maxAgeSeconds: given.ocsp_this_update_max_age ?? before.maxAgeSeconds,
  maxRetries: given.ocsp_max_retries ?? before.maxRetries,
});

const ocspDocument = (ocsp: OcspSettings): JsonObject => ({
  ocsp_enabled: ocsp.isEnabled,
  ocsp_ca_certificates: ocsp.caCertificates,
  ocsp_servers_override: ocsp.servers,
  ocsp_fail_open: ocsp.failsOpen,
  ocsp_query_all_servers: ocsp.asksAll,
  ocsp_this_update_max_age: ocsp.maxAgeSeconds,
  ocsp_max_retries: ocsp.maxRetries,
});

const ROLE_FIELDS = {
  certificate: {
    ...certificatesField('certificate'),
    description: 'PEM: authorities whose certificates sign in, or the certificate that signs in.',
  },
  pki_mounts: field.commaList({
    description:
      'Paths of mounts of type pki of this namespace, the certificates of whose issuers sign in until they are revoked there.',
    ...LIST,
    check: (paths) =>
      paths.length > MAX_PKI_MOUNTS
        ? `pki_mounts has at most ${MAX_PKI_MOUNTS} elements`
        : undefined,
  }),
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
  ...OCSP_FIELDS,
  ...TOKEN_FIELDS,
  ...OLDER_TOKEN_FIELDS,
} as const;

const changedRole = (
  role: CertRole,
  given: FieldValues<typeof ROLE_FIELDS>,
  pkiMounts: readonly PkiMount[] | undefined,
): CertRole => {
  const list = (now: readonly string[] | undefined, before: readonly string[]) => [
    ...(now ?? before),
  ];
  return {
    certificates: given.certificate || role.certificates,
    pkiMounts: [...(pkiMounts ?? role.pkiMounts)],
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
    ocsp: changedOcsp(role.ocsp, given),
    token: changedTokenSettings(role.token, given),
  };
};

const roleDocument = (role: CertRole): JsonObject => ({
  certificate: role.certificates,
  pki_mounts: role.pkiMounts.map(({ path }) => path),
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
  ...ocspDocument(role.ocsp),
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

const findPkiMounts = async (
  pki: Pick<RpcService<typeof ClientAuthoritiesDefinition>, 'findMounts'>,
  { namespace }: Mount,
  given: readonly string[],
): Promise<readonly PkiMount[]> => {
  const paths = given.map((path) => path.replace(/\/?$/, '/'));
  if (paths.length === 0) return [];
  const { mounts } = await pki.findMounts({ namespaceId: namespace?.id ?? '', paths });
  return paths.map(
    (path) =>
      mounts.find((mount) => mount.path === path) ??
      refuse(`pki_mounts names ${path}, which is no mount of type pki in this namespace`),
  );
};

export const roleRoutes = ({ store, pki }: RoleRouteParts): Route[] => [
  ...namedRoutes({
    path: '/cert/certs',
    tag: TAG,
    noun: 'role',
    deletion: 'tokens of its logins can no longer be renewed',
    store,
    recordsAt: roleRecords,
    fields: ROLE_FIELDS,
    find: (mount, { pki_mounts: paths }) =>
      paths === undefined ? Promise.resolve(undefined) : findPkiMounts(pki, mount, paths),
    change: (before, given, pkiMounts) =>
      requireSoundRole(changedRole(before ?? NEW_CERT_ROLE, given, pkiMounts)),
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
