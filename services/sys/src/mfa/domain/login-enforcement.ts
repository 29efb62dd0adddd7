/** Which logins need a second factor, and which factors do. */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const loginEnforcementShape = Type.Object({
  id: Type.String(),
  namespaceId: Type.String(),
  name: Type.String(),
  /** Any of these methods is enough. */
  methodIds: Type.Array(Type.String()),
  // A login that any of these names needs a second factor.
  mountAccessors: Type.Array(Type.String()),
  mountTypes: Type.Array(Type.String()),
  groupIds: Type.Array(Type.String()),
  entityIds: Type.Array(Type.String()),
});
export type LoginEnforcement = Shaped<typeof loginEnforcementShape>;

/** A login whose first factor has been verified. */
export interface FirstFactor {
  readonly mount: { readonly accessor: string; readonly type: string };
  /** The entity, and those that were merged into it; empty for a login without an entity. */
  readonly entityIds: readonly string[];
  /** All groups that the entity is in, directly or through others. */
  readonly groupIds: ReadonlySet<string>;
}

export const enforces = (
  { mountAccessors, mountTypes, groupIds, entityIds }: LoginEnforcement,
  { mount, entityIds: ids, groupIds: groups }: FirstFactor,
): boolean =>
  mountAccessors.includes(mount.accessor) ||
  mountTypes.includes(mount.type) ||
  groupIds.some((id) => groups.has(id)) ||
  entityIds.some((id) => ids.includes(id));
