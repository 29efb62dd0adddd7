/** Keelson as a provider of OpenID Connect: its routes, and its work while nobody asks. */
import type { Route } from '@keelson/edge';
import type { PeriodicWork } from '@keelson/locks';
import { oidcClientRoutes } from './client-routes.ts';
import { identityTokenRoutes } from './identity-token-routes.ts';
import { createKeyRotation } from './named-key-operations.ts';
import type { OidcContext } from './oidc-context.ts';
import { sweepCodes } from './sign-in-operations.ts';
import { oidcSignInRoutes } from './sign-in-routes.ts';

/** Longest delay of a rotation; the shortest period between two is a minute. */
const KEY_ROTATION_EVERY_MS = 10_000;
/** Interval of the search for codes that nobody has redeemed. */
const CODE_SWEEP_EVERY_MS = 30_000;

export interface OidcProvider {
  readonly routes: readonly Route[];
  /** By name; to be run while unsealed. */
  readonly periodicWork: Readonly<Record<string, PeriodicWork>>;
}

export const createOidcProvider = (context: OidcContext): OidcProvider => {
  const rotateKeys = createKeyRotation(context);
  return {
    routes: [
      ...identityTokenRoutes(context),
      ...oidcClientRoutes(context),
      ...oidcSignInRoutes(context),
    ],
    periodicWork: {
      'oidc-keys': {
        everyMs: KEY_ROTATION_EVERY_MS,
        round: async (options) => {
          await rotateKeys(options);
          return false;
        },
      },
      'oidc-codes': {
        everyMs: CODE_SWEEP_EVERY_MS,
        round: (options) => sweepCodes(context, options),
      },
    },
  };
};
