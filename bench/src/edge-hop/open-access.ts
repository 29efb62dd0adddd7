import type { Mount, Namespace } from '@keelson/proto/edge/v1/edge';
import { type AccessDefinition, AuditDeviceList, Resolution } from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import { stubService } from '@keelson/testkit';
import { edgeRequest } from './echo-service.ts';

/** Allows every request without a lookup, as sys does for a root token. */
export const openAccess = stubService<RpcService<typeof AccessDefinition>>({
  resolve: ({ path }) => {
    const { mount, namespace, caller } = edgeRequest().head;
    return Promise.resolve(
      Resolution.fromPartial({
        outcome: {
          $case: 'allowed',
          value: {
            service: 'pki',
            path: `/${path}`,
            mount: mount as Mount,
            namespace: namespace as Namespace,
            ...(caller && { caller }),
          },
        },
        auditGeneration: 1,
      }),
    );
  },
  auditDevices: () => Promise.resolve(AuditDeviceList.fromPartial({ generation: 1 })),
});
