/** The passkeys of users. */
import { createHash } from 'node:crypto';
import { passkeyShape, passkeyUseShape, usedChallengeShape } from '@keelson/passkeys';
import { collection, type Reads, readableOnly, type Transaction } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

const ownPasskeyShape = Type.Object({
  /** `pk-…`. */
  id: Type.String(),
  userId: Type.String(),
  passkey: passkeyShape,
});
export type OwnPasskey = Shaped<typeof ownPasskeyShape>;

/** By the digest of the credential's id, which browsers name at a sign-in. */
export const passkeyRecords = collection('passkeys', {
  scope: 'shared',
  version: 1,
  shape: ownPasskeyShape,
  owner: [{ kind: 'user', by: 'userId' }],
  index: ['userId'],
});

const usesShape = Type.Object({
  usedChallenges: Type.Array(usedChallengeShape),
  /** By the id of the credential. */
  byPasskey: Type.Record(Type.String(), passkeyUseShape),
});
export type PasskeyUses = Shaped<typeof usesShape>;

/** Keyed by `user-…`. Each cluster counts for itself. */
export const passkeyUses = collection('passkey-uses', {
  scope: 'local',
  version: 1,
  shape: usesShape,
  owner: { kind: 'user', by: '*' },
});

export const NO_PASSKEY_USES: PasskeyUses = { usedChallenges: [], byPasskey: {} };

/** Ids of credentials are longer than keys may be. */
export const toPasskeyKey = (credentialId: string): string =>
  createHash('sha256').update(credentialId).digest('hex');

/** Oldest first; a damaged one is left out. */
export const loadPasskeysOf = async (
  reads: Reads,
  userId: string,
): Promise<readonly OwnPasskey[]> =>
  (await passkeyRecords.by.userId.records(readableOnly(reads), userId)).toSorted(
    (one, other) => one.passkey.createdAtMs - other.passkey.createdAtMs,
  );

export const removePasskeysOf = async (tx: Transaction, userId: string): Promise<void> => {
  for (const key of await passkeyRecords.by.userId.keys(tx, userId))
    await passkeyRecords.delete(tx, key);
  passkeyUses.delete(tx, userId);
};
