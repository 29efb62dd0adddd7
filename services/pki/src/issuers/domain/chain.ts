/**
 * Which certificates lead from an issuer to a root, found by names and signatures (reference §2.9).
 *
 * Reissued certificates (same subject, issuer and key) are interchangeable and list each
 * other; cross-signed ones may form cycles. Each certificate occurs once, so every walk ends.
 */

/** A certificate, as chain building sees it. */
export interface ChainNode {
  readonly isSelfSigned: boolean;
}

export interface ChainGraph<T extends ChainNode> {
  /** The issuers whose name and key verify this certificate, in a stable order; never the certificate itself. */
  parentsOf(node: T): readonly T[];
  /** The certificates that were issued again in its place, in a stable order; never the certificate itself. */
  reissuesOf(node: T): readonly T[];
}

/** Roots come first: they end a path. */
const rootsFirst = <T extends ChainNode>(nodes: readonly T[]): readonly T[] => [
  ...nodes.filter(({ isSelfSigned }) => isSelfSigned),
  ...nodes.filter(({ isSelfSigned }) => !isSelfSigned),
];

/**
 * The node, those issued again in its place, then everything above: each parent followed by its own,
 * nothing twice.
 */
export const buildChain = <T extends ChainNode>(start: T, graph: ChainGraph<T>): readonly T[] => {
  const chain = new Set<T>();
  // Depth first with an explicit stack, because a chain may be longer than the call stack allows.
  const pending: T[] = [start];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (chain.has(node)) continue;
    chain.add(node);
    const above = [...graph.reissuesOf(node), ...rootsFirst(graph.parentsOf(node))];
    pending.push(...above.toReversed().filter((next) => !chain.has(next)));
  }
  return [...chain];
};

/**
 * Paths from a node up to a certificate without a known parent; at most `limit` of them, each without a
 * repetition.
 */
export function* pathsAbove<T extends ChainNode>(
  start: T,
  graph: Pick<ChainGraph<T>, 'parentsOf'>,
  limit: number,
): Generator<readonly T[]> {
  let count = 0;
  const pending: (readonly T[])[] = [[start]];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const last = path.at(-1) as T;
    const walked = path;
    const next = last.isSelfSigned
      ? []
      : rootsFirst(graph.parentsOf(last)).filter((parent) => !walked.includes(parent));
    if (next.length === 0) {
      yield path;
      if (++count >= limit) return;
    }
    pending.push(...next.toReversed().map((parent) => [...walked, parent]));
  }
}
