import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import {
  choice,
  endpoint,
  type Includes,
  itemsOn,
  jsonApiRoutes,
  one,
  pageOf,
  parseInclude,
  parsePage,
  type QueryParameters,
  type Resource,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { IncludedResources } from '../../base/included-resources.ts';
import { toRelatedWorkspace } from '../../workspaces/lifecycle/related-workspace.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { toRunTriggerResource } from './run-trigger-document.ts';
import {
  createRunTrigger,
  deleteRunTrigger,
  listRunTriggers,
  type RunTriggerAccess,
  requireRunTrigger,
} from './run-trigger-operations.ts';
import type { RunTriggerDirection } from './run-trigger-records.ts';

/** The documented request has no type. */
const CREATE = Type.Object({
  data: Type.Object({
    type: Type.Optional(Type.Literal('run-triggers')),
    relationships: Type.Object({
      sourceable: Type.Object({
        data: Type.Object({
          type: Type.Literal('workspaces'),
          id: Type.String({ maxLength: 64 }),
        }),
      }),
    }),
  }),
});

const INCLUDES: Includes = { workspace: ['workspaces'], sourceable: ['workspaces'] };

const TYPE = ['filter', 'run-trigger', 'type'] as const;

const parseDirection = (query: QueryParameters): RunTriggerDirection => {
  const direction = query.one(...TYPE);
  if (direction === 'inbound' || direction === 'outbound') return direction;
  throw new KeelsonError('request.invalid', {
    parameter: 'filter[run-trigger][type]',
    text: 'filter[run-trigger][type] must be one of inbound, outbound',
  });
};

const COLLECTION = '/workspaces/:workspace_id/run-triggers';
const ONE = '/run-triggers/:run_trigger_id';

export const runTriggerRoutes = (context: RunsContext): Route[] => {
  const { store } = context;

  /** The included workspaces, limited to those that the caller may read. */
  const loadIncluded = async (
    include: ReadonlySet<string>,
    triggers: readonly RunTriggerAccess[],
  ): Promise<readonly Resource[]> => {
    const included = new IncludedResources();
    for (const { workspace, source } of triggers) {
      if (include.has('workspace')) await included.add(toRelatedWorkspace(context, workspace));
      if (include.has('sourceable')) await included.add(toRelatedWorkspace(context, source));
    }
    return included.all;
  };

  return jsonApiRoutes('run triggers', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Create a run trigger',
      answers: one('run-triggers'),
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const sourceId = body.data.relationships.sourceable.data.id;
        const id = params.workspace_id;
        const access = await createRunTrigger(context, principal, id, sourceId);
        return { document: { data: toRunTriggerResource(access) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List the run triggers of a workspace',
      query: {
        'filter[run-trigger][type]': {
          description: 'Whether the workspace is the target or the source.',
          schema: choice(['inbound', 'outbound']),
          isRequired: true,
        },
      },
      answers: pageOf('run-triggers', { includes: INCLUDES }),
      handle: async ({ head, principal, params, query }) => {
        const include = parseInclude(query, INCLUDES);
        const page = parsePage(query);
        const id = params.workspace_id;
        const all = await listRunTriggers(context, principal, id, parseDirection(query));
        const shown = itemsOn(page, all);
        const listing = {
          data: shown.map(toRunTriggerResource),
          page,
          totalCount: all.length,
          included: await loadIncluded(include, shown),
        };
        return { document: toPaginatedDocument(head, listing) };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show a run trigger',
      answers: one('run-triggers', { includes: INCLUDES }),
      handle: async ({ principal, params, query }) => {
        const include = parseInclude(query, INCLUDES);
        const access = await requireRunTrigger(store, principal, params.run_trigger_id);
        const included = await loadIncluded(include, [access]);
        const document = { data: toRunTriggerResource(access) };
        return { document: included.length === 0 ? document : { ...document, included } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete a run trigger',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteRunTrigger(context, principal, params.run_trigger_id);
        return undefined;
      },
    }),
  ]);
};
