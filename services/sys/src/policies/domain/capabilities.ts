/** The capabilities that policy rules grant on paths, as sets of bits. */
import { KeelsonError } from '@keelson/errors';

/** One bit per capability; `deny` overrides all others. */
export const CAPABILITY_BITS = {
  deny: 1,
  create: 2,
  read: 4,
  update: 8,
  delete: 16,
  list: 32,
  sudo: 64,
  patch: 128,
} as const;

export type Capability = keyof typeof CAPABILITY_BITS;

/** Bits of CAPABILITY_BITS. */
export type CapabilitySet = number;

const isCapability = (name: string): name is Capability => Object.hasOwn(CAPABILITY_BITS, name);

/** The older one-word form of a rule, and the capabilities that each word means. */
const LEGACY_WORDS: Readonly<Record<string, readonly Capability[]>> = {
  deny: ['deny'],
  read: ['read', 'list'],
  write: ['create', 'read', 'update', 'delete', 'list'],
  sudo: ['create', 'read', 'update', 'delete', 'list', 'sudo'],
};

/** Bits of `names`; a `deny` among them overrides the others. */
export const toCapabilitySet = (names: readonly Capability[]): CapabilitySet => {
  const bits = names.reduce((set, name) => set | CAPABILITY_BITS[name], 0);
  return (bits & CAPABILITY_BITS.deny) === 0 ? bits : CAPABILITY_BITS.deny;
};

/** @throws KeelsonError `sys.policy_unparsable` for an unknown capability */
export const parseCapabilities = (names: readonly string[], path: string): CapabilitySet =>
  toCapabilitySet(
    names.map((name) => {
      if (isCapability(name)) return name;
      throw new KeelsonError('sys.policy_unparsable', {
        reason: `path "${path}": invalid capability "${name}"`,
      });
    }),
  );

/** The capabilities of `policy = "write"`; undefined for an unknown word. */
export const fromLegacyWord = (word: string): CapabilitySet | undefined => {
  const names = Object.hasOwn(LEGACY_WORDS, word) ? LEGACY_WORDS[word] : undefined;
  return names === undefined ? undefined : toCapabilitySet(names);
};

/** Union of the capabilities of two rules; a deny in either overrides the rest. */
export const uniteCapabilities = (a: CapabilitySet, b: CapabilitySet): CapabilitySet =>
  ((a | b) & CAPABILITY_BITS.deny) === 0 ? a | b : CAPABILITY_BITS.deny;

/** Sorted names; an empty set reads as `deny`. */
export const toCapabilityNames = (set: CapabilitySet): Capability[] => {
  const names = (Object.keys(CAPABILITY_BITS) as Capability[]).filter(
    (name) => (set & CAPABILITY_BITS[name]) !== 0,
  );
  return names.length === 0 ? ['deny'] : names.sort();
};
