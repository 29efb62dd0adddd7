/** Dependencies among the changed resources of a plan, read from the references of its configuration. */
import type { ConfiguredModule, Expression, PlanJson } from './plan-json.ts';
import { CHANGE_KINDS, type ChangeKind, resourceChanges } from './planned-changes.ts';

/** A resource of the configuration with everything that changes of it. */
export interface GraphNode {
  /** Without the keys of instances. */
  readonly address: string;
  /** That of its instances which needs the most attention. */
  readonly kind: ChangeKind;
  /** Instances that change. */
  readonly count: number;
  /** Addresses of the nodes that it depends on, directly or over resources that do not change. */
  readonly dependsOn: readonly string[];
}

/** A module with the path of its address, and the modules around it. */
interface Scope {
  readonly prefix: string;
  readonly module: ConfiguredModule;
  readonly outer?: { readonly scope: Scope; readonly call: string };
}

/** Calls of modules within modules that are followed. */
const MAX_DEPTH = 20;

/** "module.net[0].machine.one["a"]" as "module.net.machine.one". */
const withoutKeys = (address: string): string =>
  address.replaceAll(/\[(?:"(?:[^"\\]|\\.)*"|\d+)\]/g, '');

/** All references within an expression, a block or a list of blocks. */
const referencesIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  const { references, ...blocks } = value as Expression;
  const own = Array.isArray(references)
    ? references.filter((one): one is string => typeof one === 'string')
    : [];
  return [...own, ...Object.values(blocks).flatMap(referencesIn)];
};

const scopesIn = (scope: Scope, depth = 0): readonly Scope[] =>
  depth > MAX_DEPTH
    ? []
    : [
        scope,
        ...Object.entries(scope.module.module_calls ?? {}).flatMap(([call, { module = {} }]) =>
          scopesIn(
            { prefix: `${scope.prefix}module.${call}.`, module, outer: { scope, call } },
            depth + 1,
          ),
        ),
      ];

/** The resources that a reference within a module leads to. */
const resolve = (
  scope: Scope,
  reference: string,
  known: ReadonlySet<string>,
  seen = new Set<string>(),
): readonly string[] => {
  const mark = `${scope.prefix} ${reference}`;
  // A configuration is without cycles; a document that claims to be one may have some.
  if (seen.has(mark)) return [];
  seen.add(mark);
  const parts = withoutKeys(reference).split('.');
  const [first = '', second = '', third = ''] = parts;
  const follow = (within: Scope, references: readonly string[]): readonly string[] =>
    references.flatMap((one) => resolve(within, one, known, seen));
  if (first === 'var') {
    if (scope.outer === undefined) return [];
    const { scope: outer, call } = scope.outer;
    return follow(outer, referencesIn(outer.module.module_calls?.[call]?.expressions?.[second]));
  }
  if (first === 'module') {
    const module = scope.module.module_calls?.[second]?.module;
    if (module === undefined || third === '') return [];
    const output = module.outputs?.[third];
    const inner = {
      prefix: `${scope.prefix}module.${second}.`,
      module,
      outer: { scope, call: second },
    };
    return follow(inner, [...referencesIn(output?.expression), ...(output?.depends_on ?? [])]);
  }
  const address = scope.prefix + parts.slice(0, first === 'data' ? 3 : 2).join('.');
  return known.has(address) ? [address] : [];
};

/** The resources that each resource of the configuration refers to. */
const referencesOf = (root: ConfiguredModule): ReadonlyMap<string, ReadonlySet<string>> => {
  const scopes = scopesIn({ prefix: '', module: root });
  const known = new Set(
    scopes.flatMap(({ prefix, module }) =>
      (module.resources ?? []).map(({ address }) => prefix + address),
    ),
  );
  return new Map(
    scopes.flatMap((scope) =>
      (scope.module.resources ?? []).map((resource) => {
        const references = [
          ...referencesIn(resource.expressions),
          ...referencesIn(resource.count_expression),
          ...referencesIn(resource.for_each_expression),
          ...(resource.depends_on ?? []),
        ];
        const found = references.flatMap((one) => resolve(scope, one, known));
        return [scope.prefix + resource.address, new Set(found)] as const;
      }),
    ),
  );
};

/** The shown resources that one leads to, over others that are not shown. */
const reach = (
  start: string,
  references: ReadonlyMap<string, ReadonlySet<string>>,
  shown: ReadonlyMap<string, unknown>,
): readonly string[] => {
  const reached = new Set<string>();
  const visited = new Set([start]);
  const left = [...(references.get(start) ?? [])];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (visited.has(next)) continue;
    visited.add(next);
    if (shown.has(next)) reached.add(next);
    else left.push(...(references.get(next) ?? []));
  }
  return [...reached].toSorted();
};

/** Resources of the configuration whose dependencies are looked for. */
export const MAX_NODES = 500;

/**
 * The changed resources of a plan with their dependencies, in the order of the plan's changes.
 * @returns undefined for a plan without references, as older agents leave them, or with more than `MAX_NODES` resources
 */
export const resourceGraph = (plan: PlanJson): readonly GraphNode[] | undefined => {
  const root = plan.configuration?.root_module;
  if (root === undefined) return undefined;
  const groups = Map.groupBy(resourceChanges(plan), ({ address }) => withoutKeys(address));
  if (groups.size > MAX_NODES) return undefined;
  const references = referencesOf(root);
  return [...groups].map(([address, changes]) => ({
    address,
    kind: CHANGE_KINDS.find((kind) => changes.some((change) => change.kind === kind)) ?? 'update',
    count: changes.length,
    dependsOn: reach(address, references, groups),
  }));
};

/** The column of each node in a drawing: right of everything that it depends on. */
export const columnsOf = (nodes: readonly GraphNode[]): ReadonlyMap<string, number> => {
  const byAddress = new Map(nodes.map((node) => [node.address, node]));
  const columns = new Map<string, number>();
  const place = (address: string, above: ReadonlySet<string>): number => {
    const placed = columns.get(address);
    if (placed !== undefined) return placed;
    const below = (byAddress.get(address)?.dependsOn ?? []).filter((one) => !above.has(one));
    const path = new Set([...above, address]);
    const column = below.reduce((most, one) => Math.max(most, place(one, path) + 1), 0);
    columns.set(address, column);
    return column;
  };
  for (const { address } of nodes) place(address, new Set([address]));
  return columns;
};
