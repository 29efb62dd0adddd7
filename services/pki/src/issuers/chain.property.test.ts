import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildChain, type ChainGraph, pathsAbove } from './domain/chain.ts';

interface Node {
  readonly id: number;
  readonly isSelfSigned: boolean;
}

/** A graph of any shape: cycles of cross-signed authorities and authorities issued again among them. */
const graphs = fc
  .integer({ min: 1, max: 12 })
  .chain((size) => {
    const id = fc.integer({ min: 0, max: size - 1 });
    return fc.record({
      roots: fc.array(fc.boolean(), { minLength: size, maxLength: size }),
      edges: fc.array(fc.tuple(id, id), { maxLength: 3 * size }),
      groups: fc.array(fc.integer({ min: 0, max: 20 }), { minLength: size, maxLength: size }),
    });
  })
  .map(({ roots, edges, groups }) => {
    const nodes: readonly Node[] = roots.map((isSelfSigned, id) => ({ id, isSelfSigned }));
    const graph: ChainGraph<Node> = {
      parentsOf: (node) =>
        nodes.filter(
          (parent) =>
            parent !== node &&
            edges.some(([child, above]) => child === node.id && above === parent.id),
        ),
      reissuesOf: (node) =>
        nodes.filter((other) => other !== node && groups[other.id] === groups[node.id]),
    };
    return { nodes, graph };
  });

const reachable = (start: Node, graph: ChainGraph<Node>): ReadonlySet<Node> => {
  const found = new Set([start]);
  for (const node of found)
    for (const next of [...graph.parentsOf(node), ...graph.reissuesOf(node)]) found.add(next);
  return found;
};

describe('chain building', () => {
  test('starts with the issuer and names everything above it exactly once', () => {
    fc.assert(
      fc.property(graphs, ({ nodes, graph }) => {
        for (const node of nodes) {
          const chain = buildChain(node, graph);
          expect(chain[0]).toBe(node);
          expect(new Set(chain)).toEqual(reachable(node, graph));
          expect(chain).toHaveLength(new Set(chain).size);
        }
      }),
      propertySettings({ numRuns: 300 }),
    );
  });

  test('lists re-issued certificates before those above, and roots before intermediates', () => {
    fc.assert(
      fc.property(graphs, ({ nodes, graph }) => {
        for (const node of nodes) {
          const next = buildChain(node, graph)[1];
          const reissues = graph.reissuesOf(node);
          const parents = graph.parentsOf(node);
          const roots = parents.filter(({ isSelfSigned }) => isSelfSigned);
          const first = [reissues, roots, parents].find((group) => group.length > 0) ?? [undefined];
          expect(first).toContain(next);
        }
      }),
      propertySettings({ numRuns: 300 }),
    );
  });

  test('consists of linear paths without repetition, each ending at a root or an unknown issuer', () => {
    fc.assert(
      fc.property(graphs, fc.integer({ min: 1, max: 40 }), ({ nodes, graph }, limit) => {
        for (const node of nodes) {
          const paths = [...pathsAbove(node, graph, limit)];
          expect(paths.length).toBeGreaterThan(0);
          expect(paths.length).toBeLessThanOrEqual(limit);
          for (const path of paths) {
            expect(path[0]).toBe(node);
            expect(new Set(path).size).toBe(path.length);
            path.slice(1).forEach((parent, i) => {
              expect(graph.parentsOf(path[i] as Node)).toContain(parent);
            });
            const last = path.at(-1) as Node;
            const unvisited = graph.parentsOf(last).filter((parent) => !path.includes(parent));
            expect(last.isSelfSigned || unvisited.length === 0).toBe(true);
          }
        }
      }),
      propertySettings({ numRuns: 300 }),
    );
  });
});
