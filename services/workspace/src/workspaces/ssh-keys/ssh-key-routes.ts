import type { Route } from '@keelson/edge';
import {
  endpoint,
  fixedType,
  invalidAttribute,
  jsonApiRoutes,
  many,
  nullable,
  one,
  resourceBody,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import { answerWorkspace } from '../lifecycle/workspace-routes.ts';
import { toWorkspaceIncludes } from '../seams/workspace-contributions.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toSshKeyResource } from './ssh-key-document.ts';
import {
  assignSshKey,
  createSshKey,
  deleteSshKey,
  listSshKeys,
  renameSshKey,
  requireSshKey,
} from './ssh-key-operations.ts';

const name = Type.String({ maxLength: 255 });

const CREATE = resourceBody(
  'ssh-keys',
  Type.Object({ name, value: Type.String({ maxLength: 65_536 }) }),
);
const UPDATE = resourceBody('ssh-keys', Type.Object({ name: Type.Optional(name) }));

const id = Type.Optional(nullable(Type.String({ maxLength: 64 })));

// Clients use three forms: the id as an attribute of a workspace, the key as the data itself, and null to
// remove it.
const ASSIGNMENT = Type.Object({
  data: nullable(
    Type.Object({
      type: fixedType('workspaces', 'ssh-keys'),
      id,
      attributes: Type.Optional(Type.Object({ id })),
    }),
  ),
});

/** The key's id, or null for none. A missing id is refused, so that it does not remove the key. */
const toKeyId = (data: NonNullable<Static<typeof ASSIGNMENT>['data']>): string | null => {
  const isKey = data.type === 'ssh-keys';
  const given = isKey ? data.id : data.attributes?.id;
  if (given !== undefined) return given;
  throw invalidAttribute(isKey ? '/data/id' : '/data/attributes/id', 'id is required');
};

const COLLECTION = '/organizations/:organization_name/ssh-keys';
const ONE = '/ssh-keys/:ssh_key_id';

export const sshKeyRoutes = (context: WorkspacesContext): Route[] =>
  jsonApiRoutes('SSH keys', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Create an SSH key',
      answers: one('ssh-keys'),
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const organizationName = params.organization_name;
        const key = await createSshKey(context, principal, organizationName, body.data.attributes);
        return { document: { data: toSshKeyResource(key) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List SSH keys',
      answers: many('ssh-keys'),
      handle: async ({ principal, params }) => {
        const keys = await listSshKeys(context, principal, params.organization_name);
        return { document: { data: keys.map(toSshKeyResource) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show an SSH key, without its value',
      answers: one('ssh-keys'),
      handle: async ({ principal, params }) => {
        const key = await requireSshKey(context.store, principal, params.ssh_key_id);
        return { document: { data: toSshKeyResource(key) } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: 'Rename an SSH key',
      answers: one('ssh-keys'),
      body: { schema: UPDATE },
      handle: async ({ principal, params, body }) => {
        const keyId = params.ssh_key_id;
        const key = await renameSshKey(context, principal, keyId, body.data.attributes.name);
        return { document: { data: toSshKeyResource(key) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete an SSH key',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteSshKey(context, principal, params.ssh_key_id);
        return undefined;
      },
    }),
    endpoint({
      method: 'PATCH',
      path: '/workspaces/:workspace_id/relationships/ssh-key',
      summary: 'Assign an SSH key to a workspace, or take it away',
      answers: one('workspaces', { includes: toWorkspaceIncludes(context.workspaceContributions) }),
      body: { schema: ASSIGNMENT },
      handle: async (exchange) => {
        const { principal, params, body } = exchange;
        const { data } = body;
        const workspaceId = params.workspace_id;
        const keyId = data === null ? null : toKeyId(data);
        const access = await assignSshKey(context, principal, workspaceId, keyId);
        return answerWorkspace(context, exchange, access);
      },
    }),
  ]);
