import { KeelsonError } from '@keelson/errors';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { EnrolmentDefinition } from '@keelson/proto/pki/v1/enrolment';
import type { RpcService } from '@keelson/rpc';
import type { Store } from '@keelson/storage';
import {
  EST_OPERATIONS,
  type EstConfig,
  findPathPolicy,
  noPathPolicy,
  type PathPolicy,
} from '../est/domain/est-config.ts';
import { followEstConfigs } from '../est/est-config-operations.ts';

const isPublic = (operation: string): boolean =>
  operation === 'cacerts' || operation === 'csrattrs';

/** The path that the caller's policies must allow: that of the role or policy that decides. */
const pathOf = (policy: PathPolicy, label: string): string => {
  if (label === '') return 'est';
  return policy.kind === 'role' ? `roles/${policy.role}/est` : 'sign-verbatim/est';
};

const ownsLabel = (config: EstConfig, label: string): boolean =>
  label === '' ? config.defaultMount : Object.hasOwn(config.labelToPathPolicy, label);

/** The RPC service by which the gateway finds the mount for /.well-known/est. */
export const createEnrolment = (
  store: Store,
  mounts: () => readonly Mount[],
): RpcService<typeof EnrolmentDefinition> => {
  const configs = followEstConfigs(store);
  return {
    locate: async ({ label, operation }) => {
      const { readable, damaged } = await configs();
      const [lost] = mounts().flatMap(({ uuid }) => damaged.get(uuid) ?? []);
      const serving = mounts().filter(({ uuid }) => readable.get(uuid)?.enabled);
      if (serving.length === 0 && lost === undefined) throw new KeelsonError('pki.est_disabled');
      if (!EST_OPERATIONS.some((known) => known === operation))
        throw new KeelsonError('pki.est_unknown_operation', { operation });
      for (const mount of serving) {
        const config = readable.get(mount.uuid);
        if (config === undefined || !ownsLabel(config, label)) continue;
        const policy = findPathPolicy(config, label);
        if (policy === undefined) continue;
        const base = `${mount.namespace?.path ?? ''}${mount.path}`;
        const byCertificate = label === '' ? '' : `/${label}`;
        return {
          path: `${base}${pathOf(policy, label)}/${operation}`,
          certificatePath:
            config.certificate === undefined || isPublic(operation)
              ? ''
              : `${base}est/by-certificate${byCertificate}/${operation}`,
          isAuthenticated: !isPublic(operation),
          acceptsBasic: config.acceptsBasic,
        };
      }
      // The mount whose settings cannot be decrypted may serve the label.
      if (lost !== undefined) throw new KeelsonError('barrier.damaged_value', { path: lost });
      throw noPathPolicy(label);
    },
  };
};
