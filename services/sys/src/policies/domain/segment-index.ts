/** Index of rules with `+` segments, searched by walking the segments of a path. */
import { comparePriority } from './path-pattern.ts';
import type { PolicyRule } from './policy-rule.ts';

interface SegmentNode {
  readonly literals: Map<string, SegmentNode>;
  plus: SegmentNode | undefined;
  /** The pattern ends here. */
  exact: PolicyRule | undefined;
  /** Patterns whose last segment is `<start>*`. */
  readonly prefixes: { readonly start: string; readonly rule: PolicyRule }[];
}

const createNode = (): SegmentNode => ({
  literals: new Map(),
  plus: undefined,
  exact: undefined,
  prefixes: [],
});

const childFor = (node: SegmentNode, segment: string): SegmentNode => {
  if (segment === '+') {
    node.plus ??= createNode();
    return node.plus;
  }
  let child = node.literals.get(segment);
  if (child === undefined) {
    child = createNode();
    node.literals.set(segment, child);
  }
  return child;
};

export class SegmentIndex {
  readonly #root = createNode();
  #isEmpty = true;

  add(rule: PolicyRule): void {
    this.#isEmpty = false;
    const segments = rule.pattern.stem.split('/');
    const last = rule.pattern.isPrefix ? (segments.pop() ?? '') : '';
    const node = segments.reduce(childFor, this.#root);
    if (rule.pattern.isPrefix) node.prefixes.push({ start: last, rule });
    else node.exact = rule;
  }

  /** The matching rule of highest priority. */
  best(path: string): PolicyRule | undefined {
    if (this.#isEmpty) return undefined;
    const segments = path.split('/');
    let best: PolicyRule | undefined;
    const offer = (rule: PolicyRule): void => {
      if (best === undefined || comparePriority(rule.pattern, best.pattern) > 0) best = rule;
    };
    const walk = (node: SegmentNode, depth: number): void => {
      const segment = segments[depth];
      if (segment === undefined) {
        if (node.exact !== undefined) offer(node.exact);
        return;
      }
      for (const { start, rule } of node.prefixes) if (segment.startsWith(start)) offer(rule);
      const literal = node.literals.get(segment);
      if (literal !== undefined) walk(literal, depth + 1);
      if (node.plus !== undefined) walk(node.plus, depth + 1);
    };
    walk(this.#root, 0);
    return best;
  }
}
