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
} from '@keelson/storage';
import { Type } from 'typebox';
import { expirySeconds } from '../owners/expiry.ts';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import { type TokenEntry, tokenEntryShape } from './domain/token-entry.ts';
import { tokenRoleShape } from './domain/token-role.ts';
import { namespaceIdOf } from './domain/token-text.ts';

/** The latest time that there is. */
const MAX_TIME_MS = 8_640_000_000_000_000;

/** 16 digits, in the order of the times, the latest first. */
const latestFirst = (epochMs: number): string =>
  String(MAX_TIME_MS - Math.floor(epochMs)).padStart(16, '0');

/** Keys are `<namespace id>/<hash>`. */
export const tokens = collection('tokens', {
  scope: 'local',
  version: 5,
  upgrades: {
    2: {
      up: (token) => token,
      down: (token) => {
        const { login: _, ...older } = token;
        return older;
      },
    },
    3: {
      up: (token) => token,
      down: (token) => {
        const { entity: _, ...older } = token;
        return older;
      },
    },
    4: {
      up: (token) => token,
      down: ({ login, ...token }) => {
        if (login === undefined) return token;
        const { role: _, ...older } = login as NonNullable<TokenEntry['login']>;
        return { ...token, login: older };
      },
    },
    5: { up: (token) => token, down: (token) => token },
  },
  keys: 'paths',
  shape: tokenEntryShape,
  owner: OF_NAMESPACE,
  index: [
    {
      name: 'expiry',
      values: ({ expiresAtMs }) => (expiresAtMs === undefined ? [] : [expirySeconds(expiresAtMs)]),
      rows: 'token-expiry',
    },
    {
      name: 'parent',
      values: ({ parent }) => (parent === undefined ? [] : [[parent.namespaceId, parent.hash]]),
      rows: {
        at: 'token-children',
        end: {
          of: (key) => key.replace('/', '.'),
          toKey: (end) => end.replace('.', '/'),
        },
      },
    },
    { name: 'login', values: ({ login }) => (login ? [login.mountUuid] : []), since: 2 },
    {
      name: 'role',
      values: ({ login }) =>
        login?.role === undefined ? [] : [[login.mountUuid, login.role.toLowerCase()]],
      since: 4,
    },
    {
      name: 'entity',
      values: ({ entity, createdAtMs }) =>
        entity ? [[entity.namespaceId, entity.id, latestFirst(createdAtMs)]] : [],
      since: 5,
    },
  ],
});

/** Keys are `<namespace id>/<hash of the accessor>`. */
const accessors = collection('token-accessors', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: Type.Object({ hash: Type.String(), accessor: Type.String() }),
  owner: OF_NAMESPACE,
});

/** Accessors of all tokens of a namespace, in ascending order. */
export const listAccessors = async (reads: Reads, namespaceId: string): Promise<string[]> => {
  const own = accessors.below(namespaceId);
  return (await own.entries(reads)).map(([, { accessor }]) => accessor).sort();
};

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

/** Number of stored tokens of a namespace; at most `limit`. */
export const countTokensOf = (store: Store, namespaceId: string, limit: number): Promise<number> =>
  countRecords(store, `${tokens.prefix}${namespaceId}/`, limit);

/**
 * Number of stored tokens that logins at a mount made; at most `limit`.
 * @param place with a role, if only its logins count, in lower case
 */
export const countTokensAt = (
  store: Store,
  { mountUuid, role }: { readonly mountUuid: string; readonly role: string | undefined },
  limit: number,
): Promise<number> =>
  countRecords(
    store,
    role === undefined
      ? `${tokens.by.login.prefix}${mountUuid}/`
      : `${tokens.by.role.prefix}${mountUuid}/${role}/`,
    limit,
  );

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

/** Writes a new token. */
export const addToken = async (tx: Transaction, token: TokenEntry): Promise<void> => {
  const { accessor, hash } = token;
  accessors.write(tx, await accessorKeyOf(tx, accessor), { hash, accessor });
  await writeToken(tx, token);
};

/** Writes a token that is stored already. */
export const writeToken = (tx: Transaction, token: TokenEntry): Promise<void> =>
  tokens.write(tx, keyOf(refOf(token)), token);

/** Its children refer to it until they are removed as well. */
export const removeToken = async (tx: Transaction, token: TokenEntry): Promise<void> => {
  accessors.delete(tx, await accessorKeyOf(tx, token.accessor));
  await tokens.delete(tx, keyOf(refOf(token)));
};

