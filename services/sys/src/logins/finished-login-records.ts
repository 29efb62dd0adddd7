/** Logins whose second factor was shown, for as long as their ids could be answered again. */
import { createHash } from 'node:crypto';
import { collection, type Reads, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import { dueKeys, expirySeconds } from '../owners/expiry.ts';
import { OF_NAMESPACE } from '../owners/record-owners.ts';

/** Keys: "<namespace id of the mount>/<digest of the id>". A login is finished at the cluster where it began. */
const finished = collection('finished-logins', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: Type.Object({ expiresAtMs: Type.Number() }),
  owner: OF_NAMESPACE,
  index: [{ name: 'expiry', values: ({ expiresAtMs }) => [expirySeconds(expiresAtMs)] }],
});

/** A login that waits for its second factor. */
export interface WaitingLogin {
  readonly namespaceId: string;
  /** `mfa_request_id`. */
  readonly id: string;
}

const keyOf = ({ namespaceId, id }: WaitingLogin): string =>
  `${namespaceId}/${createHash('sha256').update(id).digest('hex')}`;

export const isFinished = async (reads: Reads, login: WaitingLogin): Promise<boolean> =>
  (await finished.find(reads, keyOf(login))) !== undefined;

/** @param expiresAtMs the end of the id */
export const writeFinished = (
  tx: Transaction,
  login: WaitingLogin,
  expiresAtMs: number,
): Promise<void> => finished.write(tx, keyOf(login), { expiresAtMs });

/** Forgets logins whose ids have ended, at most `limit`. @returns how many */
export const deleteEnded = async (
  tx: Transaction,
  nowMs: number,
  limit: number,
): Promise<number> => {
  const due = dueKeys(await finished.by.expiry.rests(tx, [], { limit }), nowMs);
  for (const key of due) await finished.delete(tx, key);
  return due.length;
};
