/** The token that a login yields, from what its method says and what its mount allows. */
import { KeelsonError } from '@keelson/errors';
import type { MountConfig } from '../../mounts/domain/mount.ts';
import { INTERNAL_POLICIES, ROOT_POLICY } from '../../policies/domain/default-policy.ts';
import {
  checkBatch,
  normalizePolicies,
  type TokenPlan,
} from '../../tokens/domain/token-creation.ts';
import type { TokenEntry, TokenNamespace } from '../../tokens/domain/token-entry.ts';
import { decideLifetime, type TokenTtls } from '../../tokens/domain/token-lifetime.ts';

/** Limits of the tokens of a login; 0 means that the mount decides. */
export interface LoginLimits {
  readonly policies: readonly string[];
  readonly noDefaultPolicy: boolean;
  readonly ttlSeconds: number;
  readonly maxTtlSeconds: number;
  readonly explicitMaxTtlSeconds: number;
  readonly periodSeconds: number;
  readonly numUses: number;
  readonly tokenType: string;
  readonly boundCidrs: readonly string[];
}

export interface LoginContext {
  /** Namespace of the mount, which becomes that of the token. */
  readonly namespace: TokenNamespace;
  /** Path of the mount below the namespace: "auth/userpass/". */
  readonly mountPath: string;
  readonly requestPath: string;
  readonly displayName: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly login: NonNullable<TokenEntry['login']>;
  readonly mountTokenType: MountConfig['tokenType'];
  readonly ttls: TokenTtls;
  readonly nowMs: number;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @throws KeelsonError `request.invalid` for a policy that no login may yield */
export const decidePolicies = ({
  policies,
  noDefaultPolicy,
}: Pick<LoginLimits, 'policies' | 'noDefaultPolicy'>): string[] => {
  const chosen = normalizePolicies([...policies, ...(noDefaultPolicy ? [] : ['default'])]);
  if (chosen.includes(ROOT_POLICY)) refuse('auth methods cannot create root tokens');
  const internal = chosen.find((name) => INTERNAL_POLICIES.includes(name));
  return internal === undefined ? chosen : refuse(`cannot assign policy "${internal}"`);
};

/** The type that a role and its mount say together: a role with `default-…` leaves it to a mount without. */
const decideType = (ofRole: string, ofMount: MountConfig['tokenType']): TokenPlan['type'] => {
  if (ofRole === 'service' || ofRole === 'batch') return ofRole;
  if (ofMount === 'service' || ofMount === 'batch') return ofMount;
  const decisive = ofRole === 'default-service' || ofRole === 'default-batch' ? ofRole : ofMount;
  return decisive === 'default-batch' ? 'batch' : 'service';
};

/** The longest lifetime of a token: that of its role, unless the mount's is shorter. */
export const maxTtlOf = (
  { maxTtlSeconds }: Pick<LoginLimits, 'maxTtlSeconds'>,
  mount: TokenTtls,
): number =>
  maxTtlSeconds === 0 ? mount.maxTtlSeconds : Math.min(maxTtlSeconds, mount.maxTtlSeconds);

/** "userpass/" and "alice": "userpass-alice". */
const toDisplayName = ({ mountPath, displayName }: LoginContext): string =>
  [mountPath.replace(/^auth\//, '').replaceAll('/', '-'), displayName.replaceAll(/[^\w.@-]/g, '-')]
    .join('')
    .replace(/-$/, '');

/** @throws KeelsonError `request.invalid` when the limits contradict the type of the token */
export const decideLogin = (
  limits: LoginLimits,
  context: LoginContext,
): { readonly plan: TokenPlan; readonly warnings: readonly string[] } => {
  const policies = decidePolicies(limits);
  const type = decideType(limits.tokenType, context.mountTokenType);
  const { explicitMaxTtlSeconds, periodSeconds, numUses: usesLeft } = limits;
  if (type === 'batch') checkBatch({ explicitMaxTtlSeconds, usesLeft, periodSeconds }, policies);
  const { ttlSeconds, warnings } = decideLifetime({
    ttlSeconds: limits.ttlSeconds,
    explicitMaxTtlSeconds,
    periodSeconds,
    defaultTtlSeconds: context.ttls.defaultTtlSeconds,
    maxTtlSeconds: maxTtlOf(limits, context.ttls),
  });
  return {
    plan: {
      namespace: context.namespace,
      type,
      policies,
      meta: context.metadata,
      displayName: toDisplayName(context),
      path: `${context.mountPath}${context.requestPath}`,
      role: '',
      parent: undefined,
      login: context.login,
      entity: undefined,
      createdAtMs: context.nowMs,
      creationTtlSeconds: ttlSeconds,
      expiresAtMs: context.nowMs + ttlSeconds * 1000,
      explicitMaxTtlSeconds,
      periodSeconds,
      renewable: type === 'service',
      lastRenewalMs: undefined,
      usesLeft,
      boundCidrs: [...limits.boundCidrs],
    },
    warnings,
  };
};
