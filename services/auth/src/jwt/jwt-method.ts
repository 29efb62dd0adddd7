/** `jwt` and `oidc`: machines and people sign in with the tokens of a provider of identities. */
import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { AddressPolicy } from '@keelson/outbound/addresses';
import { field, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { answerLogin, type Logins } from '../logins/login-operations.ts';
import type { AuthMethod } from '../method.ts';
import { ProviderKeys } from '../providers/provider-keys.ts';
import { createProviderRequests } from '../providers/provider-requests.ts';
import { MAX_TOKEN_LENGTH } from '../providers/signed-token.ts';
import { BrowserLogins } from './browser-login-operations.ts';
import { browserRoutes } from './browser-routes.ts';
import { findConfig, type JwtContext, type OwnRuns } from './config-operations.ts';
import { configRoutes } from './config-routes.ts';
import { requireCurrent } from './domain/token-times.ts';
import { ROLE_FIELD } from './role-field.ts';
import { findRole, requireRole } from './role-operations.ts';
import { roleRoutes } from './role-routes.ts';
import { toLogin } from './verified-login.ts';
import { verifyToken } from './verify-token.ts';

interface JwtParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logins: Logins;
  readonly runs: OwnRuns;
  /** Says at which addresses providers may be. */
  readonly outboundPolicy: AddressPolicy;
  /** Id of this cluster. */
  readonly clusterId: () => string;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
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
    unauthenticatedPaths: ['login', 'oidc/auth_url', 'oidc/callback', 'oidc/poll'],
    routes: [
      ...loginRoutes(parts, context),
      ...browserRoutes({ clock, logins: parts.logins, browserLogins }),
      ...configRoutes(context),
      ...roleRoutes(context),
    ],
    findLoginRole: async (mount, { path, parameters: { role: given = '' } }) => {
      if ((path !== 'login' && path !== 'oidc/auth_url') || typeof given !== 'string')
        return undefined;
      const name = given === '' ? (await findConfig(store, mount))?.defaultRole : given;
      return name && (await findRole(store, mount, name)) ? name : undefined;
    },
    renew: async (mount, { role, run_id: runId, run_phase: phase }) => {
      if (typeof role !== 'string') return undefined;
      if (typeof runId === 'string' && typeof phase === 'string') {
        const { isAtWork } = await runs.findPhase({ runId, phase });
        if (!isAtWork) return undefined;
      }
      const found = await findRole(store, mount, role);
      return found && { settings: found.token };
    },
    tidy: (mount) => browserLogins.tidy(mount),
  };
};
