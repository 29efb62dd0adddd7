/**
 * The rules of all policies of a token, merged and indexed for decisions: exact paths in a map, prefixes in
 * a map that is searched from the longest down, `+` patterns in a tree over segments. The cost of a
 * decision does not grow with the number of rules.
 */
import { CAPABILITY_BITS, type CapabilitySet } from './capabilities.ts';
import { comparePriority, parsePathPattern } from './path-pattern.ts';
import { type Identity, resolvePathTemplate } from './path-template.ts';
import { type PolicyRule, uniteRules } from './policy-rule.ts';
import type { WrittenRule } from './policy-text.ts';
import { SegmentIndex } from './segment-index.ts';

export interface NamedPolicy {
  readonly name: string;
  readonly rules: readonly WrittenRule[];
}

/** Merges to one rule per path. The result does not depend on the order of policies. */
export const mergePolicies = (
  policies: readonly NamedPolicy[],
  identity: Identity | undefined,
): readonly PolicyRule[] => {
  const merged = new Map<string, PolicyRule>();
  for (const { name, rules } of policies) {
    for (const { path, ...written } of rules) {
      const resolved = resolvePathTemplate(path, identity);
      if (resolved === undefined) continue;
      const rule = { ...written, pattern: parsePathPattern(resolved), policies: [name] };
      const other = merged.get(rule.pattern.text);
      // Uniting a deny with itself also clears the rule's own parameter lists.
      merged.set(rule.pattern.text, uniteRules(rule, other ?? rule));
    }
  }
  return [...merged.values()];
};

export class Acl {
  readonly #exact = new Map<string, PolicyRule>();
  readonly #prefixes = new Map<string, PolicyRule>();
  readonly #prefixLengths: readonly number[];
  readonly #segments = new SegmentIndex();
  /** One rule for each path. */
  readonly rules: readonly PolicyRule[];

  constructor(rules: readonly PolicyRule[]) {
    this.rules = rules;
    for (const rule of rules) {
      if (rule.pattern.kind === 'exact') this.#exact.set(rule.pattern.stem, rule);
      else if (rule.pattern.kind === 'prefix') this.#prefixes.set(rule.pattern.stem, rule);
      else this.#segments.add(rule);
    }
    const lengths = new Set([...this.#prefixes.keys()].map((stem) => stem.length));
    this.#prefixLengths = [...lengths].sort((a, b) => b - a);
  }

  /** The only rule that decides about `path` (no leading slash); undefined when none matches. */
  ruleFor(path: string, isList = false): PolicyRule | undefined {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return exact;
    if (isList && path.endsWith('/')) {
      const withoutSlash = this.#exact.get(path.slice(0, -1));
      if (withoutSlash !== undefined) return withoutSlash;
    }
    const prefix = this.#longestPrefix(path);
    const segments = this.#segments.best(path);
    if (prefix === undefined || segments === undefined) return prefix ?? segments;
    return comparePriority(prefix.pattern, segments.pattern) > 0 ? prefix : segments;
  }

  capabilitiesOn(path: string): CapabilitySet {
    // A path with a trailing slash names a collection, which LIST may reach without the slash.
    return this.ruleFor(path, path.endsWith('/'))?.capabilities ?? 0;
  }

  /** True when some rule grants anything at or below `prefix` (a mount path with its slash). */
  reachesBelow(prefix: string): boolean {
    const grants = ({ capabilities }: PolicyRule): boolean =>
      (capabilities & ~CAPABILITY_BITS.deny) !== 0;
    const own = this.ruleFor(prefix, true);
    if (own !== undefined && (own.capabilities & CAPABILITY_BITS.deny) !== 0) return false;
    if (own !== undefined && grants(own)) return true;
    return this.rules.some((rule) => grants(rule) && canMatchBelow(rule, prefix));
  }

  #longestPrefix(path: string): PolicyRule | undefined {
    for (const length of this.#prefixLengths) {
      if (length > path.length) continue;
      const rule = this.#prefixes.get(path.slice(0, length));
      if (rule !== undefined) return rule;
    }
    return undefined;
  }
}

/** Whether a pattern matches any path that starts with `prefix`. */
const canMatchBelow = ({ pattern }: PolicyRule, prefix: string): boolean => {
  const wanted = prefix.slice(0, -1).split('/');
  const offered = pattern.stem.split('/');
  for (const [index, segment] of wanted.entries()) {
    const part = offered[index];
    if (part === undefined) return false;
    const isOpenEnd = pattern.isPrefix && index === offered.length - 1;
    if (isOpenEnd && segment.startsWith(part)) return true;
    if (part !== '+' && part !== segment) return false;
  }
  return true;
};
