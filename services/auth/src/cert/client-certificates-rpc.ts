import type { ClientCertificatesDefinition } from '@keelson/proto/auth/v1/client_certificates';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { RpcService } from '@keelson/rpc';
import { toRoleName } from '../logins/role-name-operations.ts';
import { roleRecords } from './cert-records.ts';
import { readClientCertificate } from './domain/client-certificate.ts';
import { findRole, type RoleChoiceParts } from './role-choice-operations.ts';

/** The RPC service by which the certificate authority lets roles of `cert` say who may enroll. */
export const createClientCertificates = (
  parts: RoleChoiceParts,
  mounts: () => readonly Mount[],
): RpcService<typeof ClientCertificatesDefinition> => {
  const findMount = (request: {
    readonly namespaceId: string;
    readonly accessor: string;
  }): Mount | undefined =>
    mounts().find(
      ({ type, accessor, namespace }) =>
        type === 'cert' && accessor === request.accessor && namespace?.id === request.namespaceId,
    );
  return {
    findRole: async (request) => {
      const mount = findMount(request);
      const name = request.role === '' ? '' : toRoleName(request.role);
      return {
        hasMount: mount !== undefined,
        hasRole:
          mount !== undefined &&
          (name === '' || (await roleRecords(mount).find(parts.store, name)) !== undefined),
      };
    },
    judge: async (request) => {
      const mount = findMount(request);
      const [der, ...chain] = request.certificates;
      if (mount === undefined || der === undefined) return { isAccepted: false };
      const certificate = readClientCertificate(der, chain);
      const found = await findRole(parts, mount, certificate, request.role);
      return { isAccepted: found !== undefined };
    },
  };
};
