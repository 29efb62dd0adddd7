import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import type { RpcService } from '@keelson/rpc';
import type { IdentityContext } from '../seams/identity-context.ts';
import { acceptInvitations } from './first-use-operations.ts';
import { findPrincipal } from './principal-operations.ts';
import { createTokenUseNotes } from './token-use-operations.ts';

/** Callers whose tokens do not end by themselves soon, so that their last use says whether they are needed. */
const LASTING: ReadonlySet<string> = new Set([
  'user',
  'team',
  'organization',
  'audit-trail',
  'agent',
]);

/** The RPC by which the gateway identifies the bearer token of each request. */
export const createIdentity = (context: IdentityContext): RpcService<typeof IdentityDefinition> => {
  const recordUse = createTokenUseNotes(context);
  return {
    identify: async ({ token }) => {
      const { store, clock, tokenOwners } = context;
      const principal: Principal | undefined = await findPrincipal(
        tokenOwners,
        store,
        token,
        clock.nowMs(),
      );
      if (principal?.kind === 'user') await acceptInvitations(context, principal.id);
      if (principal !== undefined && LASTING.has(principal.kind))
        await recordUse(principal.tokenId);
      return { principal };
    },
  };
};
