import type { Clock } from '@keelson/clock';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import type { RpcService } from '@keelson/rpc';
import type { Reads } from '@keelson/storage';
import { findPrincipal } from '../tokens/principal-operations.ts';

/** What the gateway asks about the bearer token of each request. */
export const createIdentity = (
  reads: Reads,
  clock: Clock,
): RpcService<typeof IdentityDefinition> => ({
  identify: async ({ token }) => {
    const principal: Principal | undefined = await findPrincipal(reads, token, clock.nowMs());
    return { principal };
  },
});
