import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  jsonApiRoutes,
  parsePage,
  resourceBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { Type } from 'typebox';
import { notFound } from '../access/access-operations.ts';
import type { BackingDataAction } from '../retention/domain/backing-data.ts';
import { requireRun } from '../runs/run-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import {
  loadUrlSigner,
  REDIRECTED_URL_LIFETIME_SECONDS,
} from '../signed-urls/signed-url-operations.ts';
import {
  archiveConfigurationVersion,
  changeConfigurationData,
} from './configuration-data-operations.ts';
import { toConfigurationVersionResource } from './configuration-version-document.ts';
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

const COLLECTION = '/workspaces/:workspace_id/configuration-versions';
const ONE = '/configuration-versions/:configuration_version_id';
const OF_RUN = '/runs/:run_id/configuration-version';
type Params = Readonly<Record<string, string>>;
/** The version that a path means. */
type FindId = (principal: Principal, params: Params) => Promise<string>;
const idOf = (params: Params): string => params['configuration_version_id'] ?? '';

export const configurationVersionRoutes = (context: ServiceContext): Route[] => {
  const { store } = context;
  const idOfRun: FindId = async (principal, params) => {
    const { run } = await requireRun(store, principal, params['run_id'] ?? '');
    return run.configurationVersionId;
  };
  const show = (path: string, findId: FindId): Endpoint =>
    endpoint({
      method: 'GET',
      path,
      summary: 'Show a configuration version',
      handle: async ({ principal, params }) => {
        const id = await findId(principal, params);
        const { version } = await requireConfigurationVersion(store, principal, id);
        return { document: { data: toConfigurationVersionResource(version, null) } };
      },
    });
  const download = (path: string, findId: FindId): Endpoint =>
    endpoint({
      method: 'GET',
      path,
      summary: 'Where the files of a configuration version are read',
      handle: async ({ head, principal, params }) => {
        const { version } = await requireConfigurationVersion(
          store,
          principal,
          await findId(principal, params),
        );
        if (version.archive === null || version.status !== 'uploaded')
          throw notFound('configuration');
        const sign = await loadUrlSigner(context, head.baseUrl, REDIRECTED_URL_LIFETIME_SECONDS);
        const location = sign('GET', `/downloads/configuration-versions/${version.id}`);
        return { status: 302, location };
      },
    });
  const backingData = (action: BackingDataAction, summary: string): Endpoint =>
    endpoint({
      method: 'POST',
      path: `${ONE}/actions/${action}_backing_data`,
      summary,
      success: 204,
      handle: async ({ principal, params }) => {
        await changeConfigurationData(context, principal, idOf(params), action);
        return undefined;
      },
    });
  return jsonApiRoutes('configuration versions', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Announce the upload of a configuration',
      body: { schema: CREATE, optional: true },
      success: 201,
      handle: async ({ head, principal, params, body }) => {
        const given = body?.data.attributes;
        const version = await createConfigurationVersion(
          context,
          principal,
          params['workspace_id'] ?? '',
          {
            autoQueueRuns: given?.['auto-queue-runs'] ?? true,
            speculative: given?.speculative ?? false,
            provisional: given?.provisional ?? false,
          },
        );
        const sign = await loadUrlSigner(context, head.baseUrl);
        const uploadUrl = sign('PUT', `/uploads/configuration-versions/${version.id}`);
        return { document: { data: toConfigurationVersionResource(version, uploadUrl) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List the configuration versions of a workspace',
      handle: async ({ head, principal, params, query }) => {
        const workspaceId = params['workspace_id'] ?? '';
        const page = parsePage(query);
        const { versions, totalCount } = await listConfigurationVersions(
          context,
          principal,
          workspaceId,
          page,
        );
        const data = versions.map((version) => toConfigurationVersionResource(version, null));
        return { document: toPaginatedDocument(head, { data, page, totalCount }) };
      },
    }),
    show(ONE, async (_, params) => idOf(params)),
    show(OF_RUN, idOfRun),
    download(`${ONE}/download`, async (_, params) => idOf(params)),
    download(`${OF_RUN}/download`, idOfRun),
    endpoint({
      method: 'GET',
      path: `${ONE}/ingress-attributes`,
      summary: 'Show the commit that a configuration version is from: none, as all are uploaded',
      handle: async ({ principal, params }) => {
        await requireConfigurationVersion(store, principal, idOf(params));
        return { document: { data: null } };
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
    backingData('soft_delete', 'Withhold the files of a configuration version that is not current'),
    backingData('restore', 'Give the withheld files of a configuration version back'),
    backingData('permanently_delete', 'Delete the withheld files of a configuration version'),
  ]);
};
