/** Finds the service that answers a request, and the special rules for its path. */
import { type ErrorCode, type ErrorParams, KeelsonError } from '@keelson/errors';
import type { Mount, Namespace } from '@keelson/proto/edge/v1/edge';
import type { ResolveRequest } from '@keelson/proto/sys/v1/access';
import { type MountConfig, type MountRecord, mountPathOf } from '../mounts/domain/mount.ts';
import type { EngineType } from '../mounts/engine-type-records.ts';
import type { NamespaceRecord } from '../namespaces/domain/namespace.ts';
import { PathSet } from '../policies/domain/path-set.ts';
import type { AccessContext } from './access-context.ts';
import type { DecisionState } from './decision-state.ts';
import type { Operation } from './domain/operation.ts';
import {
  parseRequestPath,
  type RequestPath,
  remainder,
  withoutEmptySegments,
} from './domain/request-path.ts';
import {
  isRestricted,
  isRootProtected,
  isUnauthenticated,
  SERVED_BY_DR_SECONDARY,
  SERVED_WHILE_LOCKED,
  SERVED_WHILE_SEALED,
} from './domain/special-paths.ts';

/** The service that answers a path, and the special rules that apply to the path. */
export interface Target {
  readonly service: string;
  /** Path below the namespace, for policies and special paths. */
  readonly path: RequestPath;
  /** `RequestHead.path` as the service receives it. */
  readonly servicePath: string;
  readonly namespace: NamespaceRecord;
  readonly mount: MountRecord | undefined;
  readonly edgeMount: Mount | undefined;
  /** The mount whose quotas apply: `mount` or, for paths of sys, the built-in one; undefined while sealed. */
  readonly quotaMount: MountRecord | undefined;
  /** The tuning of `mount` or, for paths of sys, of the built-in mount; undefined while sealed. */
  readonly tuning: MountConfig | undefined;
  readonly isUnauthenticated: boolean;
  readonly isRootProtected: boolean;
}

const SYS_PREFIXES = ['sys/', 'auth/token/', 'cubbyhole/', 'identity/'];
const isForSys = (path: string): boolean => {
  const below = `${path}/`;
  return SYS_PREFIXES.some((prefix) => below.startsWith(prefix));
};

const ROOT: Namespace = { id: 'root', path: '' };

export const toNamespace = ({ id, path }: NamespaceRecord): Namespace => ({ id, path });

export const refuse = (code: ErrorCode, params: ErrorParams = {}): never => {
  throw new KeelsonError(code, params);
};

/** Special paths of an engine type, compiled once per description. */
const engineSets = new WeakMap<EngineType, { unauthenticated: PathSet; rootProtected: PathSet }>();

const setsOf = (type: EngineType): { unauthenticated: PathSet; rootProtected: PathSet } => {
  let sets = engineSets.get(type);
  if (sets === undefined) {
    sets = {
      unauthenticated: new PathSet(type.unauthenticatedPaths),
      rootProtected: new PathSet(type.rootPaths),
    };
    engineSets.set(type, sets);
  }
  return sets;
};

/** @throws KeelsonError `sys.sealed`, `sys.not_initialized`, `replication.switching` */
export const refuseSealed = async ({ seal }: AccessContext): Promise<never> => {
  if (!seal.isSealed) return refuse('replication.switching');
  return refuse((await seal.record()) === undefined ? 'sys.not_initialized' : 'sys.sealed');
};

const builtInMount = (
  { mounts }: DecisionState,
  namespace: NamespaceRecord,
  path: string,
): MountRecord | undefined =>
  path.startsWith('auth/')
    ? mounts.findAt(namespace.id, 'auth', 'token/')
    : mounts.findServing(namespace.id, path);

const sysTarget = (
  { ceremonies }: AccessContext,
  namespace: NamespaceRecord,
  given: RequestPath,
  operation: Operation,
  state: DecisionState | undefined,
): Target => {
  // Once decoded, it would be two segments to a handler and one to a policy.
  if (/%2f/i.test(given.raw)) refuse('request.invalid', { text: 'the path has an encoded slash' });
  const path = withoutEmptySegments(given);
  if (namespace.path !== '' && isRestricted(path.decoded)) refuse('request.unsupported_path');
  const builtIn = state && builtInMount(state, namespace, path.decoded);
  return {
    service: 'sys',
    path,
    servicePath: `/${path.raw}`,
    namespace,
    mount: undefined,
    edgeMount: undefined,
    quotaMount: builtIn,
    tuning: builtIn?.config,
    isUnauthenticated: isUnauthenticated(path.decoded, ceremonies),
    isRootProtected: isRootProtected(path.decoded, operation, ceremonies),
  };
};

const engineTarget = (
  context: AccessContext,
  state: DecisionState,
  namespace: NamespaceRecord,
  path: RequestPath,
): Target => {
  const mount = state.mounts.findServing(namespace.id, path.decoded);
  const type = mount && state.engineTypes.get(mount.type);
  if (mount === undefined || type === undefined) {
    return refuse('sys.no_route', { path: path.decoded });
  }
  const below = path.decoded.slice(mountPathOf(mount).length);
  const { unauthenticated, rootProtected } = setsOf(type);
  return {
    service: type.service,
    path,
    servicePath: `/${below === '' ? '' : remainder(path, below).raw}`,
    namespace,
    mount,
    edgeMount: state.edgeMount(mount, (record) =>
      context.toEdgeMount(record, toNamespace(namespace), context.systemTtls),
    ),
    quotaMount: mount,
    tuning: mount.config,
    isUnauthenticated: unauthenticated.has(below),
    isRootProtected: rootProtected.has(below),
  };
};

/** @param state undefined while the cluster is sealed */
export const findTarget = async (
  context: AccessContext,
  request: ResolveRequest,
  operation: Operation,
  state: DecisionState | undefined,
): Promise<Target> => {
  const whole = parseRequestPath(request.path);
  if (state === undefined) {
    if (!SERVED_WHILE_SEALED.has(whole.decoded)) return refuseSealed(context);
    if (request.namespace !== '') refuse('request.unsupported_path');
    const root = { ...ROOT, customMetadata: {}, isDeleting: false };
    return sysTarget(context, root, whole, operation, state);
  }
  if (state.isDrSecondary && !SERVED_BY_DR_SECONDARY.has(whole.decoded))
    refuse('replication.dr_secondary');
  const table = state.namespaces;
  const resolved = table.resolve(request.namespace, whole.decoded);
  if (resolved === undefined) return refuse('sys.no_route', { path: whole.decoded });
  const { namespace } = resolved;
  const path = remainder(whole, resolved.path);
  const locked = table.lockedBy(namespace);
  if (locked !== undefined && !SERVED_WHILE_LOCKED.has(path.decoded)) {
    refuse('sys.namespace_locked', { namespace: locked.path });
  }
  return isForSys(path.decoded)
    ? sysTarget(context, namespace, path, operation, state)
    : engineTarget(context, state, namespace, path);
};
