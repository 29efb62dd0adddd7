/** The RPC service `Access`, which gateways call. */
import { retryableAtRoleChange } from '@keelson/cluster-member';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import { listDevicesForGateways } from '../audit/audit-operations.ts';
import { wrapResponse } from '../wrapping/wrapping-operations.ts';
import type { AccessContext } from './access-context.ts';
import { resolveAccess } from './access-operations.ts';

export const accessRpc = (context: AccessContext): RpcService<typeof AccessDefinition> => ({
  resolve: (request) => resolveAccess(context, request),
  wrap: (request) => retryableAtRoleChange(() => wrapResponse(context.tokens, request)),
  auditDevices: () =>
    listDevicesForGateways({ store: context.store, devices: context.auditDevices }),
  countRequests: (counts) => {
    context.addRequests(counts);
    return Promise.resolve({});
  },
});
