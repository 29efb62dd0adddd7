import type { Route } from '@keelson/edge';
import {
  API_PREFIX,
  type Endpoint,
  endpoint,
  itemsOn,
  type JsonApiDocument,
  jsonApiRoutes,
  many,
  pageOf,
  parsePage,
  type Resource,
  resourceListBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { Type } from 'typebox';
import { requireProject, requireWorkspace } from '../access/access-operations.ts';
import { loadScope } from '../listing/visible-scope.ts';
import type { Project } from '../model/domain/project.ts';
import type { BindingInput, TagBinding } from '../model/domain/tag-binding.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toBindingResource, toEffectiveBindingResources, toTagResource } from './tag-document.ts';
import {
  addFlatTags,
  type BindingChange,
  changeProjectBindings,
  changeWorkspaceBindings,
  loadFlatTags,
  removeFlatTags,
  type TagInput,
} from './tag-operations.ts';
import { GIVEN_BINDING } from './tag-request.ts';

const BINDINGS = resourceListBody(GIVEN_BINDING, 100);

const TAGS = resourceListBody(
  Type.Object({
    type: Type.Optional(Type.Literal('tags')),
    id: Type.Optional(Type.String({ maxLength: 64 })),
    attributes: Type.Optional(
      Type.Object({ name: Type.Optional(Type.String({ maxLength: 255 })) }),
    ),
  }),
  100,
);

/** Answers link to what the bindings are on. */
const TARGET = { links: ['target'] } as const;

const toBindingList = (
  own: readonly TagBinding[],
  target: string,
): JsonApiDocument<readonly Resource<'tag-bindings'>[]> => ({
  data: own.map(toBindingResource),
  links: { target },
});

const toEffectiveList = (
  own: readonly TagBinding[],
  project: Project,
  target: string,
): JsonApiDocument<readonly Resource<'effective-tag-bindings'>[]> => ({
  data: toEffectiveBindingResources(own, project),
  links: { target },
});

const WORKSPACE = '/workspaces/:workspace_id';
const PROJECT = '/projects/:project_id';

const toLink = (id: string) => `${API_PREFIX}/workspaces/${id}`;

/** A workspace or project with bindings. */
interface Owner {
  readonly path: typeof WORKSPACE | typeof PROJECT;
  /** Changes the bindings of the addressed owner, and returns its address and what it then has. */
  change(
    context: WorkspacesContext,
    principal: Principal,
    id: string,
    given: readonly BindingInput[],
    kind: BindingChange,
  ): Promise<{ readonly target: string; readonly tagBindings: readonly TagBinding[] }>;
}

const ON_WORKSPACE: Owner = {
  path: WORKSPACE,
  change: async (context, principal, id, given, kind) => {
    const { workspace } = await changeWorkspaceBindings(context, principal, id, given, kind);
    return { target: toLink(id), tagBindings: workspace.tagBindings };
  },
};

const ON_PROJECT: Owner = {
  path: PROJECT,
  change: async (context, principal, id, given, kind) => {
    const { project } = await changeProjectBindings(context, principal, id, given, kind);
    return { target: `${API_PREFIX}/projects/${project.id}`, tagBindings: project.tagBindings };
  },
};

/** The bindings' own address answers with what there is then; as a relationship they answer with nothing. */
const changes = (context: WorkspacesContext, owner: Owner): Endpoint[] => {
  const on = (method: 'POST' | 'PATCH', name: string, kind: BindingChange, isAnswered: boolean) =>
    endpoint({
      method,
      path: `${owner.path}/${name}`,
      summary: kind === 'add' ? 'Add or change tag bindings' : 'Replace the tag bindings',
      answers: isAnswered ? many('tag-bindings', TARGET) : undefined,
      body: { schema: BINDINGS },
      handle: async ({ principal, params, body }) => {
        const given = body.data.map(({ attributes }) => attributes);
        const id = 'project_id' in params ? params.project_id : params.workspace_id;
        const { target, tagBindings } = await owner.change(context, principal, id, given, kind);
        return isAnswered ? { document: toBindingList(tagBindings, target) } : undefined;
      },
    });
  return [
    on('PATCH', 'tag-bindings', 'add', true),
    on('POST', 'relationships/tag-bindings', 'add', false),
    on('PATCH', 'relationships/tag-bindings', 'replace', false),
  ];
};

const list = (
  { store }: WorkspacesContext,
  path: `${typeof WORKSPACE}/${'' | 'relationships/'}tag-bindings`,
): Endpoint =>
  endpoint({
    method: 'GET',
    path,
    summary: 'List the tag bindings of a workspace',
    answers: many('tag-bindings', TARGET),
    handle: async ({ principal, params }) => {
      const workspaceId = params.workspace_id;
      const { workspace } = await requireWorkspace(store, principal, { workspaceId });
      return { document: toBindingList(workspace.tagBindings, toLink(workspaceId)) };
    },
  });

const flat = (
  context: WorkspacesContext,
  method: 'POST' | 'DELETE',
  summary: string,
  apply: typeof addFlatTags,
): Endpoint =>
  endpoint({
    method,
    path: `${WORKSPACE}/relationships/tags`,
    summary,
    body: { schema: TAGS },
    success: 204,
    handle: async ({ principal, params, body }) => {
      const given = body.data.map(
        ({ id, attributes }): TagInput => ({ id, name: attributes?.name }),
      );
      await apply(context, principal, params.workspace_id, given);
      return undefined;
    },
  });

const workspaceEndpoints = (context: WorkspacesContext): Endpoint[] => [
  endpoint({
    method: 'GET',
    path: `${WORKSPACE}/relationships/tags`,
    summary: 'List the flat tags of a workspace',
    query: { name: { description: 'Part of the name.' } },
    answers: pageOf('tags'),
    handle: async ({ head, principal, params, query }) => {
      const id = params.workspace_id;
      const { access, names } = await loadFlatTags(context, principal, id, query.one('name'));
      const page = parsePage(query);
      const { organization } = access;
      const wanted = itemsOn(page, names);
      const tags = await context.listing.findTags(await loadScope(context.store, access), wanted);
      const data = wanted.flatMap((name) => tags.filter((tag) => tag.name === name));
      return {
        document: toPaginatedDocument(head, {
          data: data.map((tag) => toTagResource(tag, organization.name)),
          page,
          totalCount: names.length,
        }),
      };
    },
  }),
  flat(context, 'POST', 'Bind flat tags to a workspace', addFlatTags),
  flat(context, 'DELETE', 'Remove flat tags from a workspace', removeFlatTags),
  list(context, `${WORKSPACE}/tag-bindings`),
  list(context, `${WORKSPACE}/relationships/tag-bindings`),
  ...changes(context, ON_WORKSPACE),
  endpoint({
    method: 'GET',
    path: `${WORKSPACE}/effective-tag-bindings`,
    summary: 'List own and inherited tag bindings of a workspace',
    answers: many('effective-tag-bindings', TARGET),
    handle: async ({ principal, params }) => {
      const workspaceId = params.workspace_id;
      const { workspace, project } = await requireWorkspace(context.store, principal, {
        workspaceId,
      });
      return {
        document: toEffectiveList(workspace.tagBindings, project, toLink(workspaceId)),
      };
    },
  }),
];

const projectEndpoints = (context: WorkspacesContext): Endpoint[] => [
  ...(['tag-bindings', 'relationships/tag-bindings', 'effective-tag-bindings'] as const).map(
    (name) =>
      endpoint({
        method: 'GET',
        path: `${PROJECT}/${name}`,
        summary: 'List the tag bindings of a project',
        answers: many(
          name === 'effective-tag-bindings' ? 'effective-tag-bindings' : 'tag-bindings',
          TARGET,
        ),
        handle: async ({ principal, params }) => {
          const { project } = await requireProject(context.store, principal, params.project_id);
          const target = `${API_PREFIX}/projects/${project.id}`;
          return {
            document:
              name === 'effective-tag-bindings'
                ? toEffectiveList(project.tagBindings, project, target)
                : toBindingList(project.tagBindings, target),
          };
        },
      }),
  ),
  ...changes(context, ON_PROJECT),
];

export const tagRoutes = (context: WorkspacesContext): Route[] =>
  jsonApiRoutes('tags', [...workspaceEndpoints(context), ...projectEndpoints(context)]);
