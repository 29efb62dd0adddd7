import type { Principal } from '@keelson/proto/edge/v1/edge';
import { notFound } from '../access/access-operations.ts';
import type { LockHolder } from './domain/lock.ts';

/** Users, teams and runs hold locks; an organization token may not. */
export const toHolder = ({ kind, id, displayName }: Principal): LockHolder => {
  if (kind !== 'user' && kind !== 'team' && kind !== 'run') throw notFound('workspace');
  return { kind, id, name: displayName };
};

/** As refusals name them: clients look for these words. */
export const KIND_NAMES = { user: 'User', team: 'Team', run: 'Run' } as const;
