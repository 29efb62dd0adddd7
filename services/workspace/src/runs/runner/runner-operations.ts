/** Phases of runs that the built-in runner takes, of every organization. */
import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { unlessDamaged } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { isRunner } from '../../identity/tokens/runner-identity.ts';
import type { Agent } from '../../workspaces/model/domain/agent.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import {
  type ClaimedRun,
  findWaiting,
  listWaitingOrganizations,
  takePhase,
} from '../agent-runs/agent-run-operations.ts';
import type { AgentInput } from '../agents/agent-operations.ts';
import { isForRunner } from '../executors/run-executor-operations.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { inTurn, recordTurn } from './runner-turn-records.ts';

/**
 * Claims a phase that waits for the built-in runner; undefined if none waits. Organizations take turns,
 * and the oldest phase of an organization is first. Each phase gets a separate agent, with which the
 * runner pings and which is removed when the phase ends.
 * @throws KeelsonError `workspace.not_found` for every other caller
 */
export const claimForRunner = async (
  context: RunsContext,
  principal: Principal,
  given: AgentInput,
): Promise<ClaimedRun | undefined> => {
  if (!isRunner(principal)) throw notFound('resource');
  const { store, clock, publicUrl } = context;
  const claim = (runId: string): Promise<ClaimedRun | undefined> =>
    store.transact(async (tx) => {
      const nowMs = clock.nowMs();
      const agent: Agent = {
        ...given,
        id: newResourceId('agent'),
        poolId: null,
        organizationId: '',
        runId: null,
        ended: null,
        lastPingAtMs: nowMs,
        createdAtMs: nowMs,
      };
      const mayTake = (workspace: Workspace) => isForRunner(tx, workspace);
      const taken = await takePhase(tx, agent, runId, { nowMs, mayTake, publicUrl });
      if (taken !== undefined) await recordTurn(tx, taken.run.organizationId, nowMs);
      return taken;
    });
  for (const organizationId of await inTurn(store, await listWaitingOrganizations(context))) {
    for await (const runId of findWaiting(context, organizationId)) {
      const claimed = await unlessDamaged(claim(runId));
      if (claimed !== undefined) return claimed;
    }
  }
  return undefined;
};
