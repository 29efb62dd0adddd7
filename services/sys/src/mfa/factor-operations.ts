/** The second factors of a login: one answer for each constraint. */
import { KeelsonError } from '@keelson/errors';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import type { MfaMethod } from './domain/mfa-method.ts';
import type { Constraint } from './enforcement-operations.ts';
import type { FactorVerdict, MfaContext } from './mfa-context.ts';
import { verifyPasscode } from './passcode-operations.ts';
import { confirmPasskey, loginSubject } from './passkey-operations.ts';

/** The answers of whoever signs in. */
export interface FactorAnswers {
  /** The login that waits; undefined for one that comes with its answers. */
  readonly requestId: string | undefined;
  /** Passcodes, and passkeys as JSON, by the id of their method. */
  readonly byMethod: ReadonlyMap<string, readonly string[]>;
}

const refuse = (text: string): never => {
  throw new KeelsonError('sys.mfa_failed', { text });
};

const verify = async (
  context: MfaContext,
  mount: MountRecord,
  method: MfaMethod,
  entity: EntityRef,
  answer: string,
  subject: string | undefined,
): Promise<FactorVerdict> => {
  if (method.type === 'totp') {
    const given = { entity, methodId: method.id, passcode: answer };
    return context.countsPasscodes()
      ? verifyPasscode(context, given)
      : context.verifyAtPrimary(mount, given);
  }
  // Its challenge is made when the login begins to wait.
  if (subject === undefined)
    return {
      isRight: false,
      text: `the MFA method ${method.id} needs a passkey, with which sys/mfa/validate finishes the login`,
    };
  const given = { method, entity, subject, credential: answer };
  return context.store.transact((tx) => confirmPasskey(context, tx, given));
};

/**
 * Verifies an answer for each constraint.
 * @param mount of the login
 * @throws KeelsonError `sys.mfa_failed` for the first constraint without a right one
 */
export const requireFactors = async (
  context: MfaContext,
  mount: MountRecord,
  constraints: readonly Constraint[],
  entity: EntityRef | undefined,
  { requestId, byMethod }: FactorAnswers,
): Promise<void> => {
  if (entity === undefined) return refuse('a login without an entity has no second factor');
  const subject =
    requestId === undefined ? undefined : await loginSubject(context, requestId, entity);
  const right = new Set<string>();
  for (const { name, methods } of constraints) {
    if (methods.some(({ id }) => right.has(id))) continue;
    const offered = methods.find(({ id }) => byMethod.has(id));
    const [answer, ...others] = offered ? (byMethod.get(offered.id) ?? []) : [];
    if (offered === undefined || answer === undefined)
      return refuse(
        `a ${methods.some(({ type }) => type === 'totp') ? 'passcode' : 'passkey'} for the login enforcement "${name}" is missing`,
      );
    if (others.length > 0)
      return refuse(
        `one ${offered.type === 'totp' ? 'passcode' : 'passkey'} is allowed for the MFA method ${offered.id}`,
      );
    const verdict = await verify(context, mount, offered, entity, answer, subject);
    if (!verdict.isRight) return refuse(verdict.text);
    right.add(offered.id);
  }
};
