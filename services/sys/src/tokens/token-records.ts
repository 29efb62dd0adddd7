/**
 * Records of tokens. No path and no value contains a token or an accessor in plain text: both are looked up
 * by a hash with a salt that never leaves the barrier.
 */

import { hash } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import {
  collection,
  countRecords,
  type Reads,
  type Store,
  singleRecord,
  type Transaction,
  unlessDamaged,
} from '@keelson/storage';
import { Type } from 'typebox';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import { type TokenEntry, tokenEntryShape } from './domain/token-entry.ts';
import { tokenRoleShape } from './domain/token-role.ts';
import { namespaceIdOf } from './domain/token-text.ts';

/** Keys are `<namespace id>/<hash>`. */
export const tokens = collection('tokens', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: tokenEntryShape,
  owner: OF_NAMESPACE,
});

/** Keys are `<namespace id>/<hash of the accessor>`. */
const accessors = collection('token-accessors', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: Type.Object({ hash: Type.String(), accessor: Type.String() }),
  owner: OF_NAMESPACE,
});

/** Accessors of all tokens of a namespace. */
export const listAccessors = async (reads: Reads, namespaceId: string): Promise<string[]> => {
  const own = accessors.below(namespaceId);
  return (await own.entries(reads)).map(([, { accessor }]) => accessor);
};

/** Keys are `<parent's namespace id>/<parent's hash>/<child's namespace id>.<child's hash>`. */
const children = collection('token-children', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: Type.Object({}),
  owner: OF_NAMESPACE,
});

/** Keys are `<epoch seconds, 12 digits>/<namespace id>/<hash>`, in order of expiry. */
export const expiries = collection('token-expiry', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: Type.Object({}),
});

/** Keys are `<namespace id>/<name>`. */
export const roles = collection('token-roles', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: tokenRoleShape,
  owner: OF_NAMESPACE,
});

const salts = singleRecord('core/token-salt', {
  scope: 'local',
  version: 1,
  shape: Type.Object({ keyBase64: Type.String() }),
});

/** Number of stored tokens in all namespaces; at most `limit`. */
export const countTokens = (store: Store, limit: number): Promise<number> =>
  countRecords(store, tokens.prefix, limit);

/** Part of the first start of a cluster. */
export const writeTokenSalt = (tx: Transaction, key: Uint8Array): void =>
  salts.write(tx, { keyBase64: Buffer.from(key).toString('base64') });

/**
 * Hex SHA-256 of the cluster's salt, which has a fixed length, followed by a token or accessor. An HMAC would
 * also prevent the extension of a known hash, which is of no use here: an attacker who reads these hashes
 * still needs a text that hashes to one of them, and the salt.
 */
export const hashSecret = async (reads: Reads, secret: string): Promise<string> => {
  const salt = await salts.find(reads);
  if (salt === undefined) throw new KeelsonError('sys.not_initialized');
  return hash('sha256', salt.keyBase64 + secret);
};

export interface TokenRef {
  readonly namespaceId: string;
  readonly hash: string;
}

export const refOf = (token: TokenEntry): TokenRef => ({
  namespaceId: token.namespace.id,
  hash: token.hash,
});

const keyOf = ({ namespaceId, hash }: TokenRef): string => `${namespaceId}/${hash}`;

const expiryKeyOf = (token: TokenEntry): string | undefined =>
  token.expiresAtMs === undefined
    ? undefined
    : `${String(Math.ceil(token.expiresAtMs / 1000)).padStart(12, '0')}/${keyOf(refOf(token))}`;

const childKeyOf = (token: TokenEntry): string | undefined =>
  token.parent === undefined
    ? undefined
    : `${keyOf(token.parent)}/${token.namespace.id}.${token.hash}`;

const accessorKeyOf = async (reads: Reads, accessor: string): Promise<string> =>
  `${namespaceIdOf(accessor)}/${await hashSecret(reads, accessor)}`;

/** The stored token, whether or not it can still be used. */
export const findStoredToken = (reads: Reads, ref: TokenRef): Promise<TokenEntry | undefined> =>
  tokens.find(reads, keyOf(ref));

