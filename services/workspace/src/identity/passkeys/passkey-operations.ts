/** Passkeys of accounts: the challenges for them, and their verification. */
import { KeelsonError } from '@keelson/errors';
import { refuseInvalid } from '@keelson/jsonapi';
import {
  type AssertionCredential,
  type Ceremony,
  type ChallengePlace,
  PasskeyRefusal,
  relyingPartyOf,
  type SignInOptions,
  signInOptions,
  type UsedChallenge,
  verifySignIn,
  withUsed,
} from '@keelson/passkeys';
import type { Reads, Transaction } from '@keelson/storage';
import type { ServiceContext } from '../../base/service-context.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { findSignInSettings } from '../model/credential-records.ts';
import {
  NO_PASSKEY_USES,
  type OwnPasskey,
  passkeyRecords,
  passkeyUses,
  toPasskeyKey,
} from '../model/passkey-records.ts';
import { type User, userRecords } from '../model/user-records.ts';
import { lockoutsOf } from '../passwords/password-operations.ts';

/** A challenge for whoever has a passkey, known or not. */
const ANYBODY: ChallengePlace = { purpose: 'sign-in', subject: '' };

/** A challenge with which users confirm what they do with their account. */
export const confirmationPlace = (userId: string): ChallengePlace => ({
  purpose: 'sign-in',
  subject: `own/${userId}`,
});

/** @throws PasskeyRefusal where browsers have no passkeys for the address of the installation */
const partyOf = ({ publicUrl }: Pick<ServiceContext, 'publicUrl'>) =>
  relyingPartyOf(publicUrl, { name: 'Keelson', id: '', origins: [] });

/** Why users cannot have passkeys at the address of the installation; undefined if they can. */
export const obstacleToPasskeys = (
  context: Pick<ServiceContext, 'publicUrl'>,
): string | undefined => {
  try {
    partyOf(context);
    return undefined;
  } catch (error) {
    if (error instanceof PasskeyRefusal) return error.message;
    throw error;
  }
};

/**
 * The key of challenges, while the site has passkeys.
 * @throws KeelsonError `workspace.passkeys_off`
 */
const requireKey = async (context: ServiceContext, reads: Reads): Promise<string> => {
  const { passkeysEnabled, challengeKey } = await findSignInSettings(reads);
  if (!passkeysEnabled || challengeKey === undefined || obstacleToPasskeys(context) !== undefined)
    throw new KeelsonError('workspace.passkeys_off');
  return challengeKey;
};

/** A passkey is a whole sign-in, so that the authenticator has to know its person. */
export const ceremonyFor = async (
  context: ServiceContext,
  reads: Reads,
  place: ChallengePlace,
): Promise<Ceremony> => {
  // Before the party, which there is not at every address.
  const key = await requireKey(context, reads);
  const party = partyOf(context);
  return { party, userVerification: 'required', key, place, nowMs: context.clock.nowMs() };
};

/** Runs an operation whose refusals name a field of the request. @param field that has the credential */
export const refusingAt = async <T>(field: string, run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof PasskeyRefusal)) throw error;
    const inside = error.field === '' ? '' : `/${error.field.replaceAll('.', '/')}`;
    return refuseInvalid([attributeViolation(`${field}${inside}`, error.message)]) as never;
  }
};

/** Begins a sign-in of whoever chooses a passkey. Nothing is stored. */
export const beginSignIn = async (context: ServiceContext): Promise<SignInOptions> =>
  signInOptions(await ceremonyFor(context, context.store, ANYBODY), undefined);

/** Begins a confirmation by one of the user's own passkeys. */
export const beginConfirmation = async (
  context: ServiceContext,
  userId: string,
  own: readonly OwnPasskey[],
): Promise<SignInOptions> =>
  signInOptions(
    await ceremonyFor(context, context.store, confirmationPlace(userId)),
    own.map(({ passkey }) => passkey),
  );

/** Stores that a challenge was used. @throws PasskeyRefusal if it was used before */
export const useChallenge = async (
  tx: Transaction,
  userId: string,
  challenge: UsedChallenge,
  nowMs: number,
): Promise<void> => {
  const uses = (await passkeyUses.find(tx, userId)) ?? NO_PASSKEY_USES;
  const usedChallenges = withUsed(uses.usedChallenges, challenge, nowMs);
  passkeyUses.write(tx, [userId], { ...uses, usedChallenges });
};

/** @throws PasskeyRefusal */
const accept = async (
  tx: Transaction,
  ceremony: Ceremony,
  credential: AssertionCredential,
  known: OwnPasskey,
): Promise<void> => {
  const { userId, passkey } = known;
  const uses = (await passkeyUses.find(tx, userId)) ?? NO_PASSKEY_USES;
  const own = { passkey, use: uses.byPasskey[passkey.id], userHandles: [userId] };
  const { use, challenge } = await verifySignIn(ceremony, credential, own);
  passkeyUses.write(tx, [userId], {
    usedChallenges: withUsed(uses.usedChallenges, challenge, ceremony.nowMs),
    byPasskey: { ...uses.byPasskey, [passkey.id]: use },
  });
};

/**
 * Verifies a passkey, and does what it is for in the same transaction. Failures are counted by the credential, also for
 * one that nobody has.
 * @param userId of the only user who may have it; undefined for anybody
 * @returns undefined for a passkey that is not accepted, whatever is wrong with it
 * @throws KeelsonError `workspace.sign_in_locked`, `workspace.passkeys_off`
 */
export const withPasskey = async <T>(
  context: ServiceContext,
  { credential, userId }: { credential: AssertionCredential; userId: string | undefined },
  act: (tx: Transaction, user: User) => Promise<T>,
): Promise<T | undefined> => {
  const { store } = context;
  await requireKey(context, store);
  const key = toPasskeyKey(credential.id);
  const done = await lockoutsOf(context).verifyUnlessLocked(
    `passkey ${key}`,
    () =>
      store.transact(async (tx) => {
        const place = userId === undefined ? ANYBODY : confirmationPlace(userId);
        const ceremony = await ceremonyFor(context, tx, place);
        const known = await passkeyRecords.find(tx, key);
        const user = known && (await userRecords.find(tx, known.userId));
        const isOpen = user !== undefined && user.isSuspended !== true && user.isInvited !== true;
        if (known === undefined || !isOpen || (userId ?? user.id) !== user.id) return undefined;
        try {
          await accept(tx, ceremony, credential, known);
        } catch (error) {
          if (!(error instanceof PasskeyRefusal)) throw error;
          return undefined;
        }
        return { result: await act(tx, user) };
      }),
    // Nobody guesses a signature, and a lock that others bring about must not undo what is stored.
    { isRandom: true },
  );
  return done?.result;
};
