import type { Transaction } from '@keelson/storage';
import type { ServiceContext } from '../../base/service-context.ts';
import type { Workspace } from '../model/domain/workspace.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import { loadWorkspaceAccess, type WorkspaceAccessResult } from './access-operations.ts';

/**
 * Changes one workspace in a transaction, which `change` may refuse by throwing; returns the changed
 * workspace. Its record is written unless `change` returns the same.
 */
export const changeWorkspace = (
  context: ServiceContext,
  load: (tx: Transaction) => Promise<WorkspaceAccessResult>,
  change: (access: WorkspaceAccessResult, tx: Transaction) => Promise<Workspace> | Workspace,
): Promise<WorkspaceAccessResult> =>
  context.store.transact(async (tx) => {
    const access = await load(tx);
    const workspace = await change(access, tx);
    if (workspace !== access.workspace) await workspaceRecords.write(tx, workspace.id, workspace);
    return loadWorkspaceAccess(tx, access, workspace);
  });
