/** The quota that limits the rate of requests like this one, which the gateway counts. */
import type { RateQuota, ResolveRequest } from '@keelson/proto/sys/v1/access';
import { mountPathOf } from '../mounts/domain/mount.ts';
import type { AccessContext } from './access-context.ts';
import type { DecisionState } from './decision-state.ts';
import type { Operation } from './domain/operation.ts';
import { readParameters } from './request-parameters.ts';
import type { Target } from './request-target.ts';

/** Path of the request below the mount whose quotas apply. */
const belowMount = ({ quotaMount, path }: Target): string =>
  quotaMount === undefined ? '' : path.decoded.slice(mountPathOf(quotaMount).length);

/** Whether it may be a login at a mount with quotas of roles, which only the body of the request can name. */
export const needsLoginRole = (
  { quotas }: DecisionState,
  { mount, path, isUnauthenticated }: Target,
  operation: Operation,
): boolean =>
  operation === 'update' &&
  isUnauthenticated &&
  mount?.table === 'auth' &&
  quotas.needsRole(mount.uuid, path.decoded);

/** Name of the role with which a client signs in; "" if there is none. @param request with its body */
export const findLoginRole = async (
  { authMethods }: AccessContext,
  request: ResolveRequest,
  target: Target,
): Promise<string> => {
  if (authMethods === undefined || target.edgeMount === undefined) return '';
  const parameters = (await readParameters(request, 'update')) ?? {};
  const { role } = await authMethods.findLoginRole({
    mount: target.edgeMount,
    path: belowMount(target),
    parametersJson: Buffer.from(JSON.stringify(parameters)),
    clientCertificates: request.clientCertificates,
  });
  return role;
};

/** @param role of a login */
export const quotaOf = (
  { quotas, namespaces }: DecisionState,
  target: Target,
  role: string | undefined,
): Omit<RateQuota, 'isFoundByBody'> | undefined => {
  if (quotas.isEmpty) return undefined;
  const { namespace, quotaMount, path } = target;
  const found = quotas.find({
    lineage: namespaces.lineageOf(namespace).map(({ id }) => id),
    mountUuid: quotaMount?.uuid,
    below: belowMount(target),
    path: path.decoded,
    role,
  });
  if (found === undefined) return undefined;
  const { name, rate, intervalSeconds, blockSeconds } = found;
  const { statesLimits, auditsRefusals } = quotas.settings;
  return { name, rate, intervalSeconds, blockSeconds, statesLimits, auditsRefusals };
};
