/**
 * Access.Resolve: what may this request do, and who serves it. Asked once for every request, nothing is
 * remembered between two: a revoked token, a changed policy or a new mount holds from the next one on.
 */

import { bufferedBody, methodRefused } from '@keelson/edge';
import { createNetworks } from '@keelson/edge/networks';
import { type ErrorCode, type ErrorParams, hasCode, KeelsonError } from '@keelson/errors';
import type { Caller, Mount, Namespace } from '@keelson/proto/edge/v1/edge';
import {
  type AccessDefinition,
  type AuditContext,
  type Resolution,
  type ResolveRequest,
  Surface,
} from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import { readBody, readQuery } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { readAuditDevice } from '../audit/audit-fields.ts';
import type { AuditOperations } from '../audit/audit-operations.ts';
import type { LeaseTtls } from '../mounts/domain/lease-ttl.ts';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { EngineType } from '../mounts/engine-type-records.ts';
import type { NamespaceRecord } from '../namespaces/domain/namespace.ts';
import { contains } from '../namespaces/domain/namespace-table.ts';
import { CAPABILITY_BITS } from '../policies/domain/capabilities.ts';
import { ROOT_POLICY } from '../policies/domain/default-policy.ts';
import type { PolicyBook } from '../policies/policy-book.ts';
import type { Seal } from '../seal/seal.ts';
import type { TokenEntry } from '../tokens/domain/token-entry.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import { findToken, useToken } from '../tokens/token-operations.ts';
import { refOf } from '../tokens/token-records.ts';
import type { WrappingOperations } from '../wrapping/wrapping-operations.ts';
import type { DecisionState, DecisionStates } from './decision-state.ts';
import { decide } from './domain/decision.ts';
import { type Operation, operationOf } from './domain/operation.ts';
import { PathSet } from './domain/path-set.ts';
import {
  parseRequestPath,
  type RequestPath,
  remainder,
  withoutEmptySegments,
} from './domain/request-path.ts';
import {
  CEREMONY_PATHS,
  enabledAuditDevice,
  isRestricted,
  isRootProtected,
  NEEDS_TOKEN,
  SERVED_BY_DR_SECONDARY,
  SERVED_WHILE_LOCKED,
  SERVED_WHILE_SEALED,
  UNAUTHENTICATED_PATHS,
} from './domain/special-paths.ts';
import { existsAlready } from './existence.ts';

export interface AccessDependencies {
  readonly store: Store;
  readonly seal: Seal;
  readonly tokens: TokenContext;
  readonly policies: () => Promise<PolicyBook>;
  readonly decisionState: DecisionStates;
  readonly audit: AuditOperations;
  readonly wrapping: WrappingOperations;
  readonly systemTtls: LeaseTtls;
  readonly toEdgeMount: (mount: MountRecord, namespace: Namespace, system: LeaseTtls) => Mount;
  /** Waits until the log has come as far as an index header tells. */
  readonly awaitIndex: (header: string) => Promise<void>;
}

/** Who serves a path, and which of its paths are special. */
interface Target {
  readonly service: string;
  /** Path below the namespace, for policies and special paths. */
  readonly path: RequestPath;
  /** RequestHead.path for the service. */
  readonly servicePath: string;
  readonly namespace: NamespaceRecord;
  readonly mount: MountRecord | undefined;
  readonly edgeMount: Mount | undefined;
  readonly isUnauthenticated: boolean;
  readonly isRootProtected: boolean;
}

const SYS_PREFIXES = ['sys/', 'auth/token/', 'cubbyhole/'];
const ROOT: Namespace = { id: 'root', path: '' };

const toNamespace = ({ id, path }: NamespaceRecord): Namespace => ({ id, path });

const refuse = (code: ErrorCode, params: ErrorParams = {}): never => {
  throw new KeelsonError(code, params);
};

const refusal = (error: unknown): Resolution['outcome'] => {
  // Anything unexpected is not an answer; the channel reports it as what it is.
  if (!(error instanceof KeelsonError)) throw error;
  const { code, params } = error;
  return { $case: 'refused', value: { code, detailsJson: JSON.stringify(params) } };
};

/** Special paths of an engine type, made once per description. */
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

/** The parameters a policy judges: the body of a write, the query of a read. */
const readParameters = async (
  request: ResolveRequest,
  operation: Operation,
): Promise<Readonly<Record<string, unknown>> | undefined> => {
  if (operation === 'read') {
    const { query } = request;
    return readQuery({ head: { query }, query: new URLSearchParams(query) });
  }
  if (!request.hasBody) return undefined;
  const headers = { 'content-type': request.contentType };
  return readBody({ head: { headers }, body: bufferedBody(request.body) });
};