const refAt = (key: string): TokenRef => {
  const [namespaceId = '', hash = ''] = key.split('/');
  return { namespaceId, hash };
};

const valueOf = ({ namespaceId, hash }: TokenRef): readonly string[] => [namespaceId, hash];

/** The mounts whose logins made tokens that are stored. */
export const listLoginMounts = async (reads: Reads): Promise<readonly string[]> => {
  const uuids: string[] = [];
  for (let after: string | undefined; ; after = `${uuids.at(-1)}0`) {
    const [row] = await tokens.by.login.rests(reads, [], {
      limit: 1,
      ...(after !== undefined && { after }),
    });
    const [uuid] = row?.split('/') ?? [];
    if (uuid === undefined) return uuids;
    uuids.push(uuid);
  }
};

/** Tokens that logins at a mount made, at most `limit`. */
export const listTokensOfMount = async (
  reads: Reads,
  mountUuid: string,
  limit: number,
): Promise<readonly TokenRef[]> =>
  (await tokens.by.login.rests(reads, [mountUuid], { limit })).map(refAt);

/** Tokens of entities, the latest first. */
export interface EntityTokens {
  readonly refs: readonly TokenRef[];
  /** Further tokens were created before this time; undefined if there are none. */
  readonly nextBeforeMs: number | undefined;
}

/**
 * At least `limit` tokens of entities of one namespace, if there are as many. Those that were created in the same
 * millisecond are together, so that a page begins where the one before it has ended, whatever has ended meanwhile.
 * @param beforeMs only tokens that were created before
 */
export const listTokensOfEntities = async (
  reads: Reads,
  { namespaceId, ids }: { readonly namespaceId: string; readonly ids: readonly string[] },
  { beforeMs, limit }: { readonly beforeMs: number | undefined; readonly limit: number },
): Promise<EntityTokens> => {
  const index = tokens.by.entity;
  // A row of the time itself is not after this text, and all later ones are.
  const restsAfter = async (time: string | undefined, most: number): Promise<string[]> => {
    const page = { limit: most, ...(time !== undefined && { after: `${time}0` }) };
    return (await Promise.all(ids.map((id) => index.rests(reads, [namespaceId, id], page)))).flat();
  };
  const refIn = (row: string): TokenRef => refAt(row.slice(row.indexOf('/') + 1));
  const first = beforeMs === undefined ? undefined : latestFirst(beforeMs);
  const rows = (await restsAfter(first, limit)).sort();
  const [lastTime] = rows[limit - 1]?.split('/', 1) ?? [];
  if (lastTime === undefined) return { refs: rows.map(refIn), nextBeforeMs: undefined };
  const atLast = ids.map((id) => index.rests(reads, [namespaceId, id, lastTime]));
  return {
    refs: [
      ...rows.filter((row) => row < lastTime).map(refIn),
      ...(await Promise.all(atLast)).flat().map(refAt),
    ],
    nextBeforeMs:
      (await restsAfter(lastTime, 1)).length === 0 ? undefined : MAX_TIME_MS - Number(lastTime),
  };
};

/** Children of a token, whether or not it still exists. */
export const childrenOf = async (
  reads: Reads,
  parent: TokenRef,
  limit: number,
): Promise<readonly TokenRef[]> => {
  const ends = await tokens.by.parent.keys(reads, valueOf(parent), { limit });
  return ends.map((end) => refAt(end.replace('.', '/')));
};

/** Forgets a child that is gone: releases without this index left its row when they removed its namespace. */
export const pruneChild = (tx: Transaction, parent: TokenRef, child: TokenRef): Promise<void> =>
  tokens.by.parent.prune(tx, valueOf(parent), keyOf(child));

export interface ExpiredToken {
  readonly ref: TokenRef;
  readonly seconds: string;
}

/** Tokens that had expired at `nowMs`, oldest first. */
export const listExpired = async (
  reads: Reads,
  nowMs: number,
  limit: number,
): Promise<readonly ExpiredToken[]> => {
  const rests = await tokens.by.expiry.rests(reads, [], { limit });
  const latest = Math.floor(nowMs / 1000);
  return rests.flatMap((rest) => {
    const [seconds = ''] = rest.split('/', 1);
    const ref = refAt(rest.slice(seconds.length + 1));
    return Number(seconds) <= latest ? [{ ref, seconds }] : [];
  });
};

/** Forgets the expiry of a token that is gone: releases without this index left its row, too. */
export const pruneExpired = (tx: Transaction, { ref, seconds }: ExpiredToken): Promise<void> =>
  tokens.by.expiry.prune(tx, seconds, keyOf(ref));
