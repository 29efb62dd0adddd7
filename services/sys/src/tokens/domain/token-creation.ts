/** Rules for creating tokens. The error texts are those that clients of this API recognize. */
import { KeelsonError } from '@keelson/errors';
import { requireMetadata } from '../../metadata/domain/metadata.ts';
import { INTERNAL_POLICIES } from '../../policies/domain/default-policy.ts';
import type { TokenEntry, TokenNamespace, TokenType } from './token-entry.ts';
import { decideLifetime, type TokenTtls } from './token-lifetime.ts';
import {
  checkEntityAlias,
  checkRolePolicies,
  restrictsPolicies,
  type TokenRole,
} from './token-role.ts';

export interface CreationRequest {
  /** Empty if the service generates one. */
  readonly id: string;
  /** Undefined means the policies of the role or of the parent. */
  readonly policies: readonly string[] | undefined;
  readonly meta: Readonly<Record<string, string>>;
  readonly noParent: boolean;
  readonly noDefaultPolicy: boolean;
  readonly renewable: boolean;
  readonly ttlSeconds: number;
  readonly type: string;
  readonly explicitMaxTtlSeconds: number;
  readonly displayName: string;
  readonly numUses: number;
  readonly periodSeconds: number;
  /** Name of the client whose entity the token gets; empty for the entity of the parent. */
  readonly entityAlias: string;
}

export interface CreationContext {
  readonly parent: TokenEntry;
  /** The parent's policies grant sudo on the path of the request (as `root` does). */
  readonly isSudo: boolean;
  /** `create-orphan` creates orphans without requiring sudo. */
  readonly isOrphanPath: boolean;
  readonly role: TokenRole | undefined;
  /** Namespace of the request, which becomes that of the token. */
  readonly namespace: TokenNamespace;
  readonly ttls: TokenTtls;
  readonly nowMs: number;
}

/** A new token without its random parts. */
export type TokenPlan = Omit<TokenEntry, 'hash' | 'accessor'>;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** In lower case, trimmed, sorted, without duplicates. */
export const normalizePolicies = (policies: readonly string[]): string[] =>
  [
    ...new Set(policies.map((name) => name.trim().toLowerCase()).filter((name) => name !== '')),
  ].sort();

/** Policies under a role that restricts them; a request naming none gets those the role allows by name. */
const decideRolePolicies = (
  role: TokenRole,
  asked: readonly string[],
  parent: TokenEntry,
  noDefaultPolicy: boolean,
): string[] => {
  const named = role.allowedPolicies.length > 0 ? role.allowedPolicies : parent.policies;
  const addsDefault =
    !noDefaultPolicy && !role.noDefaultPolicy && !role.disallowedPolicies.includes('default');
  const chosen = normalizePolicies([
    ...(asked.length > 0 ? asked : named),
    ...(addsDefault ? ['default'] : []),
  ]);
  checkRolePolicies(role, chosen);
  return chosen;
};

const decidePolicies = (request: CreationRequest, context: CreationContext): string[] => {
  const { parent, role, isSudo } = context;
  const asked = normalizePolicies(request.policies ?? []);
  if (role !== undefined && restrictsPolicies(role)) {
    return decideRolePolicies(role, asked, parent, request.noDefaultPolicy);
  }
  if (asked.length === 0) return [...parent.policies];
  if (!isSudo && !asked.every((name) => parent.policies.includes(name))) {
    refuse('child policies must be subset of parent');
  }
  // A token cannot grant policies that it does not have, `default` included.
  const addsDefault =
    !request.noDefaultPolicy &&
    role?.noDefaultPolicy !== true &&
    (isSudo || parent.policies.includes('default'));
  return addsDefault ? normalizePolicies([...asked, 'default']) : asked;
};

const decideType = (request: CreationRequest, role: TokenRole | undefined): TokenType => {
  const fixed = role?.tokenType;
  if (fixed === 'service' || fixed === 'batch') return fixed;
  const asked = request.type.toLowerCase();
  if (asked === '') return fixed === 'default-batch' ? 'batch' : 'service';
  return asked === 'service' || asked === 'batch'
    ? asked
    : refuse(`invalid 'token_type' value "${request.type}"`);
};

/** @param limits of the request and its role together: a batch token is not stored, so nothing could count or end it */
export const checkBatch = (
  limits: Pick<TokenPlan, 'explicitMaxTtlSeconds' | 'usesLeft' | 'periodSeconds'>,
  policies: readonly string[],
): void => {
  if (limits.explicitMaxTtlSeconds > 0) refuse('batch tokens cannot have "explicit_max_ttl" set');
  if (limits.usesLeft > 0) refuse('batch tokens cannot have "num_uses" set');
  if (limits.periodSeconds > 0) refuse('batch tokens cannot have "period" set');
  if (policies.includes('root')) refuse('batch tokens cannot be root tokens');
};

