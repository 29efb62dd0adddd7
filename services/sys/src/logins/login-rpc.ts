/** The RPC service `Logins`, through which auth methods have tokens made. */
import type { LoginsDefinition } from '@keelson/proto/sys/v1/logins';
import type { RpcService } from '@keelson/rpc';
import { loginAuthBlock } from './login-document.ts';
import { type LoginContext, logIn } from './login-operations.ts';

export const loginRpc = (context: LoginContext): RpcService<typeof LoginsDefinition> => ({
  login: async (request) => {
    const outcome = await logIn(context, request);
    const auth = await loginAuthBlock(context.tokens, outcome);
    return {
      authJson: JSON.stringify(auth),
      warnings: outcome.kind === 'token' ? [...outcome.warnings] : [],
    };
  },
});
