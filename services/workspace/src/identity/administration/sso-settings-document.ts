import { orNull, type ResourceOf, resourceSchema } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { SsoSettings } from '../model/domain/sso-settings.ts';

const text = Type.String();

export const SSO_SETTINGS = resourceSchema({
  type: 'sso-settings',
  description: "The site's provider of identities, by OpenID Connect.",
  attributes: {
    enabled: Type.Boolean({ description: 'False ends the sessions that it has begun.' }),
    title: Type.String({ description: 'The name by which people know the provider.' }),
    issuer: text,
    'client-id': text,
    'has-client-secret': Type.Boolean(),
    'ca-certificates': orNull(Type.String({ description: 'PEM; null for those of the system.' })),
    scopes: Type.Array(text, { description: 'In addition to `openid`.' }),
    'username-claim': text,
    'groups-claim': orNull(
      Type.String({ description: 'Groups of a person, which the sso-team-id of teams names.' }),
    ),
    'creates-users': Type.Boolean({
      description:
        'Whether a person without an account gets one, or the one that an invitation has made.',
    }),
    'links-users': Type.Boolean({
      description:
        'Whether a person signs in to the account that has the verified address, unless it is that of a site administrator.',
    }),
    'joins-organizations': Type.Boolean({
      description:
        'Whether groups make a person a member of organizations, and not only of teams where the person is a member or invited.',
    }),
    'two-factor': Type.Boolean({
      description: 'Whether the provider asks for a second factor, so that organizations need not.',
    }),
    'redirect-uri': orNull(
      Type.String({ description: 'What the provider must allow; null without a public address.' }),
    ),
  },
});

/** The secret of the client is never shown. @param redirectUri undefined without a public address */
export const toSsoSettingsResource = (
  settings: Omit<SsoSettings, 'stateKey'>,
  redirectUri: string | undefined,
): ResourceOf<typeof SSO_SETTINGS> => ({
  id: 'site',
  type: 'sso-settings',
  attributes: {
    enabled: settings.enabled,
    title: settings.title,
    issuer: settings.issuer,
    'client-id': settings.clientId,
    'has-client-secret': settings.clientSecret !== '',
    'ca-certificates': settings.caCertificates || null,
    scopes: settings.scopes,
    'username-claim': settings.usernameClaim,
    'groups-claim': settings.groupsClaim || null,
    'creates-users': settings.createsUsers,
    'links-users': settings.linksUsers,
    'joins-organizations': settings.joinsOrganizations === true,
    'two-factor': settings.hasTwoFactor,
    'redirect-uri': redirectUri ?? null,
  },
});
