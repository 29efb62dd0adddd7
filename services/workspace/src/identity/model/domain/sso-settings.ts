import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const ssoSettingsShape = Type.Object({
  enabled: Type.Boolean(),
  /** The name by which people know the provider. */
  title: Type.String(),
  issuer: Type.String(),
  clientId: Type.String(),
  clientSecret: Type.String(),
  /** PEM; "" for the authorities of the system. */
  caCertificates: Type.String(),
  /** In addition to `openid`. */
  scopes: Type.Array(Type.String()),
  /** Claim from which the name of a new user is made. */
  usernameClaim: Type.String(),
  /** Claim with the groups of a person, by which teams get their members; "" for none. */
  groupsClaim: Type.String(),
  /** Whether a person without an account gets one. */
  createsUsers: Type.Boolean(),
  /** Whether a person signs in to the account that has the verified address. */
  linksUsers: Type.Boolean(),
  /** Whether groups make a person a member of organizations that have not invited the person; absent for no. */
  joinsOrganizations: Type.Optional(Type.Boolean()),
  /** Whether the provider asks for a second factor, so that organizations need not. */
  hasTwoFactor: Type.Boolean(),
  /** Encrypts sign-ins that are under way; base64. Another one for each generation. */
  stateKey: Type.String(),
  /** How often the provider was switched off, or became another one or another client of it; absent for never. */
  generation: Type.Optional(Type.Number()),
});
/** The site's provider of identities, by OpenID Connect. */
export type SsoSettings = Shaped<typeof ssoSettingsShape>;

/** Whether people sign in at the provider, and its groups are those of teams. */
export const hasGroups = (settings: SsoSettings | undefined): boolean =>
  settings?.enabled === true && settings.groupsClaim !== '';

export const DEFAULT_SSO_SETTINGS: Omit<SsoSettings, 'stateKey'> = {
  enabled: false,
  title: 'single sign-on',
  issuer: '',
  clientId: '',
  clientSecret: '',
  caCertificates: '',
  scopes: ['email', 'profile'],
  usernameClaim: 'preferred_username',
  groupsClaim: '',
  createsUsers: false,
  linksUsers: false,
  hasTwoFactor: false,
};
