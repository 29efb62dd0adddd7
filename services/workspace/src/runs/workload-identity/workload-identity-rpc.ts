import type { WorkloadIdentityDefinition } from '@keelson/proto/workspace/v1/workload_identity';
import type { RpcService } from '@keelson/rpc';
import type { RunsContext } from '../seams/runs-context.ts';
import {
  describeWorkloadIdentity,
  isAtWork,
  readWorkloadToken,
} from './workload-token-operations.ts';

/** The RPC by which the gateway shows the keys of runs, and auth methods read tokens of runs. */
export const createWorkloadIdentity = (
  context: RunsContext,
): RpcService<typeof WorkloadIdentityDefinition> => ({
  describe: () => describeWorkloadIdentity(context),
  readToken: async ({ token }) => ({
    claimsJson: JSON.stringify(await readWorkloadToken(context, token)),
  }),
  findPhase: async (phase) => ({ isAtWork: await isAtWork(context, phase) }),
});
