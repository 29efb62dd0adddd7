/**
 * The identity module: users, teams, tokens, organizations, memberships and organization
 * permissions.
 */
import type { Route } from '@keelson/edge';
import { organizationRoutes } from './organizations/organization-routes.ts';
import type { IdentityContext } from './seams/identity-context.ts';
import { organizationMembershipRoutes } from './teams/membership-routes.ts';
import { teamRoutes } from './teams/team-routes.ts';
import { tokenRoutes } from './tokens/token-routes.ts';
import { userRoutes } from './users/user-routes.ts';

export const identityRoutes = (context: IdentityContext): readonly Route[] => [
  ...organizationRoutes(context),
  ...teamRoutes(context),
  ...organizationMembershipRoutes(context),
  ...userRoutes(context),
  ...tokenRoutes(context),
];
