/** Decides which of the variables with the same key and category a run gets. */
import type { Workspace } from '../../model/domain/workspace.ts';
import type { Variable } from '../../variables/domain/variable.ts';
import { findScope, type SetVariable, type VariableSet } from './variable-set.ts';

export interface LoadedSet {
  readonly set: VariableSet;
  readonly variables: readonly SetVariable[];
}

interface Reaching {
  /** Id of the variable of the same key and category that overrides this one; null if this one is used. */
  readonly overwriterId: string | null;
  /** The variables that this one overrides. */
  readonly overwrittenIds: readonly string[];
}

/** A variable that reaches a workspace. */
export type EffectiveVariable = Reaching &
  (
    | { readonly variable: Variable; readonly set: null }
    | { readonly variable: SetVariable; readonly set: VariableSet }
  );

type Source =
  | { readonly variable: Variable; readonly set: null }
  | { readonly variable: SetVariable; readonly set: VariableSet };

/** Strongest first: scope, then owner of the set. The workspace's own variables come in between. */
const PRIORITY_ORDER = [
  'global organization',
  'project organization',
  'project project',
  'workspace organization',
  'workspace project',
];
const ORDER = [
  'workspace project',
  'workspace organization',
  'project project',
  'project organization',
  'global organization',
];

/** By Unicode code points, which is also the order of the UTF-8 bytes. */
const compareNames = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b));

const sortSets = (
  sets: readonly LoadedSet[],
  workspace: Workspace,
  isPriority: boolean,
): readonly Source[] => {
  const order = isPriority ? PRIORITY_ORDER : ORDER;
  const ranked = sets.flatMap((loaded) => {
    const { set } = loaded;
    const scope = findScope(set, workspace);
    if (scope === undefined || set.priority !== isPriority) return [];
    const owner = set.ownerProjectId === null ? 'organization' : 'project';
    return [{ ...loaded, rank: order.indexOf(`${scope} ${owner}`) }];
  });
  return ranked
    .toSorted((a, b) => a.rank - b.rank || compareNames(a.set.name, b.set.name))
    .flatMap(({ set, variables }) => variables.map((variable) => ({ variable, set })));
};

/**
 * All variables that reach a workspace, strongest first
 * (https://developer.hashicorp.com/terraform/cloud-docs/workspaces/variables#precedence).
 * @param own the workspace's variables, in order of creation
 * @param sets sets that may reach the workspace; those that do not are ignored
 */
export const decideEffectiveVariables = (
  workspace: Workspace,
  own: readonly Variable[],
  sets: readonly LoadedSet[],
): readonly EffectiveVariable[] => {
  const sources: readonly Source[] = [
    ...sortSets(sets, workspace, true),
    ...own.map((variable) => ({ variable, set: null })),
    ...sortSets(sets, workspace, false),
  ];
  const keyOf = ({ variable: { category, key } }: Source): string => `${category} ${key}`;
  const byKey = Map.groupBy(sources, keyOf);
  return sources.map((source) => {
    const [winner, ...others] = byKey.get(keyOf(source)) ?? [];
    const isUsed = winner === undefined || winner.variable.id === source.variable.id;
    return {
      ...source,
      overwriterId: isUsed ? null : winner.variable.id,
      overwrittenIds: isUsed ? others.map(({ variable }) => variable.id) : [],
    };
  });
};
