/** Roles of machines: a role id names the role, and a secret id proves that the caller may have it. */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { DEFAULT_TOKEN_SETTINGS, tokenSettingsShape } from '../../logins/domain/token-settings.ts';

export const appRoleShape = Type.Object({
  /** Unknown to clients: the secret ids of the role are hashed with it, and end with it. */
  uuid: Type.String(),
  roleId: Type.String(),
  bindSecretId: Type.Boolean(),
  /** Networks from which clients may sign in. */
  secretIdBoundCidrs: Type.Array(Type.String()),
  /** Logins with a secret id that says nothing else; 0 means no limit. */
  secretIdNumUses: Type.Number(),
  /** In seconds; 0 means that secret ids do not expire. */
  secretIdTtlSeconds: Type.Number(),
  /** Whether secret ids are of the cluster that made them alone. Fixed when the role is created. */
  localSecretIds: Type.Boolean(),
  token: tokenSettingsShape,
});
export type AppRole = Shaped<typeof appRoleShape>;

export const newAppRole = (uuid: string, roleId: string): AppRole => ({
  uuid,
  roleId,
  bindSecretId: true,
  secretIdBoundCidrs: [],
  secretIdNumUses: 0,
  secretIdTtlSeconds: 0,
  localSecretIds: false,
  token: DEFAULT_TOKEN_SETTINGS,
});

/** @throws KeelsonError `request.invalid` for a role that everybody who knows its id may have */
export const requireConstraint = (role: AppRole): AppRole => {
  const { bindSecretId, secretIdBoundCidrs, token } = role;
  if (!bindSecretId && secretIdBoundCidrs.length === 0 && token.boundCidrs.length === 0)
    throw new KeelsonError('request.invalid', {
      text: 'at least one constraint should be enabled on the role: bind_secret_id, secret_id_bound_cidrs or token_bound_cidrs',
    });
  return role;
};
