/** The methods of login MFA: passcodes of an authenticator app, and passkeys. */
import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { newChallengeKey, PasskeyRefusal, relyingPartyOf } from '@keelson/passkeys';
import type { Reads } from '@keelson/storage';
import { ROOT_NAMESPACE_ID } from '../namespaces/domain/namespace.ts';
import type { MethodOf, MethodType, MfaMethod } from './domain/mfa-method.ts';
import type { MfaContext } from './mfa-context.ts';
import {
  deleteMethodRecord,
  findMethod,
  listEnforcements,
  listMethods,
  writeMethod,
} from './mfa-records.ts';
import { deleteFactorsFor } from './removed-factors.ts';

const MAX_METHODS = 100;

type Settings<M extends MfaMethod> = Omit<M, 'id' | 'namespaceId' | 'challengeKey'>;
export type MethodDraft = Settings<MethodOf<'totp'>> | Settings<MethodOf<'webauthn'>>;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requireAddress = (
  { publicUrl }: MfaContext,
  { relyingPartyName: name, relyingPartyId: id, origins }: Settings<MethodOf<'webauthn'>>,
): void => {
  try {
    relyingPartyOf(publicUrl, { name, id, origins });
  } catch (error) {
    if (!(error instanceof PasskeyRefusal)) throw error;
    refuse(`relying_party_${error.field}: ${error.message}`);
  }
};

/** The method with the id and the settings. @throws KeelsonError `request.invalid` for a change of what is enrolled */
const methodWith = (
  draft: MethodDraft,
  former: MfaMethod | undefined,
  place: Pick<MfaMethod, 'id' | 'namespaceId'>,
): MfaMethod => {
  if (draft.type === 'webauthn') {
    if (former?.type !== 'webauthn') return { ...draft, ...place, challengeKey: newChallengeKey() };
    // Passkeys are bound to the former one.
    if (former.relyingPartyId !== draft.relyingPartyId)
      return refuse('relying_party_id of an MFA method cannot be changed: create another');
    return { ...draft, ...place, challengeKey: former.challengeKey };
  }
  // An app that has been enrolled would show passcodes of the former kind.
  const isOther =
    former?.type === 'totp' &&
    (['algorithm', 'digits', 'periodSeconds'] as const).some(
      (name) => former[name] !== draft[name],
    );
  if (isOther)
    return refuse(
      'algorithm, digits and period of an MFA method cannot be changed: create another',
    );
  return { ...draft, ...place };
};

/**
 * Creates a method, or replaces the one with the id.
 * @returns its id
 * @throws KeelsonError `request.invalid` for an unknown id, a name in use, one method too many, and an address at which
 *   browsers have no passkeys
 */
export const putMethod = (
  context: MfaContext,
  namespaceId: string,
  id: string | undefined,
  draft: MethodDraft,
): Promise<string> =>
  context.store.transact(async (tx) => {
    const known = await listMethods(tx, namespaceId);
    const former = known.find((method) => method.id === id && method.type === draft.type);
    if (id !== undefined && former === undefined) return refuse(`there is no MFA method "${id}"`);
    if (
      draft.name !== '' &&
      known.some(({ id: other, name }) => other !== id && name === draft.name)
    )
      return refuse(`the MFA method name "${draft.name}" is already in use`);
    if (former === undefined && known.length >= MAX_METHODS)
      return refuse(`a namespace has at most ${MAX_METHODS} MFA methods`);
    const method = methodWith(draft, former, { id: former?.id ?? randomUUID(), namespaceId });
    if (method.type === 'webauthn') requireAddress(context, method);
    writeMethod(tx, method);
    return method.id;
  });

/** @param type undefined for a method of any type */
export const readMethod = async (
  { store }: MfaContext,
  namespaceId: string,
  id: string,
  type?: MethodType,
): Promise<MfaMethod | undefined> => {
  const method = await findMethod(store, namespaceId, id);
  return type === undefined || method?.type === type ? method : undefined;
};

/** Sorted by id. @param type undefined for the methods of all types */
export const listMethodsOf = async (
  { store }: MfaContext,
  namespaceId: string,
  type?: MethodType,
): Promise<readonly MfaMethod[]> =>
  (await listMethods(store, namespaceId)).filter(
    (method) => type === undefined || method.type === type,
  );

/**
 * Succeeds when there is none. The keys and passkeys of entities for the method end with it, from which moment none is
 * accepted.
 * @throws KeelsonError `request.invalid` while an enforcement names the method
 */
export const deleteMethod = async (
  { store }: MfaContext,
  namespaceId: string,
  id: string,
  type: MethodType,
): Promise<void> => {
  const isDeleted = await store.transact(async (tx) => {
    const method = await findMethod(tx, namespaceId, id);
    if (method?.type !== type) return false;
    const user = (await listEnforcements(tx)).find(({ methodIds }) => methodIds.includes(id));
    if (user !== undefined)
      refuse(`the MFA method is in use by the login enforcement "${user.name}": change that first`);
    deleteMethodRecord(tx, method);
    return true;
  });
  if (isDeleted) await deleteFactorsFor(store, id);
};

const lineageOf = async (
  { namespaces }: Pick<MfaContext, 'namespaces'>,
  namespaceId: string,
): Promise<readonly string[]> => {
  const table = await namespaces();
  const namespace = table.findById(namespaceId);
  return namespace === undefined
    ? [ROOT_NAMESPACE_ID]
    : table.lineageOf(namespace).map((one) => one.id);
};

/** A method of a namespace or of one above it. @param type undefined for a method of any type */
export const findMethodFor = async <T extends MethodType>(
  context: Pick<MfaContext, 'namespaces'>,
  reads: Reads,
  namespaceId: string,
  id: string,
  type?: T,
): Promise<MethodOf<T> | undefined> => {
  for (const ancestor of await lineageOf(context, namespaceId)) {
    const method = await findMethod(reads, ancestor, id);
    if (method !== undefined)
      return type === undefined || method.type === type ? (method as MethodOf<T>) : undefined;
  }
  return undefined;
};

/** The methods of a namespace and of those above it. */
export const listMethodsFor = async (
  context: Pick<MfaContext, 'namespaces'>,
  reads: Reads,
  namespaceId: string,
): Promise<readonly MfaMethod[]> => {
  const found: MfaMethod[] = [];
  for (const ancestor of await lineageOf(context, namespaceId))
    found.push(...(await listMethods(reads, ancestor)));
  return found;
};
