/** The RPC service `Leases`, through which engines register the leases of their secrets. */
import type { LeasesDefinition } from '@keelson/proto/sys/v1/cluster';
import type { RpcService } from '@keelson/rpc';
import type { LeaseRegistryContext } from './lease-context.ts';
import { registerLease, requireRoomFor } from './lease-operations.ts';

export const leaseRpc = (context: LeaseRegistryContext): RpcService<typeof LeasesDefinition> => ({
  register: (request) => registerLease(context, request),
  requireRoom: async (request) => {
    await requireRoomFor(context, request);
    return {};
  },
});
