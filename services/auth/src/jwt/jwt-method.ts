/** `jwt` and `oidc`: machines and people sign in with the tokens of a provider of identities. */
import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { AddressPolicy } from '@keelson/outbound/addresses';
import { field, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { answerLogin, type Logins, type VerifiedLogin } from '../logins/login-operations.ts';
import type { AuthMethod } from '../method.ts';
import { ProviderKeys } from '../providers/provider-keys.ts';
import { createProviderRequests } from '../providers/provider-requests.ts';
import { MAX_TOKEN_LENGTH } from '../providers/signed-token.ts';
import { type BrowserLogin, BrowserLogins } from './browser-login-operations.ts';
import { findConfig, type JwtContext, type OwnRuns } from './config-operations.ts';
import { configRoutes } from './config-routes.ts';
import {
  groupsIn,
  mappedMetadata,
  phaseIn,
  requireBoundClaims,
  requireBoundRun,
  requireBoundToken,
  userNameOf,
} from './domain/claims.ts';
import { issuerOf } from './domain/jwt-config.ts';
import { requireCurrent } from './domain/token-times.ts';
import { findRole, requireRole } from './role-operations.ts';
import { roleRoutes } from './role-routes.ts';
import { verifyToken } from './verify-token.ts';

interface JwtParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logins: Logins;
  readonly runs: OwnRuns;
  /** Says at which addresses providers may be. */
  readonly outboundPolicy: AddressPolicy;
}

const ROLE_FIELD = field.string({
  description: 'Name of the role; that of default_role if not given.',
  default: '',
  maxLength: 256,
});

const CLIENT_NONCE_FIELD = field.string({
  description: 'A random text of the program that begins the login, which it repeats at its end.',
  default: '',
  maxLength: 256,
});

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** Compares the claims of a verified token with what the role demands. @throws KeelsonError `request.invalid` */
const toLogin = ({ config, role, roleName, claims }: BrowserLogin): VerifiedLogin => {
  requireBoundToken(role, issuerOf(config), claims);
  if (config.acceptsOwnRuns === true) requireBoundRun(role);
  const displayName = userNameOf(role, claims);
  const metadata = mappedMetadata(role, claims);
  const groups = groupsIn(role, claims);
  requireBoundClaims(role, claims);
  return {
    displayName,
    metadata: { ...metadata, role: roleName },
    alias: { name: displayName, metadata, groups },
    settings: role.token,
    data: { role: roleName, ...(config.acceptsOwnRuns === true && phaseIn(claims)) },
  };
};

const loginRoutes = (
  { clock, logins }: Pick<JwtParts, 'clock' | 'logins'>,
  context: JwtContext,
): Route[] =>
  secretsRoutes({
    path: '/jwt/login',
    tag: 'jwt',
    fields: {
      role: ROLE_FIELD,
      jwt: field.string({
        description: 'The signed token of the provider.',
        default: '',
        maxLength: MAX_TOKEN_LENGTH,
      }),
    },
    operations: {
      update: {
        summary: 'Sign in with a token of the provider',
        handle: async (request) => {
          const mount = requireMount(request);
          const { role: given, jwt } = request.fields;
          const { store } = context;
          const config = (await findConfig(store, mount)) ?? refuse('could not load configuration');
          const roleName = (given === '' ? config.defaultRole : given).toLowerCase();
          const role = await requireRole(store, mount, roleName);
          if (role.roleType !== 'jwt') refuse('role with oidc role_type is not allowed');
          if (jwt === '') refuse('missing token');
          const claims = await verifyToken(context, mount, config, jwt);
          requireCurrent(claims, role, clock.nowMs());
          return answerLogin(logins, request, toLogin({ config, role, roleName, claims }));
        },
      },
    },
  });

const browserRoutes = ({ clock, logins }: JwtParts, browserLogins: BrowserLogins): Route[] => [
  ...secretsRoutes({
    path: '/jwt/oidc/auth_url',
    tag: 'jwt',
    fields: {
      role: ROLE_FIELD,
      redirect_uri: field.string({
        description: 'Where the browser returns to, which the role must allow.',
        required: 'missing redirect_uri',
        maxLength: 2048,
      }),
      client_nonce: CLIENT_NONCE_FIELD,
    },
    operations: {
      update: {
        summary: 'Begin to sign in through a browser',
        handle: async (request) => {
          const { role, redirect_uri: redirectUri, client_nonce: clientNonce } = request.fields;
          const given = { role, redirectUri, clientNonce };
          const url = await browserLogins.begin(requireMount(request), given);
          // Clients have a text of their own for an empty address.
          if (url === undefined)
            request.warnings.push('redirect_uri is not one of allowed_redirect_uris of the role');
          return { data: { auth_url: url ?? '' } };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/jwt/oidc/callback',
    tag: 'jwt',
    fields: {
      state: field.string({
        description: 'The state of the login, as the browser has brought it.',
        default: '',
        maxLength: 8192,
      }),
      code: field.string({ description: 'The code.', default: '', maxLength: 8192 }),
      iss: field.string({ description: 'The issuer (RFC 9207).', default: '', maxLength: 2048 }),
      client_nonce: CLIENT_NONCE_FIELD,
    },
    operations: {
      read: {
        summary: 'Sign in with what the browser has brought back from the provider',
        handle: async (request) => {
          const { client_nonce: clientNonce, ...answer } = request.fields;
          const given = { ...answer, clientNonce };
          const login = await browserLogins.finish(requireMount(request), given);
          const { config, role, claims } = login;
          requireCurrent(claims, role, clock.nowMs());
          // The token is for the client, and for others only if the role says so.
          const boundAudiences =
            role.boundAudiences.length === 0 ? [config.oidcClientId] : role.boundAudiences;
          const verified = toLogin({ ...login, role: { ...role, boundAudiences } });
          return answerLogin(logins, request, verified);
        },
      },
    },
  }),
];

export const jwtMethod = (parts: JwtParts): AuthMethod => {
  const { store, clock, logger, runs } = parts;
  const requests = createProviderRequests(parts.outboundPolicy);
  const context: JwtContext = {
    store,
    runs,
    providerKeys: new ProviderKeys({ requests, clock, logger }),
  };
  const browserLogins = new BrowserLogins({ ...parts, ...context });
  return {
    type: 'jwt',
    otherTypes: ['oidc'],
    unauthenticatedPaths: ['login', 'oidc/auth_url', 'oidc/callback'],
    routes: [
      ...loginRoutes(parts, context),
      ...browserRoutes(parts, browserLogins),
      ...configRoutes(context),
      ...roleRoutes(context),
    ],
    renew: async (mount, { role, run_id: runId, run_phase: phase }) => {
      if (typeof role !== 'string') return undefined;
      if (typeof runId === 'string' && typeof phase === 'string') {
        const { isAtWork } = await runs.findPhase({ runId, phase });
        if (!isAtWork) return undefined;
      }
      return (await findRole(store, mount, role))?.token;
    },
    tidy: (mount) => browserLogins.tidy(mount),
  };
};
