import { collection, type Reads, type Transaction } from '@keelson/storage';
import { storePart } from './divided-workspace.ts';
import {
  lockingOf,
  UNLOCKED,
  type WorkspaceLocking,
  workspaceLockingShape,
} from './domain/lock.ts';
import type { Workspace } from './domain/workspace.ts';

/** Locks, keyed by `ws-…`. A lock writes them, and not the workspace with its settings. */
export const workspaceLocks = collection('workspace-locks', {
  scope: 'shared',
  version: 1,
  shape: workspaceLockingShape,
  owner: { kind: 'workspace', by: '*', isKey: true },
});

/** @throws KeelsonError the same as `RecordCollection.find` */
export const findWorkspaceLocking = async (
  reads: Pick<Reads, 'readAs'>,
  workspace: Workspace,
): Promise<WorkspaceLocking> =>
  lockingOf(workspace, await workspaceLocks.find(reads, workspace.id));

/** Stores the lock, or that there is none. @returns see `storePart` */
export const storeWorkspaceLocking = (
  tx: Transaction,
  workspace: Workspace,
  locking: WorkspaceLocking,
): Workspace => storePart(tx, workspace, 'locking', workspaceLocks, locking, UNLOCKED);
