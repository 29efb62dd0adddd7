import type { Mount, Namespace } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import {
  type AccessDefinition,
  Allowed,
  AuditDeviceList,
  Resolution,
} from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import { stubService } from '@keelson/testkit';
import { edgeRequest } from './echo-service.ts';

/** Allows every request without a lookup, as sys does for a root token. */
export const openAccess = stubService<RpcService<typeof AccessDefinition>>({
  resolve: ({ path }) => {
    const { mount, namespace, caller } = edgeRequest().head;
    return Promise.resolve(
      messageOf(Resolution, {
        outcome: {
          $case: 'allowed',
          value: messageOf(Allowed, {
            service: 'pki',
            path: `/${path}`,
            mount: mount as Mount,
            namespace: namespace as Namespace,
            ...(caller && { caller }),
          }),
        },
        auditGeneration: 1,
      }),
    );
  },
  auditDevices: () => Promise.resolve(messageOf(AuditDeviceList, { generation: 1 })),
});
