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

/** @param instance as the state file has it */
export const digestInstance = (
  address: string,
  instance: Readonly<Record<string, unknown>>,
): InstanceDigest => {
  // What it depends on, and what the provider keeps for itself, is not what it is.
  const { attributes, attributes_flat: flat, schema_version: schema, status } = instance;
  const content = digest(JSON.stringify([attributes, flat, schema, status]));
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
    return former?.[1] === content ? former : [place, content, stateVersionId];
  });
};
