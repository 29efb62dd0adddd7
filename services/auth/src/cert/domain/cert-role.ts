/** Certificates that sign in, and what their logins have. */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { DEFAULT_TOKEN_SETTINGS, tokenSettingsShape } from '../../logins/domain/token-settings.ts';

const listShape = Type.Array(Type.String());

/** How responders of OCSP are asked about the certificate that signs in. */
const ocspShape = Type.Object({
  isEnabled: Type.Boolean(),
  /** PEM: responders, and authorities of responders, that are trusted like the issuer; "" for none. */
  caCertificates: Type.String(),
  /** URLs in place of those in the certificate. */
  servers: listShape,
  /** Whether a login succeeds when no responder knows the status. */
  failsOpen: Type.Boolean(),
  /** Whether every server must say that the certificate is good. */
  asksAll: Type.Boolean(),
  /** Age at which a status is refused; 0: as the responder says. */
  maxAgeSeconds: Type.Integer(),
  /** Further requests to a server that does not answer. */
  maxRetries: Type.Integer(),
});
export type OcspSettings = Shaped<typeof ocspShape>;

/** A mount of the certificate authority of this installation. */
const pkiMountShape = Type.Object({
  /** At the time when the role was written: "pki/". */
  path: Type.String(),
  uuid: Type.String(),
});
export type PkiMount = Shaped<typeof pkiMountShape>;

export const certRoleShape = Type.Object({
  /** PEM: authorities whose certificates sign in, and certificates that sign in themselves. */
  certificates: Type.String(),
  /** The certificates of their issuers sign in until the mount has revoked them. */
  pkiMounts: Type.Array(pkiMountShape),
  displayName: Type.String(),
  /** Patterns, of which one must match a name; none: any name. */
  allowedNames: listShape,
  allowedCommonNames: listShape,
  allowedDnsSans: listShape,
  allowedEmailSans: listShape,
  allowedUriSans: listShape,
  allowedOrganizationalUnits: listShape,
  allowedOrganizations: listShape,
  /** "<oid>:<pattern>" or "hex:<oid>:<pattern>", of which all must match. */
  requiredExtensions: listShape,
  /** Object identifiers. */
  metadataExtensions: listShape,
  ocsp: ocspShape,
  token: tokenSettingsShape,
});
export type CertRole = Shaped<typeof certRoleShape>;

export const NEW_CERT_ROLE: CertRole = {
  certificates: '',
  pkiMounts: [],
  displayName: '',
  allowedNames: [],
  allowedCommonNames: [],
  allowedDnsSans: [],
  allowedEmailSans: [],
  allowedUriSans: [],
  allowedOrganizationalUnits: [],
  allowedOrganizations: [],
  requiredExtensions: [],
  metadataExtensions: [],
  ocsp: {
    isEnabled: false,
    caCertificates: '',
    servers: [],
    failsOpen: false,
    asksAll: false,
    maxAgeSeconds: 0,
    maxRetries: 4,
  },
  token: DEFAULT_TOKEN_SETTINGS,
};

/** @throws KeelsonError `request.invalid` */
export const requireSoundRole = (role: CertRole): CertRole => {
  if (role.certificates === '' && role.pkiMounts.length === 0)
    throw new KeelsonError('request.invalid', { text: 'missing certificate or pki_mounts' });
  return role;
};

export const certConfigShape = Type.Object({
  disablesBinding: Type.Boolean(),
  hasAliasMetadata: Type.Boolean(),
});
export type CertConfig = Shaped<typeof certConfigShape>;

export const NEW_CERT_CONFIG: CertConfig = { disablesBinding: false, hasAliasMetadata: false };

/** Serial numbers that an authority has revoked. */
export const revocationListShape = Type.Object({
  /** Name of the authority, DER in base64. */
  issuer: Type.String(),
  serials: Type.Array(Type.String()),
});
export type RevocationList = Shaped<typeof revocationListShape>;
