import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  invalidAttribute,
  itemsOn,
  jsonApiRoutes,
  one,
  pageOf,
  parsePage,
  resourceBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { ServiceContext } from '../../base/service-context.ts';
import type { TeamGrant } from '../access/grant-records.ts';
import { type GrantForm, PROJECT_GRANT_FORM, WORKSPACE_GRANT_FORM } from './grant-form.ts';
import {
  createGrant,
  deleteGrant,
  listGrants,
  requireGrant,
  updateGrant,
} from './grant-operations.ts';

const reference = (type: string) =>
  Type.Object({
    data: Type.Object({ type: Type.Literal(type), id: Type.String({ maxLength: 64 }) }),
  });

/** Single rights may be set only with the custom level. */
const changeGrant = <Level extends string, Custom, Rights>(
  form: GrantForm<Level, Custom, Rights>,
  current: TeamGrant<Level, Custom>,
  access: Level,
  rights: Rights,
): TeamGrant<Level, Custom> => {
  const first = form.firstRight(rights);
  if (access !== 'custom' && first !== undefined) {
    const name = first.charAt(0).toUpperCase() + first.slice(1);
    throw invalidAttribute(
      `/data/attributes/${first}`,
      `${name} is read-only when access level is '${access}'; use the 'custom' access level to set this attribute.`,
    );
  }
  return { ...current, access, custom: form.change(current.custom, rights) };
};

/** The schemas of create and update requests. */
const toBodies = <Level extends string, Custom, Rights>({
  type,
  kind,
  levels,
  rights,
}: GrantForm<Level, Custom, Rights>) => {
  const access = Type.Union(levels.map((level) => Type.Literal(level)));
  const relationships = Type.Object({
    team: reference('teams'),
    [kind.target]: reference(`${kind.target}s`),
  });
  return {
    create: resourceBody(type, Type.Object({ access, ...rights }), relationships),
    update: resourceBody(type, Type.Object({ access: Type.Optional(access), ...rights })),
  };
};

const grantEndpoints = <Level extends string, Custom, Rights>(
  context: ServiceContext,
  form: GrantForm<Level, Custom, Rights>,
): readonly Endpoint[] => {
  const { kind, type, notOffered, withoutEffect } = form;
  const { target } = kind;
  const { create, update } = toBodies(form);
  const collection = `/${type}`;
  const single = `/${type}/:grant_id` as const;
  return [
    endpoint({
      method: 'POST',
      path: collection,
      summary: `Give a team access to a ${target}`,
      answers: one(type),
      body: { schema: create, notOffered, withoutEffect },
      success: 201,
      handle: async ({ principal, body }) => {
        const { access, ...rights } = body.data.attributes;
        const { team, [target]: related } = body.data.relationships ?? {};
        if (team === undefined || related === undefined) {
          throw invalidAttribute('/data/relationships', `team and ${target} are required`);
        }
        const place = { teamId: team.data.id, targetId: related.data.id };
        const grant = await createGrant(context, principal, kind, place, (id) =>
          changeGrant(
            form,
            { id, ...place, access, custom: form.leastCustom },
            access,
            // Their schemas are the form's.
            rights as Rights,
          ),
        );
        return { document: { data: form.toResource(grant) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: collection,
      summary: `List the access of teams to a ${target}, of a team to ${target}s, or both`,
      query: {
        [`filter[${target}][id]`]: { description: `The ${target}.` },
        'filter[team][id]': { description: 'The team.' },
      },
      answers: pageOf(type),
      handle: async ({ head, principal, query }) => {
        const grants = await listGrants(context, principal, kind, {
          targetId: query.one('filter', target, 'id'),
          teamId: query.one('filter', 'team', 'id'),
        });
        const page = parsePage(query);
        const data = itemsOn(page, grants).map(form.toResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount: grants.length }) };
      },
    }),
    endpoint({
      method: 'GET',
      path: single,
      summary: `Show a team's access to a ${target}`,
      answers: one(type),
      handle: async ({ principal, params }) => {
        const id = params.grant_id;
        const grant = await requireGrant(context.store, principal, kind, id);
        return { document: { data: form.toResource(grant) } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: single,
      summary: `Change a team's access to a ${target}`,
      answers: one(type),
      body: { schema: update, notOffered, withoutEffect },
      handle: async ({ principal, params, body }) => {
        const { access, ...rights } = body.data.attributes;
        const id = params.grant_id;
        const grant = await updateGrant(context, principal, kind, id, (current) =>
          changeGrant(form, current, access ?? current.access, rights as Rights),
        );
        return { document: { data: form.toResource(grant) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: single,
      summary: `Remove a team's access to a ${target}`,
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteGrant(context, principal, kind, params.grant_id);
        return undefined;
      },
    }),
  ];
};

/** Access of teams to single workspaces and to projects. */
export const teamAccessRoutes = (context: ServiceContext): Route[] =>
  jsonApiRoutes('team access', [
    ...grantEndpoints(context, WORKSPACE_GRANT_FORM),
    ...grantEndpoints(context, PROJECT_GRANT_FORM),
  ]);
