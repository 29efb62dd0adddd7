import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { isBindingKey } from '../../model/domain/tag-binding.ts';

/** A tag key that an organization has reserved. */
export const reservedKeyShape = Type.Object({
  /** `rtk-…`. */
  id: Type.String(),
  organizationId: Type.String(),
  key: Type.String(),
  /** Whether workspaces may not override the key where their project binds it. */
  disableOverrides: Type.Boolean(),
  createdAtMs: Type.Number(),
  updatedAtMs: Type.Number(),
});
export type ReservedKey = Shaped<typeof reservedKeyShape>;

/** Why a key cannot be reserved in addition to the others; undefined when it can. */
export const findKeyFault = (
  { id, key }: ReservedKey,
  others: readonly ReservedKey[],
): string | undefined => {
  if (!isBindingKey(key)) return 'Key is invalid';
  const isTaken = others.some((other) => other.id !== id && other.key === key);
  return isTaken ? 'Key has already been taken' : undefined;
};

export const toLockedKeys = (reserved: readonly ReservedKey[]): ReadonlySet<string> =>
  new Set(reserved.filter(({ disableOverrides }) => disableOverrides).map(({ key }) => key));
