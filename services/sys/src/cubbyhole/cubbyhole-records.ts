/** The private storage of each token, removed with the token. */
import { collection, type Reads, type Transaction } from '@keelson/storage';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import type { TokenRef } from '../tokens/token-records.ts';
import { MAX_SECRETS, secretShape } from './domain/cubbyhole.ts';

/** Keys: "<namespace id>/<token's hash>/<the path a client chose>". */
const cubbyholes = collection('cubbyhole', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: secretShape,
  owner: OF_NAMESPACE,
});

/** Keys: the path a client chose. */
export const cubbyholeOf = ({ namespaceId, hash }: TokenRef) => cubbyholes.below(namespaceId, hash);

/** Part of the transaction that removes the token. */
export const removeCubbyhole = async (tx: Transaction, token: TokenRef): Promise<void> => {
  for (const { path } of await tx.scan(cubbyholeOf(token).prefix)) tx.delete(path);
};

/** Names below a path of a token's cubbyhole. */
export const listCubbyhole = (
  reads: Reads,
  token: TokenRef,
  path: string,
): Promise<readonly string[]> => reads.list(`${cubbyholeOf(token).prefix}${path}`);

/** Number of secrets of a token, counted up to the most that there may be. */
export const countSecrets = async (reads: Reads, token: TokenRef): Promise<number> =>
  (await reads.scan(cubbyholeOf(token).prefix, { limit: MAX_SECRETS })).length;
