/** Certificates that sign in, and what their logins have. */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { DEFAULT_TOKEN_SETTINGS, tokenSettingsShape } from '../../logins/domain/token-settings.ts';

const listShape = Type.Array(Type.String());

export const certRoleShape = Type.Object({
  /** PEM: authorities whose certificates sign in, and certificates that sign in themselves. */
  certificates: Type.String(),
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
  token: tokenSettingsShape,
});
export type CertRole = Shaped<typeof certRoleShape>;

export const NEW_CERT_ROLE: CertRole = {
  certificates: '',
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
  token: DEFAULT_TOKEN_SETTINGS,
};

/** @throws KeelsonError `request.invalid` */
export const requireSoundRole = (role: CertRole): CertRole => {
  if (role.certificates === '')
    throw new KeelsonError('request.invalid', { text: 'missing certificate' });
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