export const findByAccessor = async (
  reads: Reads,
  accessor: string,
): Promise<TokenEntry | undefined> => {
  const found = await accessors.find(reads, await accessorKeyOf(reads, accessor));
  return (
    found && findStoredToken(reads, { namespaceId: namespaceIdOf(accessor), hash: found.hash })
  );
};

/** Writes a token with its indexes; `before` is the version it replaces. */
export const writeToken = async (
  tx: Transaction,
  token: TokenEntry,
  before: TokenEntry | undefined,
): Promise<void> => {
  if (before === undefined) {
    accessors.write(tx, await accessorKeyOf(tx, token.accessor), {
      hash: token.hash,
      accessor: token.accessor,
    });
  }
  const [oldExpiry, newExpiry] = [before && expiryKeyOf(before), expiryKeyOf(token)];
  if (oldExpiry !== undefined && oldExpiry !== newExpiry) expiries.delete(tx, oldExpiry);
  if (newExpiry !== undefined) expiries.write(tx, newExpiry, {});
  const [oldChild, newChild] = [before && childKeyOf(before), childKeyOf(token)];
  if (oldChild !== undefined && oldChild !== newChild) children.delete(tx, oldChild);
  if (newChild !== undefined) children.write(tx, newChild, {});
  tokens.write(tx, keyOf(refOf(token)), token);
};

/** Removes a token and its indexes. Its children refer to it until they are removed as well. */
export const removeToken = async (tx: Transaction, token: TokenEntry): Promise<void> => {
  accessors.delete(tx, await accessorKeyOf(tx, token.accessor));
  const expiry = expiryKeyOf(token);
  if (expiry !== undefined) expiries.delete(tx, expiry);
  const child = childKeyOf(token);
  if (child !== undefined) children.delete(tx, child);
  tokens.delete(tx, keyOf(refOf(token)));
};

/** Children of a token, whether or not it still exists. */
export const childrenOf = async (
  reads: Reads,
  ref: TokenRef,
  limit: number,
): Promise<readonly TokenRef[]> => {
  const names = await reads.list(children.path(`${keyOf(ref)}/`), { limit });
  return names.map((name) => {
    const dot = name.indexOf('.');
    return { namespaceId: name.slice(0, dot), hash: name.slice(dot + 1) };
  });
};

export const forgetChild = (tx: Transaction, parent: TokenRef, child: TokenRef): void =>
  children.delete(tx, `${keyOf(parent)}/${child.namespaceId}.${child.hash}`);

/** Tokens that had expired at `nowMs`, oldest first. */
export const listExpired = async (
  reads: Reads,
  nowMs: number,
  limit: number,
): Promise<readonly { readonly key: string; readonly ref: TokenRef }[]> => {
  const entries = await expiries.entries(reads, { limit });
  const latest = Math.floor(nowMs / 1000);
  return entries.flatMap(([key]) => {
    const [seconds = '', namespaceId = '', hash = ''] = key.split('/');
    return Number(seconds) <= latest ? [{ key, ref: { namespaceId, hash } }] : [];
  });
};

const REMOVAL_BATCH = 200;

/**
 * Removes the tokens of a namespace with their entries among the children of other namespaces' tokens and among the
 * expiries, which do not begin with the namespace. What remains, such as damaged tokens, goes with the namespace.
 */
export const removeTokensOf = async (store: Store, namespaceId: string): Promise<void> => {
  let after: string | undefined;
  for (;;) {
    const page = { limit: REMOVAL_BATCH, ...(after !== undefined && { after }) };
    const names = await tokens.keys(store, [namespaceId], page);
    await store.transact(async (tx) => {
      for (const name of names) {
        const token = await unlessDamaged(findStoredToken(tx, { namespaceId, hash: name }));
        if (token !== undefined) await removeToken(tx, token);
      }
    });
    after = names.at(-1);
    if (names.length < REMOVAL_BATCH) return;
  }
};
