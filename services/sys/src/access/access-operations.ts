/**
 * Access.Resolve: whether a request is allowed, and which service answers it. It is called once for
 * every request, and again if the body arrives later than the head. It keeps nothing between requests, so a revoked token, a changed policy or a new
 * mount takes effect with the next request.
 */

import { retryableAtRoleChange } from '@keelson/cluster-member';
import { methodRefused } from '@keelson/edge';
import { createNetworks } from '@keelson/edge/networks';
import { isSealed, KeelsonError } from '@keelson/errors';
import type { Caller } from '@keelson/proto/edge/v1/edge';
import {
  type AuditContext,
  type Resolution,
  type ResolveRequest,
  Surface,
} from '@keelson/proto/sys/v1/access';
import { readAuditDevice } from '../audit/audit-fields.ts';
import { draftAuditDevice } from '../audit/audit-operations.ts';
import { mountPathOf } from '../mounts/domain/mount.ts';
import { contains } from '../namespaces/domain/namespace-table.ts';
import { CAPABILITY_BITS } from '../policies/domain/capabilities.ts';
import { ROOT_POLICY } from '../policies/domain/default-policy.ts';
import type { TokenEntry } from '../tokens/domain/token-entry.ts';
import { findToken, useToken } from '../tokens/token-operations.ts';
import { refOf } from '../tokens/token-records.ts';
import { rightsOf, type TokenRights } from '../tokens/token-rights-operations.ts';
import type { AccessContext } from './access-context.ts';
import type { DecisionState } from './decision-state.ts';
import { decide } from './domain/decision.ts';
import { type Operation, operationOf } from './domain/operation.ts';
import {
  CEREMONY_PATHS,
  enabledAuditDevice,
  NEEDS_CERTIFICATE,
  NEEDS_CREDENTIALS,
  NEEDS_TOKEN,
} from './domain/special-paths.ts';
import { existsAlready } from './existence.ts';
import { readParameters } from './request-parameters.ts';
import { findLoginRole, needsLoginRole, quotaOf } from './request-quota.ts';
import { findTarget, refuse, refuseSealed, type Target, toNamespace } from './request-target.ts';

const refusal = (error: unknown): Resolution['outcome'] => {
  // Unexpected errors are not an answer: the channel reports them as failures.
  if (!(error instanceof KeelsonError)) throw error;
  const { code, params } = error;
  return { $case: 'refused', value: { code, detailsJson: JSON.stringify(params) } };
};

/** A token that can be used, and its rights at this moment. */
interface Bearer {
  readonly token: TokenEntry;
  readonly rights: TokenRights;
}

const findBearer = async (
  { seal, tokens }: AccessContext,
  request: ResolveRequest,
  target: Target,
): Promise<Bearer | undefined> => {
  if (seal.isSealed || request.token === '') return undefined;
  const token = await findToken(tokens, request.token);
  if (token === undefined || !contains(token.namespace, target.namespace)) return undefined;
  if (
    token.boundCidrs.length > 0 &&
    !createNetworks(token.boundCidrs).includes(request.remoteAddress)
  )
    return undefined;
  const rights = await rightsOf(tokens, token);
  return rights && { token, rights };
};

const toCaller = ({ token, rights }: Bearer, isSudo: boolean): Caller => ({
  accessor: token.accessor,
  tokenHash: token.hash,
  displayName: token.displayName,
  policies: [...rights.policies],
  metadata: { ...token.meta },
  entityId: token.entity?.id ?? '',
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
    passCertificate: target.service === 'sys' && NEEDS_CERTIFICATE.has(target.path.decoded),
    passCredentials: target.service === 'sys' && NEEDS_CREDENTIALS.has(target.path.decoded),
    tryAuditDevice: undefined,
    isSuperseded: false,
  },
});

/** The request path relative to the namespace of the token, which is how its policies name it. */
const policyPath = (token: TokenEntry, { namespace, path }: Target): string =>
  namespace.path.slice(token.namespace.path.length) + path.decoded;

/** Decides by the policies of the token and its entity; records the granting policies in the audit context. */
const judge = async (
  context: AccessContext,
  request: ResolveRequest,
  target: Target,
  bearer: Bearer,
  asked: Operation,
  audit: AuditContext,
): Promise<Resolution['outcome']> => {
  const { token } = bearer;
  let operation = asked;
  if (asked === 'update' && target.service === 'sys') {
    const exists = await existsAlready(
      context.store,
      target.path.decoded,
      target.namespace.id,
      refOf(token),
    );
    if (!exists) operation = 'create';
  }
  const index = await context.policies();
  const decision = decide(index.aclOf(bearer.rights), {
    path: policyPath(token, target),
    operation,
    isRootProtected: target.isRootProtected,
    wrapTtlSeconds: request.wrapTtlSeconds,
    parameters: await readParameters(request, operation),
  });
  if (decision.kind === 'needs-parameters') return { $case: 'needsBody', value: {} };
  if (decision.kind === 'denied') return refuse('sys.permission_denied');
  audit.grantingPolicies = [...decision.policies];
  return allowed(target, toCaller(bearer, decision.isSudo));
};

/**
 * The gateway first tests a new device, because one that no gateway can write to would block every
 * request.
 */
const withAuditTrial = async (
  context: AccessContext,
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
  const tryAuditDevice = await draftAuditDevice(
    { store: context.store, devices: context.auditDevices },
    readAuditDevice(name, data),
  );
  return { $case: 'allowed', value: { ...outcome.value, tryAuditDevice } };
};

