/** The tokens of whoever has signed in: listed and ended by the person, and by nobody else with these routes. */
import { KeelsonError } from '@keelson/errors';
import { findEntityOrMerged } from '../identity/entity-records.ts';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import type { TokenEntry } from '../tokens/domain/token-entry.ts';
import { namespaceIdOf } from '../tokens/domain/token-text.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import { findTokenAt, findTokenByAccessor } from '../tokens/token-operations.ts';
import {
  findStoredToken,
  listTokensOfEntities,
  refOf,
  type TokenRef,
} from '../tokens/token-records.ts';
import { revokeTree } from '../tokens/token-revocation-operations.ts';
import { findLastUse } from '../tokens/token-use-operations.ts';

export interface OwnTokenContext extends TokenContext {
  readonly mounts: () => Promise<MountIndex>;
}

export interface OwnToken {
  readonly token: TokenEntry;
  /** The mount of the login; that of tokens for one that was made by another. */
  readonly mount: MountRecord | undefined;
  readonly lastUseMs: number;
  /** Whether it is the token of the request. */
  readonly isCurrent: boolean;
}

export interface OwnTokens {
  readonly tokens: readonly OwnToken[];
  readonly nextBeforeMs: number | undefined;
}

export interface Page {
  readonly beforeMs: number | undefined;
  readonly limit: number;
}

/** Tokens that are ended one after the other before the next ones are looked up. */
const PORTION = 200;

interface Entities {
  readonly namespaceId: string;
  /** The entity of a person, and those that were merged into it. */
  readonly ids: readonly string[];
}

/** @throws KeelsonError `request.invalid` for a token without an entity */
const requireEntities = async ({ store }: TokenContext, own: TokenEntry): Promise<Entities> => {
  if (own.entity === undefined)
    throw new KeelsonError('request.invalid', {
      text: 'the token has no entity: only who has signed in has tokens of their own',
    });
  const { id, namespaceId } = own.entity;
  const entity = await findEntityOrMerged(store, namespaceId, id);
  return { namespaceId, ids: entity === undefined ? [id] : [entity.id, ...entity.mergedIds] };
};

const isSame = (one: TokenRef, other: TokenRef): boolean =>
  one.hash === other.hash && one.namespaceId === other.namespaceId;

const mountOf = ({ login, namespace }: TokenEntry, mounts: MountIndex): MountRecord | undefined =>
  login === undefined
    ? mounts.findAt(namespace.id, 'auth', 'token/')
    : mounts.findByUuid(login.mountUuid);

/**
 * The service tokens of the entity of a token in all namespaces, the latest first. Batch tokens are not stored.
 * @throws KeelsonError `request.invalid` for a token without an entity
 */
export const listOwnTokens = async (
  context: OwnTokenContext,
  own: TokenEntry,
  page: Page,
): Promise<OwnTokens> => {
  const entities = await requireEntities(context, own);
  const { refs, nextBeforeMs } = await listTokensOfEntities(context.store, entities, page);
  const mounts = await context.mounts();
  const tokens: OwnToken[] = [];
  for (const ref of refs) {
    const token = await findTokenAt(context, ref);
    if (token === undefined) continue;
    tokens.push({
      token,
      mount: mountOf(token, mounts),
      lastUseMs: await findLastUse(context.store, token),
      isCurrent: isSame(ref, refOf(own)),
    });
  }
  return { tokens, nextBeforeMs };
};

/**
 * Ends one token of the entity, with those that were made by it.
 * @throws KeelsonError `request.invalid`, the same for an unknown token and for one of somebody else
 */
export const endOwnToken = async (
  context: TokenContext,
  own: TokenEntry,
  accessor: string,
): Promise<void> => {
  const { namespaceId, ids } = await requireEntities(context, own);
  if (accessor === '') throw new KeelsonError('request.invalid', { text: 'missing accessor' });
  const token = await findTokenByAccessor(context, namespaceIdOf(accessor), accessor);
  const { entity } = token ?? {};
  if (token === undefined || entity?.namespaceId !== namespaceId || !ids.includes(entity.id))
    throw new KeelsonError('request.invalid', { text: 'invalid accessor' });
  await revokeTree(context, refOf(token));
};

/** A token and those by which it was made, with which it would end. */
const lineOf = async ({ store }: TokenContext, own: TokenEntry): Promise<readonly TokenRef[]> => {
  const line = [refOf(own)];
  for (let { parent } = own; parent !== undefined; ) {
    line.push(parent);
    parent = (await findStoredToken(store, parent))?.parent;
  }
  return line;
};

/**
 * Ends all tokens of the entity except the given one and those by which it was made.
 * @returns how many have ended, and how many stay in addition to the given one
 */
export const endOtherTokens = async (
  context: TokenContext,
  own: TokenEntry,
): Promise<{ readonly ended: number; readonly kept: number }> => {
  const entities = await requireEntities(context, own);
  const line = await lineOf(context, own);
  let ended = 0;
  let kept = 0;
  for (let beforeMs: number | undefined, isOver = false; !isOver; ) {
    const page = await listTokensOfEntities(context.store, entities, { beforeMs, limit: PORTION });
    for (const ref of page.refs) {
      if (isSame(ref, refOf(own))) continue;
      if (line.some((one) => isSame(one, ref))) kept += 1;
      else if ((await findStoredToken(context.store, ref)) !== undefined) {
        await revokeTree(context, ref);
        ended += 1;
      }
    }
    beforeMs = page.nextBeforeMs;
    isOver = beforeMs === undefined;
  }
  return { ended, kept };
};
