/**
 * The syntax tree of a policy text, the same for HCL and JSON: nested entries in their order, each with its
 * keys (`path "x" {…}` has two).
 */
type PolicyScalar = string | number | boolean;

export type PolicyValue = PolicyScalar | readonly PolicyValue[] | PolicyBlock;

export interface PolicyEntry {
  readonly keys: readonly string[];
  readonly value: PolicyValue;
  /** Counted from 1. */
  readonly line: number;
}

export interface PolicyBlock {
  readonly entries: readonly PolicyEntry[];
}

export const isBlock = (value: PolicyValue): value is PolicyBlock =>
  typeof value === 'object' && !Array.isArray(value);

/** Deeper nesting than this is a mistake or an attack. */
export const MAX_POLICY_DEPTH = 16;
