/** A run that waits for confirmation, and what surrounds it. */
import { addPlannedRun, configurationWith, type RunSite } from '@keelson/testkit/planned-run';
import {
  type GoldenCalls,
  type GoldenRead,
  ORGANIZATION,
  one,
  reads,
  resource,
  several,
  upload,
} from './golden-calls.ts';

export const makeRun = async (
  { api }: GoldenCalls,
  http: string,
): Promise<readonly GoldenRead[]> => {
  const site: RunSite = { origin: () => http, workspaces: api };
  const { runId, workspaceId } = await addPlannedRun(site, 'planned');
  const source = await api('GET', `${ORGANIZATION}/workspaces/production`);
  const trigger = await api(
    'POST',
    `workspaces/${workspaceId}/run-triggers`,
    resource('run-triggers', {}, { sourceable: one('workspaces', source.data.id) }),
  );
  await api(
    'POST',
    `workspaces/${source.data.id}/relationships/remote-state-consumers`,
    several('workspaces', workspaceId),
  );
  const announced = await api(
    'POST',
    `workspaces/${source.data.id}/configuration-versions`,
    resource('configuration-versions', { 'auto-queue-runs': false }),
  );
  await upload(http, announced, configurationWith('README.md', '# Golden\n'));
  await api('POST', `runs/${runId}/comments`, resource('comments', { body: 'looks good' }));
  const { data: run } = await api('GET', `runs/${runId}`);
  const { data: pools } = await api('GET', `${ORGANIZATION}/agent-pools`);
  const pool = `agent-pools/${pools[0].id}`;
  await api(
    'PATCH',
    pool,
    resource(
      'agent-pools',
      { 'organization-scoped': false },
      { 'allowed-workspaces': several('workspaces', workspaceId) },
    ),
  );
  const configuration: string = run.relationships['configuration-version'].data.id;
  return reads('api', 'GET', [
    `workspaces/${workspaceId}/runs`,
    `${ORGANIZATION}/runs`,
    `runs/${runId}`,
    `runs/${runId}/comments`,
    `workspaces/${source.data.id}?include=readme`,
    `plans/${run.relationships.plan.data.id}`,
    `applies/${run.relationships.apply.data.id}`,
    `workspaces/${workspaceId}/configuration-versions`,
    `configuration-versions/${configuration}`,
    `workspaces/${workspaceId}/run-triggers?filter[run-trigger][type]=inbound`,
    `workspaces/${source.data.id}/run-triggers?filter[run-trigger][type]=outbound`,
    `run-triggers/${trigger.data.id}`,
    `${ORGANIZATION}/agent-pools`,
    pool,
    `${pool}/authentication-tokens`,
  ]);
};