export const createAccess = (
  dependencies: AccessDependencies,
): RpcService<typeof AccessDefinition> => {
  const { store, seal, tokens, systemTtls } = dependencies;

  const refuseSealed = async (): Promise<never> => {
    if (!seal.isSealed) return refuse('replication.switching');
    return refuse((await seal.record()) === undefined ? 'sys.not_initialized' : 'sys.sealed');
  };

  const sysTarget = (
    namespace: NamespaceRecord,
    given: RequestPath,
    operation: Operation,
  ): Target => {
    // Decoded, it would be two segments to a handler and one to a policy.
    if (/%2f/i.test(given.raw))
      refuse('request.invalid', { text: 'the path has an encoded slash' });
    const path = withoutEmptySegments(given);
    if (namespace.path !== '' && isRestricted(path.decoded)) refuse('request.unsupported_path');
    return {
      service: 'sys',
      path,
      servicePath: `/${path.raw}`,
      namespace,
      mount: undefined,
      edgeMount: undefined,
      isUnauthenticated: UNAUTHENTICATED_PATHS.has(path.decoded),
      isRootProtected: isRootProtected(path.decoded, operation),
    };
  };

  const engineTarget = (
    state: DecisionState,
    namespace: NamespaceRecord,
    path: RequestPath,
  ): Target => {
    const mount = state.mounts.findServing(namespace.id, path.decoded);
    const type = mount && state.engineTypes.get(mount.type);
    if (mount === undefined || type === undefined) {
      return refuse('sys.no_route', { path: path.decoded });
    }
    const below =
      path.decoded.length < mount.path.length ? '' : path.decoded.slice(mount.path.length);
    const { unauthenticated, rootProtected } = setsOf(type);
    return {
      service: type.service,
      path,
      servicePath: `/${below === '' ? '' : remainder(path, below).raw}`,
      namespace,
      mount,
      edgeMount: state.edgeMount(mount, (record) =>
        dependencies.toEdgeMount(record, toNamespace(namespace), systemTtls),
      ),
      isUnauthenticated: unauthenticated.has(below),
      isRootProtected: rootProtected.has(below),
    };
  };

  const findTarget = async (
    request: ResolveRequest,
    operation: Operation,
    state: DecisionState | undefined,
  ): Promise<Target> => {
    const whole = parseRequestPath(request.path);
    if (state === undefined) {
      if (!SERVED_WHILE_SEALED.has(whole.decoded)) return refuseSealed();
      if (request.namespace !== '') refuse('request.unsupported_path');
      return sysTarget({ ...ROOT, customMetadata: {}, isDeleting: false }, whole, operation);
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
    return SYS_PREFIXES.some((prefix) => `${path.decoded}/`.startsWith(prefix))
      ? sysTarget(namespace, path, operation)
      : engineTarget(state, namespace, path);
  };

  const findCaller = async (
    request: ResolveRequest,
    target: Target,
  ): Promise<TokenEntry | undefined> => {
    if (seal.isSealed || request.token === '') return undefined;
    const token = await findToken(tokens, request.token);
    if (token === undefined || !contains(token.namespace, target.namespace)) return undefined;
    return token.boundCidrs.length === 0 ||
      createNetworks(token.boundCidrs).includes(request.remoteAddress)
      ? token
      : undefined;
  };

  const toCaller = (token: TokenEntry, isSudo: boolean): Caller => ({
    accessor: token.accessor,
    tokenHash: token.hash,
    displayName: token.displayName,
    policies: [...token.policies],
    metadata: { ...token.meta },
    entityId: '',
    namespace: { ...token.namespace },
    root: token.policies.includes(ROOT_POLICY),
    sudo: isSudo,
    tokenType: token.type,
    expiresAtEpochSeconds: BigInt(Math.floor((token.expiresAtMs ?? 0) / 1000)),
  });

  const allowed = (target: Target, caller: Caller | undefined): Resolution['outcome'] => ({
    $case: 'allowed',
    value: {
      service: target.service,
      path: target.servicePath,
      namespace: toNamespace(target.namespace),
      mount: target.edgeMount,
      caller,
      passToken: target.service === 'sys' && NEEDS_TOKEN.has(target.path.decoded),
      tryAuditDevice: undefined,
    },
  });

  /** Path of a request as the policies of the token's namespace name it. */
  const policyPath = (token: TokenEntry, { namespace, path }: Target): string =>
    namespace.path.slice(token.namespace.path.length) + path.decoded;

  /** What the policies grant on the path; fills the caller of the audit entry as a side of it. */
  const judge = async (
    request: ResolveRequest,
    target: Target,
    token: TokenEntry,
    asked: Operation,
    audit: AuditContext,
  ): Promise<Resolution['outcome']> => {
    let operation = asked;
    if (asked === 'update' && target.service === 'sys') {
      const exists = await existsAlready(
        store,
        target.path.decoded,
        target.namespace.id,
        refOf(token),
      );
      if (!exists) operation = 'create';
    }
    const book = await dependencies.policies();
    const decision = decide(book.aclFor(token.namespace.id, token.policies), {
      path: policyPath(token, target),
      operation,
      isRootProtected: target.isRootProtected,
      wrapTtlSeconds: request.wrapTtlSeconds,
      parameters: await readParameters(request, operation),
    });
    if (decision.kind === 'needs-parameters') return { $case: 'needsBody', value: {} };
    if (decision.kind === 'denied') return refuse('sys.permission_denied');
    audit.grantingPolicies = [...decision.policies];
    return allowed(target, toCaller(token, decision.isSudo));
  };

  /** A device that no gateway can write to would block every request: the gateway tries it first. */
  const withAuditTrial = async (
    request: ResolveRequest,
    target: Target,
    operation: Operation,
    outcome: Resolution['outcome'],
  ): Promise<Resolution['outcome']> => {
    if (outcome?.$case !== 'allowed' || operation !== 'update' || target.service !== 'sys')
      return outcome;
    const name = enabledAuditDevice(target.path.decoded);
    if (name === undefined) return outcome;
    const data = await readParameters(request, operation);
    if (data === undefined) return { $case: 'needsBody', value: {} };
    const tryAuditDevice = await dependencies.audit.draft(readAuditDevice(name, data));
    return { $case: 'allowed', value: { ...outcome.value, tryAuditDevice } };
  };

  /** A token on a path that needs none: it only tells who asks, and whether with sudo where that counts. */
  const recognize = async (target: Target, token: TokenEntry): Promise<Caller> => {
    const isRoot = token.policies.includes(ROOT_POLICY);
    if (isRoot || !CEREMONY_PATHS.has(target.path.decoded)) return toCaller(token, isRoot);
    const book = await dependencies.policies();
    const acl = book.aclFor(token.namespace.id, token.policies);
    const capabilities = acl.capabilitiesOn(policyPath(token, target));
    return toCaller(token, (capabilities & CAPABILITY_BITS.sudo) !== 0);
  };

  const resolveV1 = async (
    request: ResolveRequest,
    audit: AuditContext,
    state: DecisionState | undefined,
  ): Promise<Resolution['outcome']> => {
    const operation = operationOf(request.method);
    if (operation === undefined) throw methodRefused();
    const target = await findTarget(request, operation, state);
    // What a browser asks before a request of another origin carries no token (Fetch standard §4.8).
    if (request.method === 'OPTIONS' && !target.isUnauthenticated) throw methodRefused();
    audit.namespace = toNamespace(target.namespace);
    audit.mountType = target.mount?.type ?? 'system';
    audit.mountPath = target.mount?.path ?? `${target.path.decoded.split('/', 1)[0] ?? ''}/`;
    audit.mountAccessor = target.mount?.accessor ?? '';
    audit.nonHmacRequestKeys = [...(target.mount?.config.auditNonHmacRequestKeys ?? [])];
    audit.nonHmacResponseKeys = [...(target.mount?.config.auditNonHmacResponseKeys ?? [])];
    // What a caller makes up is not to be signed by the cluster.
    if (request.wrapFormat === 'jwt' && target.path.decoded === 'sys/wrapping/wrap')
      return refuse('request.invalid', { text: 'JWT wrapping tokens are not made of given data' });
    const token = await findCaller(request, target);
    if (target.isUnauthenticated) {
      audit.caller = token && (await recognize(target, token));
      return allowed(target, audit.caller);
    }
    if (token === undefined) return refuse('sys.permission_denied');
    const isRoot = token.policies.includes(ROOT_POLICY);
    audit.caller = toCaller(token, isRoot);
    const judged = isRoot
      ? allowed(target, audit.caller)
      : await judge(request, target, token, operation, audit);
    const outcome = await withAuditTrial(request, target, operation, judged);
    if (outcome?.$case === 'allowed' && !(await useToken(tokens, token))) {
      return refuse('sys.permission_denied');
    }
    return outcome;
  };

  const resolveApi = (
    request: ResolveRequest,
    state: DecisionState | undefined,
  ): Promise<Resolution['outcome']> | Resolution['outcome'] => {
    if (state === undefined) return refuseSealed();
    if (state.isDrSecondary) refuse('replication.dr_secondary');
    return {
      $case: 'allowed',
      value: {
        service: 'workspace',
        path: request.path,
        namespace: undefined,
        mount: undefined,
        caller: undefined,
        passToken: false,
        tryAuditDevice: undefined,
      },
    };
  };

  return {
    resolve: async (request) => {
      const audit: AuditContext = {
        caller: undefined,
        namespace: undefined,
        mountType: '',
        mountPath: '',
        mountAccessor: '',
        nonHmacRequestKeys: [],
        nonHmacResponseKeys: [],
        policyResult: '',
        grantingPolicies: [],
      };
      let outcome: Resolution['outcome'];
      let state: DecisionState | undefined;
      try {
        if (request.index !== '') await dependencies.awaitIndex(request.index);
        state = await dependencies.decisionState();
        outcome =
          request.surface === Surface.API_V2
            ? await resolveApi(request, state)
            : await resolveV1(request, audit, state);
      } catch (error) {
        // Sealed between the first look and the last.
        outcome = refusal(
          hasCode(error, 'storage.sealed') ? new KeelsonError('sys.sealed') : error,
        );
      }
      audit.policyResult = outcome?.$case ?? '';
      const auditGeneration = seal.isSealed ? 0 : (state?.audit.generation ?? 0);
      return { outcome, auditGeneration, audit };
    },
    wrap: (request) => dependencies.wrapping.wrap(request),
    auditDevices: () => dependencies.audit.devices(),
  };
};
