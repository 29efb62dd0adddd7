/** Outputs of states: what a caller may read who may not read the states themselves. */
import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  type JsonApiExchange,
  jsonApiRoutes,
  parsePage,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { notFound } from '../access/access-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { parseOutputId } from './domain/output-id.ts';
import { toOutputResource } from './state-version-document.ts';
import {
  requireCurrentState,
  requireStateVersion,
  type StateAccess,
} from './state-version-operations.ts';
import { stateSummaries } from './state-version-records.ts';

export const outputRoutes = (context: ServiceContext): Route[] => {
  const { store } = context;
  const answer = async (
    { head, query }: JsonApiExchange<unknown>,
    { version }: StateAccess,
    isPaginated: boolean,
  ) => {
    const outputs = (await stateSummaries.find(store, version.id))?.outputs ?? [];
    const all = outputs.map((output, index) => toOutputResource(version.id, index, output));
    if (!isPaginated) return { document: { data: all } };
    const page = parsePage(query);
    const data = itemsOn(page, all);
    return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
  };
  return jsonApiRoutes('state version outputs', [
    endpoint({
      method: 'GET',
      path: '/state-versions/:state_version_id/outputs',
      summary: 'List the outputs of a state version; sensitive values are left out',
      handle: async (exchange) => {
        const id = exchange.params['state_version_id'] ?? '';
        const { principal } = exchange;
        const access = await requireStateVersion(store, principal, id, 'canReadStateOutputs');
        return answer(exchange, access, true);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/workspaces/:workspace_id/current-state-version-outputs',
      summary: 'List the outputs of the current state; sensitive values are left out',
      handle: async (exchange) => {
        const id = exchange.params['workspace_id'] ?? '';
        const { principal } = exchange;
        const access = await requireCurrentState(store, principal, id, 'canReadStateOutputs');
        // Provisioning clients read one page.
        return answer(exchange, access, false);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/state-version-outputs/:output_id',
      summary: 'Show an output with its value, also a sensitive one',
      handle: async ({ principal, params }) => {
        const place = parseOutputId(params['output_id'] ?? '');
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