const checkId = (request: CreationRequest, context: CreationContext): void => {
  if (request.id === '') return;
  if (!context.isSudo) refuse('root or sudo privileges required to specify token id');
  if (context.namespace.id !== 'root')
    refuse('token IDs can only be manually specified in the root namespace');
  if (/^(?:hv[sbr]|[sbr])\./.test(request.id)) {
    refuse("custom token ID cannot have the 'hvs.' or 's.' prefix");
  }
  if (request.id.includes('.')) refuse("custom token ID cannot have a '.' in the value");
};

const toDisplayName = (given: string): string =>
  given === '' ? 'token' : `token-${given.replaceAll(/[^a-zA-Z0-9-]/g, '-')}`;

const smallestNonZero = (...values: readonly number[]): number => {
  const set = values.filter((value) => value > 0);
  return set.length === 0 ? 0 : Math.min(...set);
};

/**
 * The plan of the token that a request creates.
 * @throws KeelsonError `request.invalid` naming the rule that refuses it
 */
export const decideCreation = (
  request: CreationRequest,
  context: CreationContext,
): { readonly plan: TokenPlan; readonly warnings: readonly string[] } => {
  const { parent, role, isSudo, nowMs } = context;
  if (parent.type === 'batch') refuse('batch tokens cannot create more tokens');
  if (parent.usesLeft !== 0) refuse('restricted use token cannot generate child tokens');
  if (request.entityAlias !== '') checkEntityAlias(role, request.entityAlias);
  const chosen = decidePolicies(request, context);
  // `root` includes every right, so all other policies are dropped.
  const policies = chosen.includes('root') ? ['root'] : chosen;
  const type = decideType(request, role);
  const isRoot = policies.includes('root');
  if (isRoot && !parent.policies.includes('root')) {
    refuse('root tokens may not be created without parent token being root');
  }
  const internal = policies.find((name) => INTERNAL_POLICIES.includes(name));
  if (internal !== undefined) refuse(`cannot assign policy "${internal}"`);
  if (request.periodSeconds > 0 && !isSudo) {
    refuse('root or sudo privileges required to create periodic token');
  }
  checkId(request, context);
  requireMetadata('meta', request.meta);
  const isOrphan = role?.orphan === true || context.isOrphanPath || request.noParent;
  if (request.noParent && !context.isOrphanPath && role?.orphan !== true && !isSudo) {
    refuse('root or sudo privileges required to create orphan token');
  }
  const periodSeconds = role?.periodSeconds || request.periodSeconds;
  const explicitMaxTtlSeconds = smallestNonZero(
    request.explicitMaxTtlSeconds,
    role?.explicitMaxTtlSeconds ?? 0,
  );
  const usesLeft = smallestNonZero(request.numUses, role?.numUses ?? 0);
  if (type === 'batch') checkBatch({ explicitMaxTtlSeconds, usesLeft, periodSeconds }, policies);
  const neverExpires =
    isRoot && request.ttlSeconds === 0 && periodSeconds === 0 && explicitMaxTtlSeconds === 0;
  if (neverExpires && parent.expiresAtMs !== undefined) {
    refuse('expiring root tokens cannot create non-expiring root tokens');
  }
  const { ttlSeconds, warnings } = neverExpires
    ? { ttlSeconds: 0, warnings: [] }
    : decideLifetime({
        ttlSeconds: request.ttlSeconds,
        explicitMaxTtlSeconds,
        periodSeconds,
        ...context.ttls,
      });
  const allWarnings =
    request.id === ''
      ? warnings
      : [
          ...warnings,
          'A token with an ID of your own is only as strong as the ID is hard to guess.',
        ];
  const suffix = role?.pathSuffix ? `/${role.pathSuffix}` : '';
  const basePath = role === undefined ? 'create' : `create/${role.name}`;
  return {
    plan: {
      namespace: context.namespace,
      type,
      policies,
      meta: request.meta,
      displayName: toDisplayName(request.displayName),
      path: context.isOrphanPath ? 'auth/token/create-orphan' : `auth/token/${basePath}${suffix}`,
      role: role?.name ?? '',
      parent: isOrphan ? undefined : { hash: parent.hash, namespaceId: parent.namespace.id },
      login: undefined,
      entity: isOrphan ? undefined : parent.entity,
      createdAtMs: nowMs,
      creationTtlSeconds: ttlSeconds,
      expiresAtMs: neverExpires ? undefined : nowMs + ttlSeconds * 1000,
      explicitMaxTtlSeconds,
      periodSeconds,
      renewable:
        type === 'service' && !neverExpires && (role?.renewable ?? true) && request.renewable,
      lastRenewalMs: undefined,
      usesLeft,
      boundCidrs: role?.boundCidrs ?? [],
    },
    warnings: allWarnings,
  };
};
