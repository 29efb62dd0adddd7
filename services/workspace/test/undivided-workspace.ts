import { join } from 'node:path';
import { ManualClock } from '@keelson/clock';
import { createBarrier, openBarrierFor, openSqliteStore } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import {
  autoDestroyOutcomes,
  findAutoDestroyOutcome,
} from '../src/workspaces/model/auto-destroy-records.ts';
import { workspaceUpgrades } from '../src/workspaces/model/domain/workspace-upgrades.ts';
import {
  findWorkspaceConfiguration,
  workspaceConfigurations,
} from '../src/workspaces/model/workspace-configuration-records.ts';
import {
  findWorkspaceLocking,
  workspaceLocks,
} from '../src/workspaces/model/workspace-lock-records.ts';
import { workspaceRecords } from '../src/workspaces/model/workspace-records.ts';
import {
  findWorkspaceRuns,
  workspaceRuns,
} from '../src/workspaces/model/workspace-runs-records.ts';
import {
  findWorkspaceState,
  workspaceStates,
} from '../src/workspaces/model/workspace-state-records.ts';
import {
  findWorkspaceVariables,
  workspaceVariables,
} from '../src/workspaces/model/workspace-variables-records.ts';
import type { Harness } from './workspace-harness.ts';

/** Stores a workspace in one record, as version 1 did. */
export const storeUndivided = ({ store }: Harness, id: string): Promise<void> =>
  store.transact(async (tx) => {
    const workspace = await workspaceRecords.find(tx, id);
    if (workspace === undefined) throw new Error(`${id} is gone`);
    const state = await findWorkspaceState(tx, workspace);
    const runs = await findWorkspaceRuns(tx, workspace);
    const autoDestroyed = (await findAutoDestroyOutcome(tx, workspace)) ?? undefined;
    const configuration = await findWorkspaceConfiguration(tx, workspace);
    const variables = await findWorkspaceVariables(tx, workspace);
    const locking = await findWorkspaceLocking(tx, workspace);
    const { 2: ofStates, 3: ofRuns, 4: ofLocks } = workspaceUpgrades;
    const whole = { ...workspace, state, runs, locking, autoDestroyed, configuration, variables };
    const older = ofStates.down(ofRuns.down(ofLocks.down(whole)));
    tx.write(workspaceRecords.path(id), Buffer.from(JSON.stringify(older)));
    workspaceStates.delete(tx, id);
    workspaceRuns.delete(tx, id);
    workspaceLocks.delete(tx, id);
    workspaceVariables.delete(tx, id);
    workspaceConfigurations.delete(tx, id);
    autoDestroyOutcomes.delete(tx, id);
  });

/** A store that processes may use which know no kind of a later version than the first. */
export const openOlderStore = async () => {
  const folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({
    file: join(folder.path, 'older.db'),
    barrier,
    clock: new ManualClock(),
    projections: [],
    kinds: [],
  });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(3));
  return {
    store,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
};
