/** Routes by which site administrators name the provider of identities. */
import { randomBytes, X509Certificate } from 'node:crypto';
import type { Route } from '@keelson/edge';
import {
  endpoint,
  jsonApiRoutes,
  nullable,
  one,
  refuseInvalid,
  resourceBody,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import { attributeViolation, type Violation } from '../../base/validation/domain/violation.ts';
import { findSsoSettings, SITE_KEY, ssoSettings } from '../model/credential-records.ts';
import { DEFAULT_SSO_SETTINGS, type SsoSettings } from '../model/domain/sso-settings.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { RETURN_PATH } from '../single-sign-on/sso-login-operations.ts';
import { toSsoSettingsResource } from './sso-settings-document.ts';
import { requireSiteAdmin } from './user-administration-operations.ts';

const PATH = '/admin/sso-settings';
const KEY_BYTES = 32;

const flag = Type.Optional(Type.Boolean());
const text = Type.Optional(Type.String({ maxLength: 255 }));

const ATTRIBUTES = Type.Object({
  enabled: flag,
  title: text,
  issuer: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: 'As the provider names itself, letter by letter.',
    }),
  ),
  'client-id': text,
  'client-secret': Type.Optional(
    Type.String({ maxLength: 1024, description: 'Never shown; needed again with another issuer.' }),
  ),
  'ca-certificates': Type.Optional(nullable(Type.String({ maxLength: 65_536 }))),
  scopes: Type.Optional(
    Type.Array(Type.String({ maxLength: 255, pattern: '^[\\x21\\x23-\\x5B\\x5D-\\x7E]+$' }), {
      maxItems: 20,
    }),
  ),
  'username-claim': text,
  'groups-claim': Type.Optional(nullable(Type.String({ maxLength: 255 }))),
  'creates-users': flag,
  'links-users': flag,
  'joins-organizations': flag,
  'two-factor': flag,
});

const UPDATE = resourceBody('sso-settings', ATTRIBUTES);

const changed = (
  before: SsoSettings,
  given: Static<typeof ATTRIBUTES>,
): Omit<SsoSettings, 'stateKey' | 'generation'> => ({
  enabled: given.enabled ?? before.enabled,
  title: given.title ?? before.title,
  issuer: given.issuer ?? before.issuer,
  clientId: given['client-id'] ?? before.clientId,
  clientSecret: given['client-secret'] ?? before.clientSecret,
  caCertificates:
    given['ca-certificates'] === undefined
      ? before.caCertificates
      : (given['ca-certificates'] ?? ''),
  scopes: given.scopes ?? before.scopes,
  usernameClaim: given['username-claim'] ?? before.usernameClaim,
  groupsClaim:
    given['groups-claim'] === undefined ? before.groupsClaim : (given['groups-claim'] ?? ''),
  createsUsers: given['creates-users'] ?? before.createsUsers,
  linksUsers: given['links-users'] ?? before.linksUsers,
  joinsOrganizations: given['joins-organizations'] ?? before.joinsOrganizations ?? false,
  hasTwoFactor: given['two-factor'] ?? before.hasTwoFactor,
});

/** Whether the sessions of the provider end: it is off, another one, or knows the site as another client. */
const endsSessions = (before: SsoSettings, after: ReturnType<typeof changed>): boolean =>
  (before.enabled && !after.enabled) ||
  before.issuer !== after.issuer ||
  before.clientId !== after.clientId;

const isWebAddress = (address: string): boolean =>
  URL.canParse(address) && ['https:', 'http:'].includes(new URL(address).protocol);

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

const areCertificates = (pem: string): boolean => {
  const certificates = pem.match(CERTIFICATE) ?? [];
  try {
    for (const certificate of certificates) new X509Certificate(certificate);
  } catch {
    return false;
  }
  return certificates.length > 0 && !pem.includes('PRIVATE KEY');
};

/** The provider gets the secret at each sign-in: another one must not get that of the former. */
const keepsSecretOfAnother = (
  before: SsoSettings,
  after: ReturnType<typeof changed>,
  given: Static<typeof ATTRIBUTES>,
): boolean =>
  before.clientSecret !== '' &&
  before.issuer !== after.issuer &&
  given['client-secret'] === undefined;

const faultsOf = (
  settings: ReturnType<typeof changed>,
  publicUrl: string | undefined,
): readonly Violation[] => {
  if (settings.issuer !== '' && !isWebAddress(settings.issuer))
    return [attributeViolation('issuer', 'must be an address of the web')];
  if (settings.caCertificates !== '' && !areCertificates(settings.caCertificates))
    return [attributeViolation('ca-certificates', 'must be certificates in PEM')];
  if (!settings.enabled) return [];
  const missing = [
    ['issuer', settings.issuer],
    ['client-id', settings.clientId],
    ['client-secret', settings.clientSecret],
    ['title', settings.title],
  ] as const;
  return [
    ...missing
      .filter(([, value]) => value === '')
      .map(([name]) => attributeViolation(name, 'is needed where single sign-on is enabled')),
    ...(publicUrl === undefined
      ? [
          attributeViolation(
            'enabled',
            'needs KEELSON_PUBLIC_URL, to which the provider sends people back',
          ),
        ]
      : []),
  ];
};

export const ssoSettingsRoutes = ({ store, publicUrl }: IdentityContext): Route[] => {
  const shown = (settings: Omit<SsoSettings, 'stateKey'>) => ({
    document: {
      data: toSsoSettingsResource(settings, publicUrl && `${publicUrl}${RETURN_PATH}`),
    },
  });
  return jsonApiRoutes('sign-in', [
    endpoint({
      method: 'GET',
      path: PATH,
      summary: 'Show the provider of identities of the site (site administrators)',
      answers: one('sso-settings'),
      handle: async ({ principal }) => {
        await requireSiteAdmin(store, principal);
        return shown((await findSsoSettings(store)) ?? DEFAULT_SSO_SETTINGS);
      },
    }),
    endpoint({
      method: 'PATCH',
      path: PATH,
      summary: 'Change the provider of identities of the site (site administrators)',
      answers: one('sso-settings'),
      body: { schema: UPDATE },
      handle: async ({ principal, body }) => {
        const stateKey = randomBytes(KEY_BYTES).toString('base64');
        const settings = await store.transact(async (tx) => {
          await requireSiteAdmin(tx, principal);
          const before = (await findSsoSettings(tx)) ?? { ...DEFAULT_SSO_SETTINGS, stateKey };
          const next = changed(before, body.data.attributes);
          refuseInvalid(faultsOf(next, publicUrl));
          if (keepsSecretOfAnother(before, next, body.data.attributes))
            refuseInvalid([
              attributeViolation(
                'client-secret',
                'is needed again where the issuer is another one',
              ),
            ]);
          const after = endsSessions(before, next)
            ? { ...next, stateKey, generation: (before.generation ?? 0) + 1 }
            : { ...before, ...next };
          ssoSettings.write(tx, [SITE_KEY], after);
          return after;
        });
        return shown(settings);
      },
    }),
  ]);
};
