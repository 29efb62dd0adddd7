/**
 * The rights of a token: those of its own policies and of the policies of its entity. They are looked up for each
 * request, so that a change of the entity takes effect with the next one.
 */
import type { Caller } from '@keelson/proto/edge/v1/edge';
import type { RightsHolder } from '../policies/policy-index.ts';
import { normalizePolicies } from './domain/token-creation.ts';
import type { TokenEntry } from './domain/token-entry.ts';
import type { TokenContext } from './token-context.ts';

export interface TokenRights extends RightsHolder {
  /** The policies that the token has through its entity. */
  readonly identityPolicies: readonly string[];
}

type IdentityContext = Pick<TokenContext, 'identityOf'>;

/** Undefined for a token whose entity is disabled or deleted: it is refused. */
export const rightsOf = async (
  { identityOf }: IdentityContext,
  token: TokenEntry,
): Promise<TokenRights | undefined> => {
  const namespaceId = token.namespace.id;
  const own: TokenRights = { namespaceId, policies: token.policies, identityPolicies: [] };
  if (token.entity === undefined) return own;
  const entity = await identityOf(token.entity);
  if (entity === undefined) return undefined;
  // A policy is found by its name in one namespace, so an entity adds nothing to a token of another namespace.
  if (token.entity.namespaceId !== namespaceId) return own;
  return {
    namespaceId,
    policies:
      entity.policies.length === 0
        ? token.policies
        : normalizePolicies([...token.policies, ...entity.policies]),
    identityPolicies: entity.policies,
    identity: entity.identity,
  };
};

/** The rights with which a request was allowed; they include those of the entity. */
export const rightsOfCaller = async (
  { identityOf }: IdentityContext,
  { namespace, policies, entityId }: Caller,
): Promise<RightsHolder> => {
  const namespaceId = namespace?.id ?? 'root';
  const entity = entityId === '' ? undefined : await identityOf({ id: entityId, namespaceId });
  return { namespaceId, policies, identity: entity?.identity };
};
