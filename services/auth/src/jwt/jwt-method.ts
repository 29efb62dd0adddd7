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
import { findConfig, type JwtContext } from './config-operations.ts';
import { configRoutes } from './config-routes.ts';
import {
  groupsIn,
  mappedMetadata,
  requireBoundClaims,
  requireBoundToken,
  userNameOf,
} from './domain/claims.ts';
import { issuerOf } from './domain/jwt-config.ts';
import { requireCurrent } from './domain/token-times.ts';
import { ProviderKeys } from './provider-keys.ts';
import { createProviderRequests } from './provider-requests.ts';
import { findRole } from './role-operations.ts';
import { roleRoutes } from './role-routes.ts';
import { MAX_TOKEN_LENGTH, verifyToken } from './verify-token.ts';

interface JwtParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logins: Logins;
  /** Says at which addresses providers may be. */
  readonly outboundPolicy: AddressPolicy;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const loginRoutes = (
  { clock, logins }: Pick<JwtParts, 'clock' | 'logins'>,
  { store, providerKeys }: JwtContext,
): Route[] =>
  secretsRoutes({
    path: '/jwt/login',
    tag: 'jwt',
    fields: {
      role: field.string({
        description: 'Name of the role; that of default_role if not given.',
        default: '',
        maxLength: 256,
      }),
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
          const config = (await findConfig(store, mount)) ?? refuse('could not load configuration');
          const name = (given === '' ? config.defaultRole : given).toLowerCase();
          if (name === '') refuse('missing role');
          const role =
            (await findRole(store, mount, name)) ?? refuse(`role "${name}" could not be found`);
          if (jwt === '') refuse('missing token');
          const claims = await verifyToken(mount, config, providerKeys, jwt);
          requireCurrent(claims, role, clock.nowMs());
          requireBoundToken(role, issuerOf(config), claims);
          const displayName = userNameOf(role, claims);
          const metadata = mappedMetadata(role, claims);
          const groups = groupsIn(role, claims);
          requireBoundClaims(role, claims);
          return answerLogin(logins, request, {
            displayName,
            metadata: { ...metadata, role: name },
            alias: { name: displayName, metadata, groups },
            settings: role.token,
            data: { role: name },
          });
        },
      },
    },
  });

export const jwtMethod = (parts: JwtParts): AuthMethod => {
  const { store, clock, logger } = parts;
  const requests = createProviderRequests(parts.outboundPolicy);
  const context: JwtContext = {
    store,
    providerKeys: new ProviderKeys({ requests, clock, logger }),
  };
  return {
    type: 'jwt',
    otherTypes: ['oidc'],
    unauthenticatedPaths: ['login'],
    routes: [...loginRoutes(parts, context), ...configRoutes(context), ...roleRoutes(context)],
    renew: async (mount, { role }) =>
      typeof role === 'string' ? (await findRole(store, mount, role))?.token : undefined,
  };
};
