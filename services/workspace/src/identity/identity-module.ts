/**
 * The identity module: users, teams, tokens, organizations, memberships and organization
 * permissions.
 */
import type { Route } from '@keelson/edge';
import type { ResourceSchema } from '@keelson/jsonapi';
import { accountRoutes } from './accounts/account-routes.ts';
import { EMAIL_CONFIRMATION } from './accounts/email-confirmation-document.ts';
import { administrationRoutes } from './administration/administration-routes.ts';
import { organizationAdministrationRoutes } from './administration/organization-administration-routes.ts';
import { SIGN_IN_SETTINGS } from './administration/sign-in-settings-document.ts';
import { signInSettingsRoutes } from './administration/sign-in-settings-routes.ts';
import { SSO_SETTINGS } from './administration/sso-settings-document.ts';
import { ssoSettingsRoutes } from './administration/sso-settings-routes.ts';
import { COMMAND_LOGIN_RESOURCE } from './command-logins/command-login-document.ts';
import { commandLoginRoutes, commandTokenRoute } from './command-logins/command-login-routes.ts';
import { ENTITLEMENT_SET, ORGANIZATION } from './organizations/organization-document.ts';
import { organizationRoutes } from './organizations/organization-routes.ts';
import { PASSKEY, PASSKEY_CHALLENGE } from './passkeys/passkey-document.ts';
import { openPasskeyRoutes, passkeyRoutes } from './passkeys/passkey-routes.ts';
import { PASSWORD_RESET, SIGN_IN_METHODS } from './passwords/password-document.ts';
import { openPasswordRoutes, passwordRoutes } from './passwords/password-routes.ts';
import type { IdentityContext } from './seams/identity-context.ts';
import { SESSION } from './sessions/session-document.ts';
import { sessionRoutes, signInRoutes } from './sessions/session-routes.ts';
import { SSO_LOGIN } from './single-sign-on/sso-login-document.ts';
import { ssoLoginRoutes } from './single-sign-on/sso-login-routes.ts';
import { INVITATION } from './teams/invitation-document.ts';
import { invitationRoutes } from './teams/invitation-routes.ts';
import { MEMBERSHIP } from './teams/membership-document.ts';
import { organizationMembershipRoutes } from './teams/membership-routes.ts';
import { TEAM } from './teams/team-document.ts';
import { teamRoutes } from './teams/team-routes.ts';
import { TOKEN_LIFETIME } from './token-lifetimes/token-lifetime-document.ts';
import { tokenLifetimeRoutes } from './token-lifetimes/token-lifetime-routes.ts';
import { AUTHENTICATION_TOKEN } from './tokens/token-document.ts';
import { tokenRoutes } from './tokens/token-routes.ts';
import { TWO_FACTOR } from './two-factor/two-factor-document.ts';
import { twoFactorRoutes } from './two-factor/two-factor-routes.ts';
import { USER } from './users/user-document.ts';
import { userRoutes } from './users/user-routes.ts';

export const identityRoutes = (context: IdentityContext): readonly Route[] => [
  ...organizationRoutes(context),
  ...teamRoutes(context),
  ...organizationMembershipRoutes(context),
  ...invitationRoutes(context),
  ...accountRoutes(context),
  ...userRoutes(context),
  ...administrationRoutes(context),
  ...organizationAdministrationRoutes(context),
  ...tokenRoutes(context),
  ...tokenLifetimeRoutes(context),
  ...passwordRoutes(context),
  ...passkeyRoutes(context),
  ...sessionRoutes(context),
  ...twoFactorRoutes(context),
  ...signInSettingsRoutes(context),
  ...ssoSettingsRoutes(context),
  ...commandLoginRoutes(context),
];

/** Routes that need no token, because the request has another credential, or anybody may make it. */
export const identityOpenRoutes = (context: IdentityContext): readonly Route[] => [
  commandTokenRoute(context),
  ...openPasswordRoutes(context),
  ...openPasskeyRoutes(context),
  ...signInRoutes(context),
  ...ssoLoginRoutes(context),
];

/** The resources that these routes answer with. */
export const IDENTITY_RESOURCES: readonly ResourceSchema[] = [
  ORGANIZATION,
  ENTITLEMENT_SET,
  TEAM,
  MEMBERSHIP,
  INVITATION,
  EMAIL_CONFIRMATION,
  USER,
  AUTHENTICATION_TOKEN,
  COMMAND_LOGIN_RESOURCE,
  PASSKEY,
  PASSKEY_CHALLENGE,
  PASSWORD_RESET,
  SESSION,
  SIGN_IN_METHODS,
  SIGN_IN_SETTINGS,
  SSO_LOGIN,
  SSO_SETTINGS,
  TOKEN_LIFETIME,
  TWO_FACTOR,
];
