/** Outputs of states, which callers may read without having access to the states. */
import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  many,
  one,
  pageOf,
  parsePage,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { notFound } from '../../base/not-found.ts';
import type { StateContext } from '../seams/state-context.ts';
import { type StateAccess } from '../seams/state-contributions.ts';
import { parseOutputId } from './domain/output-id.ts';
import { toOutputResource } from './state-version-document.ts';
import { requireCurrentState, requireStateVersion } from './state-version-operations.ts';
import { stateSummaries } from './state-version-records.ts';

export const outputRoutes = (context: StateContext): Route[] => {
  const { store } = context;
  const loadOutputs = async ({ version }: StateAccess, showsSensitive: boolean) => {
    const outputs = (await stateSummaries.find(store, version.id))?.outputs ?? [];
    return outputs.map((output, index) =>
      toOutputResource(version.id, index, output, showsSensitive),
    );
  };
  return jsonApiRoutes('state version outputs', [
    endpoint({
      method: 'GET',
      path: '/state-versions/:state_version_id/outputs',
      summary: 'List the outputs of a state version with their values, also the sensitive ones',
      answers: pageOf('state-version-outputs'),
      handle: async ({ head, query, principal, params }) => {
        const id = params.state_version_id;
        const access = await requireStateVersion(store, principal, id, 'canReadStateOutputs');
        const outputs = await loadOutputs(access, true);
        const page = parsePage(query);
        const data = itemsOn(page, outputs);
        return {
          document: toPaginatedDocument(head, { data, page, totalCount: outputs.length }),
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/workspaces/:workspace_id/current-state-version-outputs',
      summary: 'List the outputs of the current state; sensitive values are left out',
      answers: many('state-version-outputs'),
      handle: async ({ principal, params }) => {
        const id = params.workspace_id;
        const access = await requireCurrentState(store, principal, id, 'canReadStateOutputs');
        // Provisioning clients read only one page.
        return { document: { data: await loadOutputs(access, false) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/state-version-outputs/:output_id',
      summary: 'Show an output with its value, also a sensitive one',
      answers: one('state-version-outputs'),
      handle: async ({ principal, params }) => {
        const place = parseOutputId(params.output_id);
        if (place === undefined) throw notFound('output');
        const { stateVersionId, index } = place;
        await requireStateVersion(store, principal, stateVersionId, 'canReadStateOutputs');
        const output = (await stateSummaries.find(store, stateVersionId))?.outputs[index];
        if (output === undefined) throw notFound('output');
        return { document: { data: toOutputResource(stateVersionId, index, output, true) } };
      },
    }),
  ]);
};
