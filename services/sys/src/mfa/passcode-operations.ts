/** Verifies passcodes. Each is accepted once, and whoever guesses has to wait. */
import { periodOfPasscode, waitsUntilMs } from '@keelson/credentials';
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import type { TotpMethod } from './domain/totp-method.ts';
import type { Constraint } from './enforcement-operations.ts';
import type { MfaContext } from './mfa-context.ts';
import { findSecret, findUse, type SecretPlace, writeUse } from './mfa-records.ts';

/** Passcodes by the id of their method. A single-phase login may also use the name. */
export type Passcodes = ReadonlyMap<string, readonly string[]>;

const refuse = (text: string): never => {
  throw new KeelsonError('sys.mfa_failed', { text });
};

type Verdict = { readonly isRight: true } | { readonly isRight: false; readonly text: string };

const verify = async (
  { clock }: MfaContext,
  tx: Transaction,
  method: TotpMethod,
  entity: EntityRef,
  passcode: string,
): Promise<Verdict> => {
  const place: SecretPlace = {
    namespaceId: entity.namespaceId,
    entityId: entity.id,
    methodId: method.id,
  };
  const secret = await findSecret(tx, place);
  if (secret === undefined)
    return { isRight: false, text: `the entity has no key for the MFA method ${method.id}` };
  const nowMs = clock.nowMs();
  const use = await findUse(tx, place);
  const waitMs = waitsUntilMs(use, method) - nowMs;
  if (waitMs > 0)
    return {
      isRight: false,
      text: `too many wrong passcodes: try again in ${Math.ceil(waitMs / 1000)} seconds`,
    };
  const period = await periodOfPasscode(secret.secret, method, passcode, nowMs);
  const isRight = period !== undefined && period > use.lastPeriod;
  writeUse(
    tx,
    place,
    isRight
      ? { lastPeriod: period, failures: 0, lastFailureMs: 0 }
      : { ...use, failures: use.failures + 1, lastFailureMs: nowMs },
  );
  if (isRight) return { isRight };
  return {
    isRight,
    text:
      period === undefined
        ? 'the passcode is wrong'
        : 'the passcode has been used already: wait for the next',
  };
};

/**
 * Verifies a passcode for each constraint.
 * @throws KeelsonError `sys.mfa_failed` for the first constraint without a right one
 */
export const requirePasscodes = async (
  context: MfaContext,
  constraints: readonly Constraint[],
  entity: EntityRef | undefined,
  passcodes: Passcodes,
): Promise<void> => {
  if (entity === undefined) return refuse('a login without an entity has no second factor');
  const right = new Set<string>();
  for (const { name, methods } of constraints) {
    if (methods.some(({ id }) => right.has(id))) continue;
    const offered = methods.find(({ id }) => passcodes.has(id));
    const [passcode, ...others] = offered ? (passcodes.get(offered.id) ?? []) : [];
    if (offered === undefined || passcode === undefined)
      return refuse(`a passcode for the login enforcement "${name}" is missing`);
    if (others.length > 0)
      return refuse(`one passcode is allowed for the MFA method ${offered.id}`);
    const verdict = await context.store.transact((tx) =>
      verify(context, tx, offered, entity, passcode),
    );
    if (!verdict.isRight) return refuse(verdict.text);
    right.add(offered.id);
  }
};
