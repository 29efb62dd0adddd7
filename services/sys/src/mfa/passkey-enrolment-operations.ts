/**
 * The passkeys of entities. The first one is made by whoever has signed in; from then on, a passkey that there is must
 * confirm each further one and each removal, because a stolen token must not replace the second factor.
 */
import { KeelsonError } from '@keelson/errors';
import {
  type Passkey,
  PasskeyRefusal,
  type PasskeyUse,
  type RegistrationOptions,
  registrationOptions,
  type SignInOptions,
  verifyRegistration,
  withUsed,
} from '@keelson/passkeys';
import type { Reads } from '@keelson/storage';
import { findEntity, listAliasesOf } from '../identity/entity-records.ts';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import type { PasskeyMethod } from './domain/passkey-method.ts';
import { findMethodFor, listMethodsFor } from './method-operations.ts';
import type { FactorVerdict, MfaContext } from './mfa-context.ts';
import type { SecretPlace } from './mfa-records.ts';
import { ceremonyOf, confirmationOptions, confirmPasskey, textOf } from './passkey-operations.ts';
import {
  findPasskeys,
  findPasskeyUses,
  listPasskeyMethodIds,
  writePasskeys,
  writePasskeyUses,
} from './passkey-records.ts';

const MAX_PASSKEYS = 10;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** Runs an operation whose refusals are errors of the client. */
const refusing = async <T>(prefix: string, run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    if (error instanceof PasskeyRefusal) return refuse(`${prefix}${textOf(error)}`);
    throw error;
  }
};

const requireMethod = async (
  context: MfaContext,
  reads: Reads,
  { namespaceId }: EntityRef,
  methodId: string,
): Promise<PasskeyMethod> =>
  (await findMethodFor(context, reads, namespaceId, methodId, 'webauthn')) ??
  refuse(`method_id: there is no MFA method "${methodId}" of passkeys`);

const requireEntity = async (reads: Reads, { namespaceId, id }: EntityRef) =>
  (await findEntity(reads, namespaceId, id)) ?? refuse(`entity_id: there is no entity "${id}"`);

const placeOf = ({ namespaceId, id }: EntityRef, methodId: string): SecretPlace => ({
  namespaceId,
  entityId: id,
  methodId,
});

const ownSubject = ({ id }: EntityRef): string => `own/${id}`;

export interface BegunChange {
  /** Asks a browser for a new passkey; undefined when the entity has as many as are allowed. */
  readonly registration: RegistrationOptions | undefined;
  /** Asks it for a passkey that confirms the change; undefined while the entity has none. */
  readonly confirmation: SignInOptions | undefined;
}

/** Begins to add a passkey, or to remove one. Nothing is stored. */
export const beginPasskeyChange = async (
  context: MfaContext,
  entity: EntityRef,
  methodId: string,
): Promise<BegunChange> => {
  const method = await requireMethod(context, context.store, entity, methodId);
  const found = await requireEntity(context.store, entity);
  // The name of a login says more to its owner than one that the server made up.
  const [alias] = await listAliasesOf(context.store, found);
  const name = alias?.name ?? found.name;
  const passkeys = await findPasskeys(context.store, placeOf(entity, methodId));
  const subject = ownSubject(entity);
  const registration = await refusing('', async () => {
    const ceremony = ceremonyOf(context, method, { purpose: 'register', subject });
    const user = { handle: entity.id, name, displayName: name };
    return passkeys.length < MAX_PASSKEYS
      ? registrationOptions(ceremony, user, passkeys)
      : undefined;
  });
  if (passkeys.length === 0) return { registration, confirmation: undefined };
  const confirmation =
    (await confirmationOptions(context, method, passkeys, subject)) ??
    refuse('no passkey of the entity is of use at this address: an administrator can remove them');
  return { registration, confirmation };
};

/** Runs a change once it is confirmed. A confirmation that is refused is counted all the same. */
const changeOwn = async (
  context: MfaContext,
  entity: EntityRef,
  methodId: string,
  confirmation: string | undefined,
  change: (
    tx: Parameters<typeof confirmPasskey>[1],
    method: PasskeyMethod,
    passkeys: readonly Passkey[],
  ) => Promise<void>,
): Promise<void> => {
  const verdict = await context.store.transact<FactorVerdict>(async (tx) => {
    const method = await requireMethod(context, tx, entity, methodId);
    await requireEntity(tx, entity);
    const passkeys = await findPasskeys(tx, placeOf(entity, methodId));
    if (passkeys.length > 0) {
      if (confirmation === undefined)
        return refuse('confirmation is missing: a passkey that the entity has confirms the change');
      const subject = ownSubject(entity);
      const answer = { method, entity, subject, credential: confirmation };
      const confirmed = await confirmPasskey(context, tx, answer);
      if (!confirmed.isRight) return confirmed;
    }
    await change(tx, method, passkeys);
    return { isRight: true };
  });
  if (!verdict.isRight) refuse(`confirmation: ${verdict.text}`);
};

