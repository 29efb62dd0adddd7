/** The passkeys of the caller's own account. */
import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import {
  type ChallengePlace,
  type PasskeyUse,
  type RegistrationCredential,
  type RegistrationOptions,
  registrationOptions,
  type SignInOptions,
  verifyRegistration,
} from '@keelson/passkeys';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import {
  findSignInSettings,
  findSsoSettings,
  passwordRecords,
} from '../model/credential-records.ts';
import {
  loadPasskeysOf,
  NO_PASSKEY_USES,
  type OwnPasskey,
  passkeyRecords,
  passkeyUses,
  toPasskeyKey,
} from '../model/passkey-records.ts';
import type { User } from '../model/user-records.ts';
import {
  confirmed,
  type Proof,
  requireAccount,
  requireSession,
} from './confirmed-change-operations.ts';
import { beginConfirmation, ceremonyFor, refusingAt, useChallenge } from './passkey-operations.ts';

const MAX_PASSKEYS = 10;
const PASSKEYS = 'passkeys are changed';

const conflict = (text: string): never => {
  throw new KeelsonError('workspace.conflict', { text });
};

export interface PasskeyView {
  readonly own: OwnPasskey;
  readonly use: PasskeyUse | undefined;
}

const viewOf = async (reads: Reads, own: OwnPasskey): Promise<PasskeyView> => {
  const { byPasskey } = (await passkeyUses.find(reads, own.userId)) ?? NO_PASSKEY_USES;
  return { own, use: byPasskey[own.passkey.id] };
};

/** Oldest first. @throws KeelsonError `workspace.not_found` */
export const listPasskeys = async (
  { store }: ServiceContext,
  principal: Principal,
): Promise<readonly PasskeyView[]> => {
  const { id } = await requireAccount(store, principal);
  return Promise.all((await loadPasskeysOf(store, id)).map((own) => viewOf(store, own)));
};

const registrationPlace = (subject: string): ChallengePlace => ({ purpose: 'register', subject });

/** Browsers ask nobody for a name to sign in with a passkey that the authenticator itself finds. */
export const beginRegistration = async (
  context: ServiceContext,
  user: User,
  subject: string,
): Promise<RegistrationOptions> => {
  const own = await loadPasskeysOf(context.store, user.id);
  if (own.length >= MAX_PASSKEYS)
    conflict(`an account has at most ${MAX_PASSKEYS} passkeys: remove one first`);
  return registrationOptions(
    await ceremonyFor(context, context.store, registrationPlace(subject)),
    { handle: user.id, name: user.username, displayName: user.username },
    own.map(({ passkey }) => passkey),
    'required',
  );
};

export interface NewOwnPasskey {
  readonly name: string;
  readonly credential: RegistrationCredential;
}

/** Stores a new passkey of a user, in the transaction of whoever may. @throws KeelsonError `jsonapi.invalid_attribute` */
export const storePasskey = async (
  context: ServiceContext,
  tx: Transaction,
  user: User,
  subject: string,
  { name, credential }: NewOwnPasskey,
): Promise<OwnPasskey> => {
  const known = await loadPasskeysOf(tx, user.id);
  if (known.length >= MAX_PASSKEYS)
    conflict(`an account has at most ${MAX_PASSKEYS} passkeys: remove one first`);
  return refusingAt('credential', async () => {
    const ceremony = await ceremonyFor(context, tx, registrationPlace(subject));
    const { passkey, challenge } = await verifyRegistration(ceremony, credential);
    const key = toPasskeyKey(passkey.id);
    if ((await passkeyRecords.find(tx, key)) !== undefined)
      refuseInvalid([attributeViolation('credential/id', 'the passkey is known already')]);
    await useChallenge(tx, user.id, challenge, ceremony.nowMs);
    const { transports, ...rest } = passkey;
    const own: OwnPasskey = {
      id: newResourceId('pk'),
      userId: user.id,
      passkey: { ...rest, transports: [...transports], name, createdAtMs: ceremony.nowMs },
    };
    await passkeyRecords.write(tx, [key], own);
    return own;
  });
};

const subjectOf = ({ id }: User): string => `own/${id}`;

