/** Which version of a workspace's state changed an instance last: told by comparing each with the one before. */
import { createHash } from 'node:crypto';

/** Base64url characters, 72 bits: thousands of instances are told apart. */
const DIGEST_LENGTH = 12;

const digest = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_LENGTH);

export interface InstanceDigest {
  /** Digest of its address. */
  readonly place: string;
  /** Digest of what it is. */
  readonly content: string;
}

export const digestAddress = digest;

/** Characters of an instance; of a larger one it takes too long to tell whether it changed. */
const MAX_COMPARED_LENGTH = 4 * 1024 * 1024;

/** Whether all texts in a value together are longer than that. */
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
 * @param instance as the state file has it
 * @returns with an empty content where that is too large: it counts as changed with every state
 */
export const digestInstance = (
  address: string,
  instance: Readonly<Record<string, unknown>>,
): InstanceDigest => {
  // What it depends on, and what the provider keeps for itself, is not what it is.
  const { attributes, attributes_flat: flat, schema_version: schema, status } = instance;
  const compared = [attributes, flat, schema, status];
  const content = isLarge(compared) ? '' : digest(JSON.stringify(compared));
  return { place: digestAddress(address), content };
};

/** An instance, and the `sv-…` that first had it as it is; short, as one record holds thousands. */
export type ModifiedInstance = readonly [place: string, content: string, stateVersionId: string];

/** @param before instances of the state that this one takes the place of */
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
