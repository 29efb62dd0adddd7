/** Second factors of entities that are merged into others, or deleted. */
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import type { IdentityContext } from '../identity/identity-context.ts';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import {
  findSecret,
  findUse,
  listSecretMethodIds,
  type SecretPlace,
  writeSecret,
  writeUse,
} from './mfa-records.ts';
import {
  findPasskeys,
  findPasskeyUses,
  listPasskeyMethodIds,
  writePasskeys,
  writePasskeyUses,
} from './passkey-records.ts';
import { deleteFactorsOf } from './removed-factors.ts';

const placeOf = ({ namespaceId, id }: EntityRef, methodId: string): SecretPlace => ({
  namespaceId,
  entityId: id,
  methodId,
});

const refuse = (what: string, methodId: string): never => {
  throw new KeelsonError('request.invalid', {
    text: `several of the entities have ${what} for the MFA method ${methodId}: give force to keep those of the remaining entity`,
  });
};

/**
 * Gives an entity the second factors of one that is merged into it, for the methods that it has none for: its person
 * must neither be shut out nor find that a new factor can be registered without the old one.
 * @param force whether factors that the remaining entity has already replace those of the other one
 * @throws KeelsonError `request.invalid` where both have a factor for one method, without `force`
 */
const mergeFactors = async (
  tx: Transaction,
  from: EntityRef,
  into: EntityRef,
  force: boolean,
): Promise<void> => {
  for (const methodId of await listSecretMethodIds(tx, from)) {
    const [source, target] = [placeOf(from, methodId), placeOf(into, methodId)];
    const secret = await findSecret(tx, source);
    if (secret === undefined) continue;
    if ((await findSecret(tx, target)) === undefined) {
      writeSecret(tx, { ...secret, entityId: into.id });
      writeUse(tx, target, await findUse(tx, source));
    } else if (!force) refuse('a key', methodId);
  }
  for (const methodId of await listPasskeyMethodIds(tx, from)) {
    const [source, target] = [placeOf(from, methodId), placeOf(into, methodId)];
    if ((await findPasskeys(tx, target)).length === 0) {
      const passkeys = await findPasskeys(tx, source);
      writePasskeys(tx, target, passkeys);
      writePasskeyUses(tx, target, await findPasskeyUses(tx, source), passkeys);
    } else if (!force) refuse('passkeys', methodId);
  }
  await deleteFactorsOf(tx, from);
};

/** The end of the second factors of entities that are deleted or merged. */
export const ENDED_ENTITIES: Pick<IdentityContext, 'onEntityRemoved' | 'onEntityMerged'> = {
  onEntityRemoved: deleteFactorsOf,
  onEntityMerged: mergeFactors,
};