export interface PasskeyDraft {
  readonly methodId: string;
  readonly name: string;
  /** As the browser has sent it. */
  readonly credential: unknown;
  /** JSON of a passkey that confirms; undefined for none. */
  readonly confirmation: string | undefined;
}

/**
 * Adds a passkey.
 * @returns its id
 * @throws KeelsonError `request.invalid` that names the field
 */
export const addPasskey = async (
  context: MfaContext,
  entity: EntityRef,
  { methodId, name, credential, confirmation }: PasskeyDraft,
): Promise<string> => {
  let added = '';
  await changeOwn(context, entity, methodId, confirmation, async (tx, method, passkeys) => {
    if (passkeys.length >= MAX_PASSKEYS)
      refuse(`an entity has at most ${MAX_PASSKEYS} passkeys for one MFA method`);
    const { passkey, challenge } = await refusing('credential.', () => {
      const place = { purpose: 'register', subject: ownSubject(entity) } as const;
      return verifyRegistration(ceremonyOf(context, method, place), credential);
    });
    if (passkeys.some(({ id }) => id === passkey.id))
      refuse('credential.id: the entity has this passkey already');
    const place = placeOf(entity, methodId);
    const nowMs = context.clock.nowMs();
    const all = [...passkeys, { ...passkey, name, createdAtMs: nowMs }];
    const uses = await findPasskeyUses(tx, place);
    await refusing('credential.', () => {
      const usedChallenges = withUsed(uses.usedChallenges, challenge, nowMs);
      writePasskeyUses(tx, place, { ...uses, usedChallenges }, all);
      return Promise.resolve();
    });
    writePasskeys(tx, place, all);
    added = passkey.id;
  });
  return added;
};

const requireOne = (passkeys: readonly Passkey[], id: string): Passkey =>
  passkeys.find((one) => one.id === id) ??
  refuse('passkey_id: the entity has no such passkey for the MFA method');

/** Removes a passkey of the person who asks. @throws KeelsonError `request.invalid` */
export const removePasskey = (
  context: MfaContext,
  entity: EntityRef,
  { methodId, id, confirmation }: { methodId: string; id: string; confirmation: string },
): Promise<void> =>
  changeOwn(context, entity, methodId, confirmation, (tx, _method, passkeys) => {
    const gone = requireOne(passkeys, id);
    writePasskeys(
      tx,
      placeOf(entity, methodId),
      passkeys.filter((one) => one !== gone),
    );
    return Promise.resolve();
  });

/** Gives a passkey another name. @throws KeelsonError `request.invalid` for an unknown one */
export const renamePasskey = (
  context: MfaContext,
  entity: EntityRef,
  { methodId, id, name }: { methodId: string; id: string; name: string },
): Promise<void> =>
  context.store.transact(async (tx) => {
    const passkeys = await findPasskeys(tx, placeOf(entity, methodId));
    const renamed = requireOne(passkeys, id);
    writePasskeys(
      tx,
      placeOf(entity, methodId),
      passkeys.map((one) => (one === renamed ? { ...one, name } : one)),
    );
  });

/** Removes one passkey of an entity, or all with "". Succeeds when there is none. */
export const destroyPasskeys = (
  { store }: MfaContext,
  entity: EntityRef,
  methodId: string,
  id: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const place = placeOf(entity, methodId);
    const passkeys = await findPasskeys(tx, place);
    const left = id === '' ? [] : passkeys.filter((one) => one.id !== id);
    if (left.length < passkeys.length) writePasskeys(tx, place, left);
  });

/** A passkey of an entity, and how this cluster has seen it used. */
export interface OwnPasskey {
  readonly methodId: string;
  readonly passkey: Passkey;
  readonly use: PasskeyUse | undefined;
}

/** The passkeys of an entity for all methods. */
export const listPasskeys = async (
  { store }: MfaContext,
  entity: EntityRef,
): Promise<readonly OwnPasskey[]> => {
  const found: OwnPasskey[] = [];
  for (const methodId of await listPasskeyMethodIds(store, entity)) {
    const place = placeOf(entity, methodId);
    const { byPasskey } = await findPasskeyUses(store, place);
    for (const passkey of await findPasskeys(store, place))
      found.push({ methodId, passkey, use: byPasskey[passkey.id] });
  }
  return found;
};

/** The methods for which an entity may have passkeys: those of its namespace and above. */
export const listPasskeyMethodsFor = async (
  context: MfaContext,
  { namespaceId }: EntityRef,
): Promise<readonly PasskeyMethod[]> => {
  const methods = await listMethodsFor(context, context.store, namespaceId);
  return methods.filter((method) => method.type === 'webauthn');
};
