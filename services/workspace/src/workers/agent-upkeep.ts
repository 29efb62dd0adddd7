/**
 * Gives up agents that have gone silent, and runs that no agent may take any more; one replica at a time,
 * and not while sealed.
 */
import type { PeriodicWork } from '@keelson/locks';
import { giveUpSilentAgents } from '../agents/agent-operations.ts';
import { PING_SECONDS } from '../agents/domain/agent.ts';
import { failStrandedRuns } from '../runs/stranded-run-operations.ts';
import type { ServiceContext } from '../service-context.ts';

const MINUTE_MS = 60_000;

export const agentUpkeep = (
  context: ServiceContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => ({
  'silent-agents': {
    everyMs: PING_SECONDS * 1000,
    round: async (options) => !isSealed() && giveUpSilentAgents(context, options),
  },
  'stranded-runs': {
    everyMs: MINUTE_MS,
    round: async (options) => !isSealed() && failStrandedRuns(context, options),
  },
});
