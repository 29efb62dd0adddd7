/** The default agent pool of an organization or project, which clients name in one of two places. */
import { invalidAttribute, nullable } from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';

const POOL = Type.Object({
  data: Type.Optional(
    nullable(
      Type.Object({
        type: Type.Optional(Type.Literal('agent-pools')),
        id: Type.String({ maxLength: 64 }),
      }),
    ),
  ),
});

export const DEFAULT_POOL_RELATIONSHIPS = Type.Object({
  'default-agent-pool': Type.Optional(POOL),
});

interface Given {
  readonly attributes: { readonly 'default-agent-pool-id'?: string | null | undefined };
  readonly relationships?: Static<typeof DEFAULT_POOL_RELATIONSHIPS> | undefined;
}

/**
 * Id of the pool; null for none, undefined where the request does not say.
 * @throws KeelsonError `jsonapi.invalid_attribute` when the attribute and the relationship differ
 */
export const toDefaultPoolId = ({
  attributes,
  relationships,
}: Given): string | null | undefined => {
  const attribute = attributes['default-agent-pool-id'];
  const related = relationships?.['default-agent-pool']?.data;
  if (related === undefined) return attribute;
  const id = related?.id ?? null;
  if (attribute !== undefined && (attribute || null) !== id) {
    throw invalidAttribute(
      '/data/relationships/default-agent-pool',
      'default-agent-pool and default-agent-pool-id contradict each other',
    );
  }
  return id;
};
