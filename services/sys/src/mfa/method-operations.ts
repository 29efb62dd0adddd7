/** The methods of login MFA, of which there is one type: passcodes of an authenticator app. */
import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Reads } from '@keelson/storage';
import { ROOT_NAMESPACE_ID } from '../namespaces/domain/namespace.ts';
import type { TotpMethod } from './domain/totp-method.ts';
import type { MfaContext } from './mfa-context.ts';
import {
  deleteMethodRecord,
  findMethod,
  listEnforcements,
  listMethods,
  writeMethod,
} from './mfa-records.ts';

const MAX_METHODS = 100;

export type MethodDraft = Omit<TotpMethod, 'id' | 'namespaceId'>;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/**
 * Creates a method, or replaces the one with the id.
 * @returns its id
 * @throws KeelsonError `request.invalid` for an unknown id, a name in use and one method too many
 */
export const putMethod = (
  { store }: MfaContext,
  namespaceId: string,
  id: string | undefined,
  draft: MethodDraft,
): Promise<string> =>
  store.transact(async (tx) => {
    const known = await listMethods(tx, namespaceId);
    const former = known.find((method) => method.id === id);
    if (id !== undefined && former === undefined) return refuse(`there is no MFA method "${id}"`);
    if (
      draft.name !== '' &&
      known.some(({ id: other, name }) => other !== id && name === draft.name)
    )
      return refuse(`the MFA method name "${draft.name}" is already in use`);
    if (former === undefined && known.length >= MAX_METHODS)
      return refuse(`a namespace has at most ${MAX_METHODS} MFA methods`);
    // An app that has been enrolled would show passcodes of the former kind.
    const isOther =
      former !== undefined &&
      (['algorithm', 'digits', 'periodSeconds'] as const).some(
        (name) => former[name] !== draft[name],
      );
    if (isOther)
      return refuse(
        'algorithm, digits and period of an MFA method cannot be changed: create another',
      );
    const method = { ...draft, id: former?.id ?? randomUUID(), namespaceId };
    writeMethod(tx, method);
    return method.id;
  });

export const readMethod = (
  { store }: MfaContext,
  namespaceId: string,
  id: string,
): Promise<TotpMethod | undefined> => findMethod(store, namespaceId, id);

/** Sorted by id. */
export const listMethodsOf = (
  { store }: MfaContext,
  namespaceId: string,
): Promise<readonly TotpMethod[]> => listMethods(store, namespaceId);

/**
 * Succeeds when there is none. The keys of entities at the method remain until their entities are removed; no passcode
 * of them is accepted.
 * @throws KeelsonError `request.invalid` while an enforcement names the method
 */
export const deleteMethod = (
  { store }: MfaContext,
  namespaceId: string,
  id: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const method = await findMethod(tx, namespaceId, id);
    if (method === undefined) return;
    const user = (await listEnforcements(tx)).find(({ methodIds }) => methodIds.includes(id));
    if (user !== undefined)
      refuse(`the MFA method is in use by the login enforcement "${user.name}": change that first`);
    deleteMethodRecord(tx, method);
  });

/** A method of a namespace or of one above it. */
export const findMethodFor = async (
  { namespaces }: Pick<MfaContext, 'namespaces'>,
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<TotpMethod | undefined> => {
  const table = await namespaces();
  const namespace = table.findById(namespaceId);
  const lineage =
    namespace === undefined ? [ROOT_NAMESPACE_ID] : table.lineageOf(namespace).map((one) => one.id);
  for (const ancestor of lineage) {
    const method = await findMethod(reads, ancestor, id);
    if (method !== undefined) return method;
  }
  return undefined;
};
