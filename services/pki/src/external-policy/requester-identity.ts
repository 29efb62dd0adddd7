/**
 * The requester's identity as sent to the policy service: the parts that the mount's expressions choose
 * (reference §8.1, §8.2).
 */
import { compile, type JSONValue, search } from '@jmespath-community/jmespath';
import { KeelsonError } from '@keelson/errors';
import type { Caller } from '@keelson/proto/edge/v1/edge';
import type { PolicyService } from './domain/policy-service.ts';

const MAX_EXPRESSION_LENGTH = 4096;

/**
 * Refuses an expression that is not JMESPath.
 * @throws KeelsonError `request.invalid`
 */
export const checkExpression = (name: string, expression: string): void => {
  if (expression === '') return;
  try {
    if (expression.length > MAX_EXPRESSION_LENGTH) throw new RangeError('too long');
    compile(expression);
  } catch (cause) {
    throw new KeelsonError(
      'request.invalid',
      { text: `${name} is not a JMESPath expression` },
      { cause },
    );
  }
};

const select = (name: string, expression: string, value: JSONValue): JSONValue => {
  try {
    return search(value, expression) ?? null;
  } catch (cause) {
    throw new KeelsonError(
      'request.invalid',
      { text: `${name} cannot be applied to the requester` },
      { cause },
    );
  }
};

/** All that is known about a requester. */
export type Entity = Readonly<Record<string, JSONValue>> & { readonly id: string };

/** The part of it that is sent. */
export const entityDocument = (
  entity: Entity,
  { entityExpression, groupExpression }: PolicyService,
): Readonly<Record<string, JSONValue>> => ({
  entity_id: entity.id,
  ...(entityExpression !== '' && { entity: select('entity_jmespath', entityExpression, entity) }),
  ...(groupExpression !== '' && { groups: select('group_jmespath', groupExpression, []) }),
});

/**
 * All but the id of the requester's entity comes from its token, and its groups are not known here
 * (docs/divergences/pki.md).
 * @returns undefined for root tokens and for work without a requester
 */
export const identityOf = (
  caller: Caller | undefined,
  service: PolicyService,
): ReturnType<typeof entityDocument> | undefined =>
  caller === undefined || caller.root
    ? undefined
    : entityDocument(
        {
          id: caller.entityId,
          name: caller.displayName,
          metadata: { ...caller.metadata },
          policies: [...caller.policies],
          namespace_id: caller.namespace?.id ?? '',
        },
        service,
      );
