import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import type { RpcService } from '@keelson/rpc';
import type { IdentityContext } from '../seams/identity-context.ts';
import { acceptInvitations } from './first-use-operations.ts';
import { findPrincipal } from './principal-operations.ts';

/** The RPC by which the gateway identifies the bearer token of each request. */
export const createIdentity = (
  context: IdentityContext,
): RpcService<typeof IdentityDefinition> => ({
  identify: async ({ token }) => {
    const { store, clock, tokenOwners } = context;
    const principal: Principal | undefined = await findPrincipal(
      tokenOwners,
      store,
      token,
      clock.nowMs(),
    );
    if (principal?.kind === 'user') await acceptInvitations(context, principal.id);
    return { principal };
  },
});
