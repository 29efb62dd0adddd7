import type { Route } from '@keelson/edge';
import {
  type CheckTexts,
  endpoint,
  FLAG,
  type Includes,
  jsonApiRoutes,
  nullable,
  one,
  pageOf,
  parseInclude,
  parsePage,
  parseSort,
  type QuerySchema,
  resourceBody,
  sortedBy,
  TEXTS,
  toPaginatedDocument,
  withLinkage,
  withWarnings,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import {
  DEFAULT_POOL_RELATIONSHIPS,
  toDefaultPoolId,
} from '../../base/execution/default-pool-request.ts';
import {
  DEFAULT_EXECUTION_NAMES,
  EXECUTION_MODES,
  warnOfInherited,
} from '../../base/execution/domain/execution.ts';
import { MATCHING_COUNTS } from '../../base/matching-counts.ts';
import { type ProjectAccessResult, requireProject } from '../access/access-operations.ts';
import { isTagUnion, parseTagFilters, TAG_FILTERS } from '../listing/workspace-list-request.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toEffectiveBindingResources } from '../tags/tag-document.ts';
import { GIVEN_BINDINGS } from '../tags/tag-request.ts';
import { toOwnProjectResource } from './project-document.ts';
import {
  checkProject,
  createProject,
  deleteProject,
  listProjects,
  type ProjectInput,
  updateProject,
} from './project-operations.ts';

const attributes = {
  description: Type.Optional(nullable(Type.String({ maxLength: 256 }))),
  'auto-destroy-activity-duration': Type.Optional(nullable(Type.String({ maxLength: 40 }))),
  'default-execution-mode': Type.Optional(
    nullable(Type.Union(EXECUTION_MODES.map((mode) => Type.Literal(mode)))),
  ),
  'default-agent-pool-id': Type.Optional(nullable(Type.String({ maxLength: 64 }))),
  'setting-overwrites': Type.Optional(
    nullable(
      Type.Object({
        'default-execution-mode': Type.Optional(nullable(Type.Boolean())),
        'default-agent-pool': Type.Optional(nullable(Type.Boolean())),
      }),
    ),
  ),
};

const relationships = Type.Object({
  ...DEFAULT_POOL_RELATIONSHIPS.properties,
  'tag-bindings': Type.Optional(GIVEN_BINDINGS),
});

/** The operation checks form and length, so that its error can describe the rule. */
const name = Type.String();
const CREATE = resourceBody('projects', Type.Object({ ...attributes, name }), relationships);
const UPDATE = resourceBody(
  'projects',
  Type.Object({ ...attributes, name: Type.Optional(name) }),
  relationships,
);

const fromProjectDocument = ({ data }: Static<typeof UPDATE>): ProjectInput => {
  const given = data.attributes;
  const overwrites = given['setting-overwrites'];
  return {
    name: given.name,
    // null removes it.
    description: given.description === null ? '' : given.description,
    autoDestroyActivityDuration: given['auto-destroy-activity-duration'],
    execution: {
      mode: given['default-execution-mode'],
      agentPoolId: toDefaultPoolId(data),
      overwrites: overwrites && {
        executionMode: overwrites['default-execution-mode'],
        agentPool: overwrites['default-agent-pool'],
      },
    },
    tagBindings: data.relationships?.['tag-bindings']?.data?.map((item) => item.attributes),
  };
};

/** Validation errors of the texts in a request, reported together with its other errors. */
const checkTexts: CheckTexts = ({ name, 'auto-destroy-activity-duration': duration }) =>
  checkProject({ name, autoDestroyActivityDuration: duration });

const BINDINGS = 'effective_tag_bindings';
const INCLUDES: Includes = { [BINDINGS]: ['effective-tag-bindings'] };
const PERMITTED = ['filter', 'permissions'] as const;
const ONE = '/projects/:project_id';
const COLLECTION = '/organizations/:organization_name/projects';

const PROJECT_FILTERS: QuerySchema = {
  q: { description: 'Part of the name.' },
  'filter[names]': { description: 'Names.', schema: TEXTS },
  ...TAG_FILTERS,
  'filter[permissions][create-workspace]': {
    description: 'Whether the caller must be allowed to create workspaces in it.',
    schema: FLAG,
  },
  'filter[permissions][update]': {
    description: 'Whether the caller must be allowed to update it.',
    schema: FLAG,
  },
  sort: sortedBy(['name']),
};

/** `meta` with a warning about an execution mode that was not stored. */
const withExecutionWarning = (
  { execution }: ProjectInput,
  { project, organization }: ProjectAccessResult,
) => {
  const effective = project.ownExecution ?? organization.defaultExecution;
  return withWarnings(warnOfInherited(execution, effective, DEFAULT_EXECUTION_NAMES));
};

export const projectRoutes = (context: WorkspacesContext): Route[] => {
  const toResource = async (access: ProjectAccessResult) =>
    toOwnProjectResource(
      access,
      access.permissions,
      await context.listing.countInProject(access.organization.id, access.project.id),
    );
  /** With its effective bindings linked to where they are included. */
  const toDocument = async (access: ProjectAccessResult, include: ReadonlySet<string>) => {
    const data = await toResource(access);
    if (!include.has(BINDINGS)) return { data, included: [] };
    const included = toEffectiveBindingResources(access.project.tagBindings, access.project);
    const ids = included.map(({ id }) => id);
    return { data: withLinkage(data, 'effective-tag-bindings', ids), included };
  };
  return jsonApiRoutes('projects', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Create a project',
      answers: one('projects'),
      body: { schema: CREATE, check: checkTexts },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const given = fromProjectDocument(body);
        const access = await createProject(context, principal, params.organization_name, {
          ...given,
          name: body.data.attributes.name,
        });
        return {
          document: { data: await toResource(access), ...withExecutionWarning(given, access) },
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List projects',
      query: PROJECT_FILTERS,
      answers: pageOf('projects', { includes: INCLUDES, meta: MATCHING_COUNTS }),
      handle: async ({ head, principal, params, query }) => {
        const include = parseInclude(query, INCLUDES);
        const names = query.list('filter', 'names');
        const page = parsePage(query);
        const { projects, totalCount, visibleCount } = await listProjects(
          context,
          principal,
          params.organization_name,
          {
            names: names.length === 0 ? undefined : names,
            search: query.one('q'),
            tagged: parseTagFilters(query),
            isTagUnion: isTagUnion(query),
            permissions: [
              ...(query.one(...PERMITTED, 'create-workspace') === 'true'
                ? (['canCreateWorkspace'] as const)
                : []),
              ...(query.one(...PERMITTED, 'update') === 'true' ? (['canUpdate'] as const) : []),
            ],
            isDescending: parseSort(query, ['name'])?.isDescending ?? false,
          },
          page,
        );
        const documents = await Promise.all(projects.map((one) => toDocument(one, include)));
        const meta = { 'status-counts': { total: visibleCount, matching: totalCount } };
        return {
          document: toPaginatedDocument(head, {
            data: documents.map(({ data }) => data),
            page,
            totalCount,
            meta,
            included: documents.flatMap(({ included }) => included),
          }),
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show a project',
      answers: one('projects', { includes: INCLUDES }),
      handle: async ({ principal, params, query }) => {
        const include = parseInclude(query, INCLUDES);
        const id = params.project_id;
        const access = await requireProject(context.store, principal, id);
        const { data, included } = await toDocument(access, include);
        return { document: included.length === 0 ? { data } : { data, included } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: 'Update a project',
      answers: one('projects'),
      body: { schema: UPDATE, check: checkTexts },
      handle: async ({ principal, params, body }) => {
        const id = params.project_id;
        const given = fromProjectDocument(body);
        const access = await updateProject(context, principal, id, given);
        return {
          document: { data: await toResource(access), ...withExecutionWarning(given, access) },
        };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete a project without workspaces',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteProject(context, principal, params.project_id);
        return undefined;
      },
    }),
  ]);
};
