/** Gives up agents that have gone silent; one replica at a time, and not while sealed. */
import type { PeriodicWork } from '@keelson/locks';
import { giveUpSilentAgents } from '../agents/agent-operations.ts';
import { PING_SECONDS } from '../agents/domain/agent.ts';
import type { ServiceContext } from '../service-context.ts';

export const agentUpkeep = (
  context: ServiceContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => ({
  'silent-agents': {
    everyMs: PING_SECONDS * 1000,
    round: async (options) => !isSealed() && giveUpSilentAgents(context, options),
  },
});
