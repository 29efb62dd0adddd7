import type { Route } from '@keelson/edge';
import {
  choice,
  type DocumentAnswer,
  endpoint,
  invalidAttribute,
  invalidParameter,
  type JsonApiExchange,
  jsonApiRoutes,
  one,
  pageOf,
  parseInclude,
  parsePage,
  type QuerySchema,
  type Resource,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { readableOnly } from '@keelson/storage';
import { Type } from 'typebox';
import { loadUrlSigner, toSignedFor } from '../../base/signed-urls/signed-url-operations.ts';
import { STATE_STATUSES } from '../model/domain/state-version.ts';
import { type BackingDataAction, toActionNames } from '../retention/domain/backing-data.ts';
import type { StateContext } from '../seams/state-context.ts';
import { type StateAccess } from '../seams/state-contributions.ts';
import { changeBackingData } from './backing-data-operations.ts';
import { listStateVersions } from './state-listing.ts';
import { createState } from './state-upload-operations.ts';
import {
  loadStateIncluded,
  loadStateVersionResource,
  toStateIncludes,
} from './state-version-includes.ts';
import {
  announceState,
  requireCurrentState,
  requireStateVersion,
  rollBackState,
} from './state-version-operations.ts';
import {
  CREATE_STATE_VERSION,
  decodeInline,
  ROLL_BACK_STATE,
  toGivenState,
} from './state-version-request.ts';

/** Largest state inside the document, in base64. Most clients use signed URLs for all states. */
const INLINE_LIMIT_BYTES = 24 * 1024 * 1024;

type Asked = Pick<JsonApiExchange<unknown>, 'head' | 'query'>;

/** A response with one state version and the resources named in `include`. */
const answerStateVersion = async (
  context: StateContext,
  { head, query }: Asked,
  access: StateAccess,
): Promise<DocumentAnswer<Resource<'state-versions'>>> => {
  const include = parseInclude(query, toStateIncludes(context));
  const sign = await loadUrlSigner(context, toSignedFor(head));
  const included = await loadStateIncluded(context, include, [access]);
  return {
    document: {
      data: await loadStateVersionResource(context.store, access, sign),
      ...(included.length > 0 && { included }),
    },
  };
};

const VERSIONS = '/workspaces/:workspace_id/state-versions';

const STATE_FILTERS: QuerySchema = {
  'filter[organization][name]': { description: 'The organization.', isRequired: true },
  'filter[workspace][name]': { description: 'The workspace.', isRequired: true },
  'filter[status]': {
    description: 'Statuses of the states.',
    schema: Type.Array(choice(STATE_STATUSES)),
  },
};

const backingData = (context: StateContext, action: BackingDataAction, summary: string) =>
  toActionNames(action).map((name) =>
    endpoint({
      method: 'POST',
      path: `/state-versions/:state_version_id/actions/${name}`,
      summary,
      success: 204,
      handle: async ({ principal, params }) => {
        await changeBackingData(context, principal, params.state_version_id, action);
        return undefined;
      },
    }),
  );

export const stateVersionRoutes = (context: StateContext): Route[] => {
  const { store } = context;
  const includes = toStateIncludes(context);
  return jsonApiRoutes('state versions', [
    endpoint({
      method: 'POST',
      path: VERSIONS,
      summary: 'Create a state version; without a state it is announced, to be uploaded',
      answers: one('state-versions', { includes }),
      body: {
        schema: CREATE_STATE_VERSION,
        limitBytes: INLINE_LIMIT_BYTES,
        withoutEffect: { 'attributes/json-state-outputs': 'outputs are read from the state' },
      },
      success: 201,
      handle: async (exchange) => {
        const { principal, params, body } = exchange;
        const state = decodeInline(body, 'state');
        const jsonState = decodeInline(body, 'json-state');
        const workspaceId = params.workspace_id;
        const given = toGivenState(body);
        const access =
          state === undefined
            ? await announceState(context, principal, workspaceId, given)
            : await createState(context, principal, workspaceId, given, state, jsonState);
        return answerStateVersion(context, exchange, access);
      },
    }),
    endpoint({
      method: 'PATCH',
      path: VERSIONS,
      summary: 'Make an older state current again',
      answers: one('state-versions', { includes }),
      body: { schema: ROLL_BACK_STATE },
      success: 201,
      handle: async (exchange) => {
        const { principal, params, body } = exchange;
        const target = body.data.relationships?.['rollback-state-version'].data.id;
        if (target === undefined) {
          throw invalidAttribute('/data/relationships', 'rollback-state-version is required');
        }
        const workspaceId = params.workspace_id;
        const access = await rollBackState(context, principal, workspaceId, target);
        return answerStateVersion(context, exchange, access);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/state-versions',
      summary: 'List the state versions of a workspace, newest first',
      query: STATE_FILTERS,
      answers: pageOf('state-versions', { includes }),
      handle: async ({ head, principal, query }) => {
        const organizationName = query.one('filter', 'organization', 'name');
        const workspaceName = query.one('filter', 'workspace', 'name');
        if (organizationName === undefined || workspaceName === undefined) {
          throw invalidParameter(
            organizationName === undefined
              ? 'filter[organization][name]'
              : 'filter[workspace][name]',
            'filter[organization][name] and filter[workspace][name] are required',
          );
        }
        const page = parsePage(query);
        const include = parseInclude(query, includes);
        const { versions, totalCount } = await listStateVersions(
          context,
          principal,
          { organizationName, workspaceName },
          query.list('filter', 'status').slice(0, STATE_STATUSES.length),
          page,
        );
        const sign = await loadUrlSigner(context, toSignedFor(head));
        const data = await Promise.all(
          versions.map((access) => loadStateVersionResource(readableOnly(store), access, sign)),
        );
        const included = await loadStateIncluded(context, include, versions);
        return { document: toPaginatedDocument(head, { data, included, page, totalCount }) };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/state-versions/:state_version_id',
      summary: 'Show a state version',
      answers: one('state-versions', { includes }),
      handle: async (exchange) => {
        const { principal, params } = exchange;
        const id = params.state_version_id;
        const access = await requireStateVersion(store, principal, id, 'canReadStateVersions');
        return answerStateVersion(context, exchange, access);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/workspaces/:workspace_id/current-state-version',
      summary: 'Show the current state version of a workspace',
      answers: one('state-versions', { includes }),
      handle: async (exchange) => {
        const { principal, params } = exchange;
        const id = params.workspace_id;
        const access = await requireCurrentState(store, principal, id, 'canReadStateVersions');
        return answerStateVersion(context, exchange, access);
      },
    }),
    ...backingData(context, 'soft_delete', 'Withhold the state of a version that is not current'),
    ...backingData(context, 'restore', 'Give a withheld state back'),
    ...backingData(context, 'permanently_delete', 'Delete a withheld state'),
  ]);
};
