/** The login that a verified token yields. */
import type { VerifiedLogin } from '../logins/login-operations.ts';
import type { BrowserLogin } from './browser-login-operations.ts';
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

/** Compares the claims of a verified token with what the role demands. @throws KeelsonError `request.invalid` */
export const toLogin = ({ config, role, roleName, claims }: BrowserLogin): VerifiedLogin => {
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
    role: roleName,
    data: { role: roleName, ...(config.acceptsOwnRuns === true && phaseIn(claims)) },
  };
};
