import type { SignInOptions } from '@keelson/passkeys';
import type { JsonObject } from '@keelson/secrets-api';
import type { LoginEnforcement } from './domain/login-enforcement.ts';
import type { MfaMethod } from './domain/mfa-method.ts';
import type { Constraint } from './enforcement-operations.ts';

const settingsOf = (method: MfaMethod): JsonObject =>
  method.type === 'totp'
    ? {
        issuer: method.issuer,
        period: method.periodSeconds,
        key_size: method.keyBytes,
        qr_size: method.qrPixels,
        algorithm: method.algorithm,
        digits: method.digits,
        skew: method.skew,
      }
    : {
        relying_party_name: method.relyingPartyName,
        relying_party_id: method.relyingPartyId,
        relying_party_origins: method.origins,
        user_verification: method.userVerification,
      };

export const methodDocument = (method: MfaMethod, namespacePath: string): JsonObject => ({
  type: method.type,
  id: method.id,
  name: method.name,
  namespace_id: method.namespaceId,
  namespace_path: namespacePath,
  ...settingsOf(method),
  max_validation_attempts: method.maxAttempts,
});

export const enforcementDocument = (
  enforcement: LoginEnforcement,
  namespacePath: string,
): JsonObject => ({
  id: enforcement.id,
  name: enforcement.name,
  namespace_id: enforcement.namespaceId,
  namespace_path: namespacePath,
  mfa_method_ids: enforcement.methodIds,
  auth_method_accessors: enforcement.mountAccessors,
  auth_method_types: enforcement.mountTypes,
  identity_group_ids: enforcement.groupIds,
  identity_entity_ids: enforcement.entityIds,
});

/** Keys, and what is behind each. */
export const listDocument = (found: readonly (readonly [string, JsonObject])[]): JsonObject => ({
  keys: found.map(([key]) => key),
  key_info: Object.fromEntries(found),
});

/**
 * The `mfa_requirement` of a login that is not finished: one method of each constraint.
 * @param passkeys the options for browsers, by the ids of the methods for which there are passkeys
 */
export const requirementDocument = (
  requestId: string,
  constraints: readonly Constraint[],
  passkeys: ReadonlyMap<string, SignInOptions>,
): JsonObject => ({
  mfa_request_id: requestId,
  mfa_constraints: Object.fromEntries(
    constraints.map(({ name, methods }) => [
      name,
      {
        any: methods.map((method) => ({
          type: method.type,
          id: method.id,
          name: method.name,
          uses_passcode: method.type === 'totp',
          ...(method.type === 'webauthn' && { options: passkeys.get(method.id) ?? null }),
        })),
      },
    ]),
  ),
});
