/** Decides about one request of a token that is not root. */
import type { Acl } from '../../policies/domain/acl.ts';
import { CAPABILITY_BITS } from '../../policies/domain/capabilities.ts';
import { hasParameterRules, permitsParameters } from '../../policies/domain/parameter-rules.ts';
import { capabilityFor, hasJudgedParameters, type Operation } from './operation.ts';

export interface DecisionRequest {
  /** Relative to the namespace of the token, without a trailing slash. */
  readonly path: string;
  readonly operation: Operation;
  readonly isRootProtected: boolean;
  /** 0 if the response is not wrapped. */
  readonly wrapTtlSeconds: number;
  /** Undefined if not read yet. */
  readonly parameters: Readonly<Record<string, unknown>> | undefined;
}

export type Decision =
  | { readonly kind: 'denied' }
  /** The rule restricts parameters: decide again once they have been read. */
  | { readonly kind: 'needs-parameters' }
  | { readonly kind: 'granted'; readonly isSudo: boolean; readonly policies: readonly string[] };

const DENIED: Decision = { kind: 'denied' };

export const decide = (acl: Acl, request: DecisionRequest): Decision => {
  const { operation, wrapTtlSeconds } = request;
  const isList = operation === 'list';
  const rule = acl.ruleFor(isList ? `${request.path}/` : request.path, isList);
  if (rule === undefined) return DENIED;
  const { capabilities, minWrappingTtlSeconds, maxWrappingTtlSeconds } = rule;
  if ((capabilities & CAPABILITY_BITS.deny) !== 0) return DENIED;
  if ((capabilities & capabilityFor(operation)) === 0) return DENIED;
  const isSudo = (capabilities & CAPABILITY_BITS.sudo) !== 0;
  if (request.isRootProtected && !isSudo) return DENIED;
  // A policy that limits the wrapping TTL requires a wrapped response.
  if (
    maxWrappingTtlSeconds > 0 &&
    (wrapTtlSeconds === 0 || wrapTtlSeconds > maxWrappingTtlSeconds)
  ) {
    return DENIED;
  }
  if (wrapTtlSeconds < minWrappingTtlSeconds) return DENIED;
  if (hasJudgedParameters(operation) && hasParameterRules(rule.parameters)) {
    if (request.parameters === undefined) return { kind: 'needs-parameters' };
    if (!permitsParameters(rule.parameters, request.parameters)) return DENIED;
  }
  return { kind: 'granted', isSudo, policies: rule.policies };
};
