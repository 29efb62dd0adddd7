import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  type Includes,
  jsonApiRoutes,
  one,
  oneOrNone,
  type ParamsOf,
  pageOf,
  parseInclude,
  parsePage,
  resourceBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { Type } from 'typebox';
import { notFound } from '../../base/not-found.ts';
import {
  loadUrlSigner,
  REDIRECTED_URL_LIFETIME_SECONDS,
  toSignedFor,
} from '../../base/signed-urls/signed-url-operations.ts';
import { type BackingDataAction, toActionNames } from '../retention/domain/backing-data.ts';
import type { StateContext } from '../seams/state-context.ts';
import {
  archiveConfigurationVersion,
  changeConfigurationData,
} from './configuration-data-operations.ts';
import {
  toConfigurationVersionResource,
  toIngressResource,
  toIngressResources,
} from './configuration-version-document.ts';
import {
  createConfigurationVersion,
  listConfigurationVersions,
  requireConfigurationVersion,
} from './configuration-version-operations.ts';

const flag = Type.Optional(Type.Boolean());
const CREATE = resourceBody(
  'configuration-versions',
  Type.Object({ 'auto-queue-runs': flag, speculative: flag, provisional: flag }),
);

const INGRESS = 'ingress_attributes';
// Public clients may ask for "run", for which their document of a configuration version has no relationship.
const INCLUDES: Includes = { [INGRESS]: ['ingress-attributes'], run: [] };

const COLLECTION = '/workspaces/:workspace_id/configuration-versions';
const ONE = '/configuration-versions/:configuration_version_id';
const idOf = (params: ParamsOf<typeof ONE>): string => params.configuration_version_id;

/** Routes that show and download the configuration version named by the path. */
export const configurationReadEndpoints = <
  const Show extends string,
  const Download extends string,
>(
  context: StateContext,
  paths: { readonly show: Show; readonly download: Download },
  findId: (principal: Principal, params: ParamsOf<Show> | ParamsOf<Download>) => Promise<string>,
): readonly Endpoint[] => [
  endpoint({
    method: 'GET',
    path: paths.show,
    summary: 'Show a configuration version',
    answers: one('configuration-versions', { includes: INCLUDES }),
    handle: async ({ principal, params, query }) => {
      const include = parseInclude(query, INCLUDES);
      const id = await findId(principal, params);
      const { version } = await requireConfigurationVersion(context.store, principal, id);
      const data = toConfigurationVersionResource(version, null);
      const included = include.has(INGRESS) ? toIngressResources([version]) : [];
      return { document: included.length === 0 ? { data } : { data, included } };
    },
  }),
  endpoint({
    method: 'GET',
    path: paths.download,
    summary: 'Download the files of a configuration version',
    redirects: 302,
    handle: async ({ head, principal, params }) => {
      const id = await findId(principal, params);
      const { version } = await requireConfigurationVersion(context.store, principal, id);
      if (version.archive === null || version.status !== 'uploaded')
        throw notFound('configuration');
      const sign = await loadUrlSigner(context, toSignedFor(head), REDIRECTED_URL_LIFETIME_SECONDS);
      const location = sign('GET', `/downloads/configuration-versions/${version.id}`);
      return { status: 302, location };
    },
  }),
];

export const configurationVersionRoutes = (context: StateContext): Route[] => {
  const { store } = context;
  const backingData = (action: BackingDataAction, summary: string): Endpoint[] =>
    toActionNames(action).map((name) =>
      endpoint({
        method: 'POST',
        path: `${ONE}/actions/${name}`,
        summary,
        success: 204,
        handle: async ({ principal, params }) => {
          await changeConfigurationData(context, principal, idOf(params), action);
          return undefined;
        },
      }),
    );
  return jsonApiRoutes('configuration versions', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Announce the upload of a configuration',
      answers: one('configuration-versions'),
      body: { schema: CREATE, optional: true },
      success: 201,
      handle: async ({ head, principal, params, body }) => {
        const given = body?.data.attributes;
        const version = await createConfigurationVersion(context, principal, params.workspace_id, {
          autoQueueRuns: given?.['auto-queue-runs'] ?? true,
          speculative: given?.speculative ?? false,
          provisional: given?.provisional ?? false,
        });
        const sign = await loadUrlSigner(context, toSignedFor(head));
        const uploadUrl = sign('PUT', `/uploads/configuration-versions/${version.id}`);
        return { document: { data: toConfigurationVersionResource(version, uploadUrl) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List the configuration versions of a workspace',
      answers: pageOf('configuration-versions', { includes: INCLUDES }),
      handle: async ({ head, principal, params, query }) => {
        const workspaceId = params.workspace_id;
        const include = parseInclude(query, INCLUDES);
        const page = parsePage(query);
        const { versions, totalCount } = await listConfigurationVersions(
          context,
          principal,
          workspaceId,
          page,
        );
        const data = versions.map((version) => toConfigurationVersionResource(version, null));
        const included = include.has(INGRESS) ? toIngressResources(versions) : [];
        return { document: toPaginatedDocument(head, { data, page, totalCount, included }) };
      },
    }),
    ...configurationReadEndpoints(
      context,
      { show: ONE, download: `${ONE}/download` },
      async (_, params) => idOf(params),
    ),
    endpoint({
      method: 'GET',
      path: `${ONE}/ingress-attributes`,
      summary: 'Show the commit that a configuration version is from; null for an upload',
      answers: oneOrNone('ingress-attributes'),
      handle: async ({ principal, params }) => {
        const { version } = await requireConfigurationVersion(store, principal, idOf(params));
        return { document: { data: toIngressResource(version) ?? null } };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${ONE}/actions/archive`,
      summary: 'Give up the files of a configuration version',
      success: 202,
      handle: async ({ principal, params }) => {
        await archiveConfigurationVersion(context, principal, idOf(params));
        return undefined;
      },
    }),
    ...backingData(
      'soft_delete',
      'Withhold the files of a configuration version that is not current',
    ),
    ...backingData('restore', 'Give the withheld files of a configuration version back'),
    ...backingData('permanently_delete', 'Delete the withheld files of a configuration version'),
  ]);
};
