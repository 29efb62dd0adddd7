/** Finds the version that last changed an instance, by comparing each state with the one before. */

import { createHash } from 'node:crypto';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Base64url characters, 72 bits: enough to distinguish thousands of instances. */
const DIGEST_LENGTH = 12;

const digest = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_LENGTH);

export const instanceDigestShape = Type.Object({
  /** Digest of the instance's address. */
  place: Type.String(),
  /** Digest of the instance's content. */
  content: Type.String(),
});
export type InstanceDigest = Shaped<typeof instanceDigestShape>;

export const digestAddress = digest;

/** Largest instance that is compared, in characters, because a comparison must not take long. */
const MAX_COMPARED_LENGTH = 4 * 1024 * 1024;

/** Whether the texts in a value are longer than the limit in total. */
const isLarge = (value: unknown): boolean => {
  let left = MAX_COMPARED_LENGTH;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && left >= 0) {
    const next = waiting.pop();
    left -= typeof next === 'string' ? next.length : 1;
    if (typeof next === 'object' && next !== null) {
      for (const inner of Object.values(next)) waiting.push(inner);
    }
  }
  return left < 0;
};

/**
 * @param instance as it appears in the state file
 * @returns an empty `content` when the instance is too large to compare: it then counts as changed in every
 * state
 */
export const digestInstance = (
  address: string,
  instance: Readonly<Record<string, unknown>>,
): InstanceDigest => {
  // Dependencies and the provider's private data are left out: they are not part of the resource itself.
  const { attributes, attributes_flat: flat, schema_version: schema, status } = instance;
  const compared = [attributes, flat, schema, status];
  const content = isLarge(compared) ? '' : digest(JSON.stringify(compared));
  return { place: digestAddress(address), content };
};

/**
 * An instance, and the `sv-…` that introduced its content. A tuple keeps the record small, which holds
 * thousands.
 */
export const modifiedInstanceShape = Type.Tuple([Type.String(), Type.String(), Type.String()]);
export type ModifiedInstance = Shaped<typeof modifiedInstanceShape>;

/** @param before instances of the state that this one replaces */
export const decideModifiers = (
  before: readonly ModifiedInstance[],
  found: readonly InstanceDigest[],
  stateVersionId: string,
): readonly ModifiedInstance[] => {
  const known = new Map(before.map((instance) => [instance[0], instance]));
  return found.map(({ place, content }) => {
    const former = known.get(place);
    return content !== '' && former?.[1] === content ? former : [place, content, stateVersionId];
  });
};
