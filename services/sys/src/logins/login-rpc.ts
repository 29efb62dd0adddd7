/** The RPC service `Logins`, through which auth methods have tokens made. */
import type { LoginsDefinition } from '@keelson/proto/sys/v1/logins';
import type { RpcService } from '@keelson/rpc';
import { toAuthBlock } from '../tokens/token-document.ts';
import { rightsOf } from '../tokens/token-rights-operations.ts';
import { type LoginContext, logIn } from './login-operations.ts';

export const loginRpc = (context: LoginContext): RpcService<typeof LoginsDefinition> => ({
  login: async (request) => {
    const { token, entry, warnings } = await logIn(context, request);
    const rights = await rightsOf(context.tokens, entry);
    const auth = toAuthBlock(token, entry, rights, context.tokens.clock.nowMs());
    return { authJson: JSON.stringify(auth), warnings: [...warnings] };
  },
});
