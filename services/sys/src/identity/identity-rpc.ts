/** The RPC service `Identities`, through which engines learn what their templates stand for. */
import type { IdentitiesDefinition } from '@keelson/proto/sys/v1/identities';
import type { RpcService } from '@keelson/rpc';
import { resolveParameter } from '../policies/domain/path-template.ts';
import type { TokenContext } from '../tokens/token-context.ts';

export const identityRpc = ({
  identityOf,
}: Pick<TokenContext, 'identityOf'>): RpcService<typeof IdentitiesDefinition> => ({
  findValues: async ({ entityId, namespaceId, parameters }) => {
    const values: Record<string, string> = {};
    const rights = await identityOf({ id: entityId, namespaceId });
    if (rights === undefined) return { values };
    for (const parameter of parameters) {
      const value = resolveParameter(rights.identity, parameter);
      if (value !== undefined) values[parameter] = value;
    }
    return { values };
  },
});