/** Identifies the caller on a path that needs no token; `sudo` is looked up only where it has an effect. */
const recognize = async (
  context: AccessContext,
  target: Target,
  bearer: Bearer,
): Promise<Caller> => {
  const { token, rights } = bearer;
  const isRoot = token.policies.includes(ROOT_POLICY);
  if (isRoot || !CEREMONY_PATHS.has(target.path.decoded)) return toCaller(bearer, isRoot);
  const index = await context.policies();
  const acl = index.aclOf(rights);
  const capabilities = acl.capabilitiesOn(policyPath(token, target));
  return toCaller(bearer, (capabilities & CAPABILITY_BITS.sudo) !== 0);
};

const resolveV1 = async (
  context: AccessContext,
  request: ResolveRequest,
  answer: Resolution,
  audit: AuditContext,
  state: DecisionState | undefined,
): Promise<Resolution['outcome']> => {
  const operation = operationOf(request.method);
  if (operation === undefined) throw methodRefused();
  const target = await findTarget(context, request, operation, state);
  const needsRole = state !== undefined && needsLoginRole(state, target, operation);
  if (state !== undefined && (!needsRole || request.hasBody)) {
    const role = needsRole ? await findLoginRole(context, request, target) : undefined;
    const quota = quotaOf(state, target, role);
    answer.rateQuota = quota && { ...quota, isFoundByBody: needsRole };
  }
  // A CORS preflight request carries no token (Fetch standard §4.8), so only open paths answer it.
  if (request.method === 'OPTIONS' && !target.isUnauthenticated) throw methodRefused();
  audit.namespace = toNamespace(target.namespace);
  audit.mountType = target.mount?.type ?? 'system';
  audit.mountPath = target.mount
    ? mountPathOf(target.mount)
    : `${target.path.decoded.split('/', 1)[0] ?? ''}/`;
  audit.mountAccessor = target.mount?.accessor ?? '';
  audit.nonHmacRequestKeys = [...(target.tuning?.auditNonHmacRequestKeys ?? [])];
  audit.nonHmacResponseKeys = [...(target.tuning?.auditNonHmacResponseKeys ?? [])];
  // The cluster must not sign data that a caller made up.
  if (request.wrapFormat === 'jwt' && target.path.decoded === 'sys/wrapping/wrap')
    return refuse('request.invalid', { text: 'JWT wrapping tokens are not made of given data' });
  const bearer = await findBearer(context, request, target);
  if (target.isUnauthenticated) {
    audit.caller = bearer && (await recognize(context, target, bearer));
    if (needsRole && !request.hasBody) return { $case: 'needsBody', value: {} };
    return allowed(target, audit.caller);
  }
  if (bearer === undefined) return refuse('sys.token_required');
  const { token } = bearer;
  const isRoot = token.policies.includes(ROOT_POLICY);
  audit.caller = toCaller(bearer, isRoot);
  const judged = isRoot
    ? allowed(target, audit.caller)
    : await judge(context, request, target, bearer, operation, audit);
  const outcome = await withAuditTrial(context, request, target, operation, judged);
  if (outcome?.$case !== 'allowed' || request.bodyFollows) return outcome;
  if (!(await retryableAtRoleChange(() => useToken(context.tokens, token))))
    return refuse('sys.token_required');
  context.recordUse(token);
  return outcome;
};

const resolveApi = (
  context: AccessContext,
  request: ResolveRequest,
  state: DecisionState | undefined,
): Promise<Resolution['outcome']> | Resolution['outcome'] => {
  if (state === undefined) return refuseSealed(context);
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
      passCertificate: false,
      passCredentials: false,
      tryAuditDevice: undefined,
      isSuperseded: state.isSuperseded,
    },
  };
};

/**
 * Decides about one request. A refusal is an answer, not an error.
 * @throws KeelsonError `sys.sealed`; errors other than `KeelsonError`, which the channel reports as failures
 */
export const resolveAccess = async (
  context: AccessContext,
  request: ResolveRequest,
): Promise<Resolution> => {
  const { seal } = context;
  try {
    return await resolveOnce(context, request);
  } catch (error) {
    if (!isSealed(error)) throw error;
    // Another replica may have replaced the records by those of a copy, which the seal of this one has not noticed yet.
    await seal.followRestoration();
    if (seal.isSealed) throw error;
    return resolveOnce(context, request);
  }
};

const resolveOnce = async (
  context: AccessContext,
  request: ResolveRequest,
): Promise<Resolution> => {
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
  const answer: Resolution = {
    outcome: undefined,
    auditGeneration: 0,
    audit,
    rateQuota: undefined,
    requestsCertificates: false,
  };
  let state: DecisionState | undefined;
  try {
    if (request.index !== '') await context.awaitIndex(request.index);
    state = await context.decisionState();
    answer.outcome =
      request.surface === Surface.API_V2
        ? await resolveApi(context, request, state)
        : await resolveV1(context, request, answer, audit, state);
  } catch (error) {
    // Not an answer, because another replica may be open.
    if (isSealed(error)) throw new KeelsonError('sys.sealed');
    answer.outcome = refusal(error);
  }
  audit.policyResult = answer.outcome?.$case ?? '';
  answer.requestsCertificates = state?.mounts.hasMethod('cert') ?? false;
  answer.auditGeneration = context.seal.isSealed ? 0 : (state?.audit.generation ?? 0);
  return answer;
};
