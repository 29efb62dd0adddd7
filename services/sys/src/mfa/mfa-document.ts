import type { JsonObject } from '@keelson/secrets-api';
import type { LoginEnforcement } from './domain/login-enforcement.ts';
import type { TotpMethod } from './domain/totp-method.ts';
import type { Constraint } from './enforcement-operations.ts';

export const methodDocument = (method: TotpMethod, namespacePath: string): JsonObject => ({
  type: 'totp',
  id: method.id,
  name: method.name,
  namespace_id: method.namespaceId,
  namespace_path: namespacePath,
  issuer: method.issuer,
  period: method.periodSeconds,
  key_size: method.keyBytes,
  qr_size: method.qrPixels,
  algorithm: method.algorithm,
  digits: method.digits,
  skew: method.skew,
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

/** The `mfa_requirement` of a login that is not finished: one method of each constraint. */
export const requirementDocument = (
  requestId: string,
  constraints: readonly Constraint[],
): JsonObject => ({
  mfa_request_id: requestId,
  mfa_constraints: Object.fromEntries(
    constraints.map(({ name, methods }) => [
      name,
      {
        any: methods.map((method) => ({
          type: 'totp',
          id: method.id,
          name: method.name,
          uses_passcode: true,
        })),
      },
    ]),
  ),
});
