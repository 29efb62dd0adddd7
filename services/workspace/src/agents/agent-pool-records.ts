import { keyedRecords } from '../records/keyed-records.ts';
import type { AgentPool, PoolUser } from './domain/agent-pool.ts';

/** Keyed by `apool-…`. */
export const agentPoolRecords = keyedRecords<AgentPool>('shared/agent-pools/');

/** Organization id, name -> pool id. */
export const agentPoolNames = keyedRecords<{ readonly id: string }>('shared/agent-pool-names/');

/** What names the pool of its own, keyed by pool id, id of the user: such a pool is not deleted. */
export const agentPoolUsers = keyedRecords<Pick<PoolUser, 'kind'>>('shared/agent-pool-users/');
