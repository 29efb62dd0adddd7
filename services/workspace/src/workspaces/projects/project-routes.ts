import type { Route } from '@keelson/edge';
import {
  type CheckTexts,
  endpoint,
  jsonApiRoutes,
  nullable,
  parseInclude,
  parsePage,
  parseSort,
  type Resource,
  resourceBody,
  toPaginatedDocument,
  withLinkage,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import {
  DEFAULT_POOL_RELATIONSHIPS,
  toDefaultPoolId,
} from '../../base/execution/default-pool-request.ts';
import { EXECUTION_MODES } from '../../base/execution/domain/execution.ts';
import { type ProjectAccessResult, requireProject } from '../access/access-operations.ts';
import { isTagUnion, parseTagFilters } from '../listing/workspace-list-request.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toEffectiveBindingResources } from '../tags/tag-document.ts';
import { GIVEN_BINDINGS } from '../tags/tag-request.ts';
import { toOwnProjectResource } from './project-document.ts';
import {
  checkProject,
  createProject,
  deleteProject,
  type GivenProject,
  listProjects,
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

const fromProjectDocument = ({ data }: Static<typeof UPDATE>): GivenProject => {
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
const INCLUDES: ReadonlySet<string> = new Set([BINDINGS]);
const PERMITTED = ['filter', 'permissions'] as const;
const ONE = '/projects/:project_id';
const COLLECTION = '/organizations/:organization_name/projects';

export const projectRoutes = (context: WorkspacesContext): Route[] => {
  const toResource = async (access: ProjectAccessResult) =>
    toOwnProjectResource(
      access,
      access.permissions,
      await context.listing.countInProject(access.organization.id, access.project.id),
    );
  /** Each with its effective bindings linked to where they are included. */
  const toDocument = async (
    accesses: readonly ProjectAccessResult[],
    include: ReadonlySet<string>,
  ): Promise<{ data: readonly Resource[]; included: readonly Resource[] }> => {
    const data = await Promise.all(accesses.map(toResource));
    if (!include.has(BINDINGS)) return { data, included: [] };
    const bindings = accesses.map(({ project }) =>
      toEffectiveBindingResources(project.tagBindings, project),
    );
    const linked = data.map((resource, index) =>
      withLinkage(
        resource,
        'effective-tag-bindings',
        (bindings[index] ?? []).map(({ id }) => id),
      ),
    );
    return { data: linked, included: bindings.flat() };
  };
  return jsonApiRoutes('projects', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Create a project',
      body: { schema: CREATE, check: checkTexts },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const access = await createProject(context, principal, params['organization_name'] ?? '', {
          ...fromProjectDocument(body),
          name: body.data.attributes.name,
        });
        return { document: { data: await toResource(access) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List projects',
      handle: async ({ head, principal, params, query }) => {
        const include = parseInclude(query, INCLUDES);
        const names = query.list('filter', 'names');
        const page = parsePage(query);
        const { projects, totalCount, visibleCount } = await listProjects(
          context,
          principal,
          params['organization_name'] ?? '',
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
        const { data, included } = await toDocument(projects, include);
        const meta = { 'status-counts': { total: visibleCount, matching: totalCount } };
        return {
          document: toPaginatedDocument(head, {
            data,
            page,
            totalCount,
            meta,
            included,
          }),
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show a project',
      handle: async ({ principal, params, query }) => {
        const include = parseInclude(query, INCLUDES);
        const id = params['project_id'] ?? '';
        const access = await requireProject(context.store, principal, id);
        const { data, included } = await toDocument([access], include);
        const document = { data: data[0] ?? null };
        return { document: included.length === 0 ? document : { ...document, included } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: 'Update a project',
      body: { schema: UPDATE, check: checkTexts },
      handle: async ({ principal, params, body }) => {
        const id = params['project_id'] ?? '';
        const access = await updateProject(context, principal, id, fromProjectDocument(body));
        return { document: { data: await toResource(access) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete a project without workspaces',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteProject(context, principal, params['project_id'] ?? '');
        return undefined;
      },
    }),
  ]);
};
