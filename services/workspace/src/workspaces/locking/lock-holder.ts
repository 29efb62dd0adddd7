import type { Principal } from '@keelson/proto/edge/v1/edge';
import { notFound } from '../../base/not-found.ts';
import type { LockHolder } from '../model/domain/lock.ts';

/** Users, teams and runs may hold locks; organization tokens may not. */
export const toHolder = ({ kind, id }: Principal): LockHolder => {
  if (kind !== 'user' && kind !== 'team' && kind !== 'run') throw notFound('workspace');
  return { kind, id };
};

/** Names of holders in error texts. Clients search for these words. */
export const KIND_NAMES = { user: 'User', team: 'Team', run: 'Run' } as const;
