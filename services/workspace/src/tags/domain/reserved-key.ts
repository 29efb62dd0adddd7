import { isBindingKey } from './tag-binding.ts';

/** A key of tag bindings that an organization has set aside. */
export interface ReservedKey {
  /** `rtk-…`. */
  readonly id: string;
  readonly organizationId: string;
  readonly key: string;
  /** Workspaces do not bind the key of their own where their project does. */
  readonly disableOverrides: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Why a key cannot be reserved beside the others; undefined when it can. */
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
