/** The RPC service `Logins`, through which auth methods have tokens made. */
import type { LoginsDefinition } from '@keelson/proto/sys/v1/logins';
import type { RpcService } from '@keelson/rpc';
import { type LoginContext, logIn } from './login-operations.ts';

export const loginRpc = (context: LoginContext): RpcService<typeof LoginsDefinition> => ({
  login: (request) => logIn(context, request),
});
