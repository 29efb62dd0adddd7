/** Second factors end with their entity. */
import type { Transaction } from '@keelson/storage';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import { deleteSecretsOf } from './mfa-records.ts';
import { deletePasskeysOf } from './passkey-records.ts';

/** Part of the transaction that deletes an entity or merges it into another one. */
export const deleteFactorsOf = async (tx: Transaction, entity: EntityRef): Promise<void> => {
  await deleteSecretsOf(tx, entity);
  await deletePasskeysOf(tx, entity);
};
