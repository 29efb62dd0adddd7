/** The passkeys that entities have for methods of login MFA. */
import {
  type Passkey,
  type PasskeyUse,
  passkeyShape,
  passkeyUseShape,
  usedChallengeShape,
} from '@keelson/passkeys';
import { collection, type Reads, type Transaction } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import type { SecretPlace } from './mfa-records.ts';

const enrolledShape = Type.Object({
  namespaceId: Type.String(),
  entityId: Type.String(),
  methodId: Type.String(),
  passkeys: Type.Array(passkeyShape),
});

const usesShape = Type.Object({
  failures: Type.Number(),
  lastFailureMs: Type.Number(),
  usedChallenges: Type.Array(usedChallengeShape),
  /** By the id of the passkey. */
  byPasskey: Type.Record(Type.String(), passkeyUseShape),
});
export type PasskeyUses = Shaped<typeof usesShape>;

const NO_USES: PasskeyUses = { failures: 0, lastFailureMs: 0, usedChallenges: [], byPasskey: {} };

/** Keys: "<namespace id of the entity>/<entity id>/<method id>". */
const enrolled = collection('mfa-passkeys', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: enrolledShape,
  owner: OF_NAMESPACE,
});

/** Keys as of the passkeys. Each cluster counts for itself. */
const uses = collection('mfa-passkey-uses', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: usesShape,
  owner: OF_NAMESPACE,
});

const keyOf = ({ namespaceId, entityId, methodId }: SecretPlace): string =>
  `${namespaceId}/${entityId}/${methodId}`;

/** In the order of their registration. */
export const findPasskeys = async (reads: Reads, place: SecretPlace): Promise<readonly Passkey[]> =>
  (await enrolled.find(reads, keyOf(place)))?.passkeys ?? [];

/** @param passkeys none to remove the record */
export const writePasskeys = (
  tx: Transaction,
  { namespaceId, entityId, methodId }: SecretPlace,
  passkeys: readonly Passkey[],
): void => {
  const key = `${namespaceId}/${entityId}/${methodId}`;
  if (passkeys.length === 0) enrolled.delete(tx, key);
  else
    enrolled.write(tx, key, {
      namespaceId,
      entityId,
      methodId,
      passkeys: passkeys.map((passkey) => ({ ...passkey, transports: [...passkey.transports] })),
    });
};

/** The methods for which an entity has passkeys. */
export const listPasskeyMethodIds = (
  reads: Reads,
  { namespaceId, id }: EntityRef,
): Promise<readonly string[]> => enrolled.keys(reads, [namespaceId, id]);

export const findPasskeyUses = async (reads: Reads, place: SecretPlace): Promise<PasskeyUses> =>
  (await uses.find(reads, keyOf(place))) ?? NO_USES;

/** Uses of passkeys that are gone are forgotten. */
export const writePasskeyUses = (
  tx: Transaction,
  place: SecretPlace,
  { byPasskey, usedChallenges, ...counts }: PasskeyUses,
  passkeys: readonly Passkey[],
): void => {
  const kept: Record<string, PasskeyUse> = {};
  for (const { id } of passkeys) {
    const use = byPasskey[id];
    if (use !== undefined) kept[id] = use;
  }
  uses.write(tx, keyOf(place), {
    ...counts,
    usedChallenges: [...usedChallenges],
    byPasskey: kept,
  });
};

/** The records of passkeys, whose keys name the entity and the method. */
export const PASSKEY_RECORDS = [enrolled, uses] as const;
