/** The keys that entities share with the server. */
import { newPasscodeKey, passcodeAddress } from '@keelson/credentials';
import { KeelsonError } from '@keelson/errors';
import type { Reads } from '@keelson/storage';
import { findEntity } from '../identity/entity-records.ts';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import type { TotpMethod } from './domain/totp-method.ts';
import { findMethodFor } from './method-operations.ts';
import type { MfaContext } from './mfa-context.ts';
import { deleteSecret, findSecret, writeSecret } from './mfa-records.ts';

export interface Enrolment {
  /** `otpauth://` address with the key. */
  readonly url: string;
  readonly qrPixels: number;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requireMethod = async (
  context: MfaContext,
  reads: Reads,
  namespaceId: string,
  methodId: string,
): Promise<TotpMethod> =>
  (await findMethodFor(context, reads, namespaceId, methodId, 'totp')) ??
  refuse(`method_id: there is no MFA method "${methodId}"`);

/**
 * Makes the key of an entity for a method.
 * @returns undefined if it has one: a client that holds a stolen token must not replace the second factor
 * @throws KeelsonError `request.invalid` for an unknown method or entity
 */
export const enrol = async (
  context: MfaContext,
  entity: EntityRef,
  methodId: string,
): Promise<Enrolment | undefined> => {
  const { namespaceId, id: entityId } = entity;
  const { keyBytes } = await requireMethod(context, context.store, namespaceId, methodId);
  const key = await newPasscodeKey(keyBytes);
  return context.store.transact(async (tx) => {
    const method = await requireMethod(context, tx, namespaceId, methodId);
    const found = await findEntity(tx, namespaceId, entityId);
    if (found === undefined) return refuse(`entity_id: there is no entity "${entityId}"`);
    const place = { namespaceId, entityId, methodId };
    if ((await findSecret(tx, place)) !== undefined) return undefined;
    writeSecret(tx, { ...place, secret: key });
    const url = await passcodeAddress(key, method, { issuer: method.issuer, label: found.name });
    return { url, qrPixels: method.qrPixels };
  });
};

/** Succeeds when there is no key. */
export const endEnrolment = (
  { store }: MfaContext,
  { namespaceId, id: entityId }: EntityRef,
  methodId: string,
): Promise<void> =>
  store.transact((tx) => {
    deleteSecret(tx, { namespaceId, entityId, methodId });
    return Promise.resolve();
  });
