import type {
  AttributesOf,
  Includes,
  RelationshipSchemas,
  RelationshipsOf,
  Resource,
  ResourceType,
} from '@keelson/jsonapi';
import type { TProperties } from 'typebox';
import type { ServiceContext } from '../../base/service-context.ts';
import type { SignedFor } from '../../base/signed-urls/signed-url-operations.ts';
import type { ShownWorkspace } from '../access/shown-workspace.ts';

/** Input of the loaders of included resources. */
export interface IncludeRequest {
  readonly context: ServiceContext;
  readonly caller: SignedFor;
}

/** The resources that one workspace adds to a response. */
export type LoadIncluded = (shown: ShownWorkspace) => Promise<readonly Resource[]>;

export interface WorkspaceInclude {
  /** Types of the resources. */
  readonly types: readonly ResourceType[];
  /** Whether the token of a run may include it, as the API has a route for that token too. */
  readonly isOpenToRuns?: boolean;
  /** Called once for each request that includes it. */
  prepare(this: void, request: IncludeRequest): LoadIncluded | Promise<LoadIncluded>;
}

/** Parts that a capability or a later module adds to workspace documents. */
export interface WorkspaceContribution<
  A extends TProperties = TProperties,
  R extends RelationshipSchemas = RelationshipSchemas,
> {
  /** Declares what `attributes` and `relationships` add. */
  readonly schema?: { readonly attributes?: A; readonly relationships?: R };
  attributes?(shown: ShownWorkspace): AttributesOf<A>;
  relationships?(shown: ShownWorkspace): RelationshipsOf<R>;
  /** By name in `include`; several contributions may add to the same name. */
  readonly includes?: Readonly<Record<string, WorkspaceInclude>>;
}

type Nothing = Record<never, never>;

/** Type-checks a contribution against its schema. */
export const workspaceContribution = <
  A extends TProperties = Nothing,
  R extends RelationshipSchemas = Nothing,
>(
  contribution: WorkspaceContribution<A, R>,
): WorkspaceContribution => contribution as unknown as WorkspaceContribution;

/** Names allowed in `include`, with the types of all that is included under them. */
export const toWorkspaceIncludes = (contributions: readonly WorkspaceContribution[]): Includes => {
  const includes: Record<string, ResourceType[]> = {};
  for (const [name, { types }] of contributions.flatMap((part) =>
    Object.entries(part.includes ?? {}),
  ))
    includes[name] = [...(includes[name] ?? []), ...types];
  return includes;
};