export interface BegunRegistration {
  readonly registration: RegistrationOptions;
  /** Asks for a passkey that confirms the change; undefined where the password does, or there is none yet. */
  readonly confirmation: SignInOptions | undefined;
}

/** Asks for one of the user's passkeys; undefined where the password confirms changes, or there is none yet. */
const confirmationOf = async (
  context: ServiceContext,
  { id }: User,
): Promise<SignInOptions | undefined> => {
  const own = await loadPasskeysOf(context.store, id);
  const hasPassword = (await passwordRecords.find(context.store, id)) !== undefined;
  return hasPassword || own.length === 0 ? undefined : beginConfirmation(context, id, own);
};

/**
 * Begins to confirm a change of the caller's own account, however many passkeys it has. Nothing is stored.
 * @returns see `BegunRegistration`
 */
export const beginChange = async (
  context: ServiceContext,
  principal: Principal,
): Promise<SignInOptions | undefined> => {
  const { store } = context;
  await requireSession(store, principal, 'changes of an account are confirmed');
  return confirmationOf(context, await requireAccount(store, principal));
};

/** Begins to add a passkey to the caller's own account. Nothing is stored. */
export const beginPasskey = async (
  context: ServiceContext,
  principal: Principal,
): Promise<BegunRegistration> => {
  const { store } = context;
  await requireSession(store, principal, PASSKEYS);
  const user = await requireAccount(store, principal);
  const registration = await beginRegistration(context, user, subjectOf(user));
  return { registration, confirmation: await confirmationOf(context, user) };
};

export interface AddedPasskey extends NewOwnPasskey, Proof {}

/** @throws KeelsonError `jsonapi.invalid_attribute`, `workspace.conflict` */
export const addPasskey = (
  context: ServiceContext,
  principal: Principal,
  given: AddedPasskey,
): Promise<PasskeyView> =>
  confirmed(context, principal, PASSKEYS, given, async (tx, user) => ({
    own: await storePasskey(context, tx, user, subjectOf(user), given),
    use: undefined,
  }));

const requirePasskey = async (
  reads: Reads,
  principal: Principal,
  id: string,
): Promise<{
  readonly own: OwnPasskey;
  readonly others: readonly OwnPasskey[];
  readonly user: User;
}> => {
  await requireSession(reads, principal, PASSKEYS);
  const user = await requireAccount(reads, principal);
  const all = await loadPasskeysOf(reads, user.id);
  const own = all.find((one) => one.id === id);
  if (own === undefined) throw notFound('passkey');
  return { own, others: all.filter((one) => one !== own), user };
};

export const renamePasskey = (
  { store }: ServiceContext,
  principal: Principal,
  id: string,
  name: string,
): Promise<PasskeyView> =>
  store.transact(async (tx) => {
    const { own } = await requirePasskey(tx, principal, id);
    const passkey = { ...own.passkey, transports: [...own.passkey.transports], name };
    const renamed = { ...own, passkey };
    await passkeyRecords.write(tx, [toPasskeyKey(passkey.id)], renamed);
    return viewOf(tx, renamed);
  });

/** Whether a user signs in without a passkey. */
const hasOtherWay = async (reads: Reads, user: User): Promise<boolean> => {
  const { passwordsEnabled } = await findSignInSettings(reads);
  if (passwordsEnabled && (await passwordRecords.find(reads, user.id)) !== undefined) return true;
  return user.hasSingleSignOn === true && (await findSsoSettings(reads))?.enabled === true;
};

/** @throws KeelsonError `workspace.conflict` for the last way in */
export const removePasskey = (
  { store }: ServiceContext,
  principal: Principal,
  id: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const { own, others, user } = await requirePasskey(tx, principal, id);
    if (others.length === 0 && !(await hasOtherWay(tx, user)))
      conflict('the passkey is the only way in which you sign in: add another one first');
    await passkeyRecords.delete(tx, toPasskeyKey(own.passkey.id));
    const uses = await passkeyUses.find(tx, own.userId);
    if (uses === undefined) return;
    const { [own.passkey.id]: _, ...byPasskey } = uses.byPasskey;
    passkeyUses.write(tx, [own.userId], {
      usedChallenges: [...uses.usedChallenges],
      byPasskey,
    });
  });
