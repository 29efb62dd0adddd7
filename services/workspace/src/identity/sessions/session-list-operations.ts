/** The sessions of a user, who lists and ends them. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import type { ApiToken } from '../model/domain/token.ts';
import { findToken } from '../model/token-records.ts';
import { endSessionsOf, listSessionsOf } from '../tokens/session-operations.ts';
import { removeToken } from '../tokens/token-operations.ts';

/** The caller's own sessions, newest first. @throws KeelsonError `workspace.not_found` for other callers than users */
export const listOwnSessions = async (
  { store, clock }: ServiceContext,
  { kind, id }: Principal,
): Promise<readonly ApiToken[]> => {
  if (kind !== 'user') throw notFound('account');
  return (await listSessionsOf(store, id, clock.nowMs())).toReversed();
};

/** Ends one of the caller's own sessions. @throws KeelsonError `workspace.not_found` */
export const endOwnSession = (
  { store }: ServiceContext,
  { kind, id }: Principal,
  sessionId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const token = kind === 'user' ? await findToken(tx, sessionId) : undefined;
    if (token?.ownerKind !== 'session' || token.ownerId !== id) throw notFound('session');
    await removeToken(tx, token.id);
  });

/** Signs the caller out everywhere. @throws KeelsonError `workspace.not_found` for other callers than users */
export const endOwnSessions = ({ store }: ServiceContext, { kind, id }: Principal): Promise<void> =>
  store.transact(async (tx) => {
    if (kind !== 'user') throw notFound('account');
    await endSessionsOf(tx, id);
  });
