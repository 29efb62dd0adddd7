/** Verifies passcodes. Each is accepted once, and whoever guesses has to wait. */
import { periodOfPasscode, waitsUntilMs } from '@keelson/credentials';
import type { Transaction } from '@keelson/storage';
import type { TotpMethod } from './domain/totp-method.ts';
import { findMethodFor } from './method-operations.ts';
import type { FactorVerdict, GivenPasscode, MfaContext } from './mfa-context.ts';
import { findSecret, findUse, type SecretPlace, writeUse } from './mfa-records.ts';

const verify = async (
  tx: Transaction,
  method: TotpMethod,
  { entity, passcode }: GivenPasscode,
  nowMs: number,
): Promise<FactorVerdict> => {
  const place: SecretPlace = {
    namespaceId: entity.namespaceId,
    entityId: entity.id,
    methodId: method.id,
  };
  const secret = await findSecret(tx, place);
  if (secret === undefined)
    return { isRight: false, text: `the entity has no key for the MFA method ${method.id}` };
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

/** Verifies a passcode, and counts it in the store of this cluster. */
export const verifyPasscode = (
  context: Pick<MfaContext, 'store' | 'clock' | 'namespaces'>,
  given: GivenPasscode,
): Promise<FactorVerdict> =>
  context.store.transact(async (tx) => {
    const { entity, methodId } = given;
    const method = await findMethodFor(context, tx, entity.namespaceId, methodId, 'totp');
    return method === undefined
      ? { isRight: false, text: `there is no MFA method ${methodId}` }
      : verify(tx, method, given, context.clock.nowMs());
  });
