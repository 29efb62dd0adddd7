import { workspaceUpgrades } from '../src/workspaces/model/domain/workspace-upgrades.ts';
import { workspaceRecords } from '../src/workspaces/model/workspace-records.ts';
import {
  findWorkspaceRuns,
  workspaceRuns,
} from '../src/workspaces/model/workspace-runs-records.ts';
import {
  findWorkspaceState,
  workspaceStates,
} from '../src/workspaces/model/workspace-state-records.ts';
import type { Harness } from './workspace-harness.ts';

/** Stores a workspace in one record, as version 1 did. */
export const storeUndivided = ({ store }: Harness, id: string): Promise<void> =>
  store.transact(async (tx) => {
    const workspace = await workspaceRecords.find(tx, id);
    if (workspace === undefined) throw new Error(`${id} is gone`);
    const state = await findWorkspaceState(tx, workspace);
    const runs = await findWorkspaceRuns(tx, workspace);
    const { 2: ofStates, 3: ofRuns } = workspaceUpgrades;
    const older = ofStates.down(ofRuns.down({ ...workspace, state, runs }));
    tx.write(workspaceRecords.path(id), Buffer.from(JSON.stringify(older)));
    workspaceStates.delete(tx, id);
    workspaceRuns.delete(tx, id);
  });
