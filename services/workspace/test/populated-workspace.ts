/** A workspace with records of every kind that belongs to workspaces. */
import type { startRunHarness } from './run-harness.ts';
import { md5, stateText } from './state-uploads.ts';

type Runs = Awaited<ReturnType<typeof startRunHarness>>;

/** A workspace with a state that an apply stored, with a run that waits, a run trigger and variables. */
export const populate = async (runs: Runs, workspaceId: string, sourceId: string) => {
  const { harness } = runs;
  const path = `/workspaces/${workspaceId}`;
  await harness.create(`${path}/vars`, 'vars', { key: 'k', value: 'x', category: 'terraform' });
  const applied = await runs.queue(workspaceId, { 'auto-apply': true });
  await runs.claim();
  await runs.finish(applied);
  await runs.claim();
  const state = stateText(1);
  await runs.asRun(applied, 'POST', `${path}/state-versions`, {
    data: {
      type: 'state-versions',
      attributes: { serial: 1, md5: md5(state), state: Buffer.from(state).toString('base64') },
    },
  });
  await runs.finish(applied);
  const waiting = await runs.queue(workspaceId);
  await harness.create(`/runs/${waiting}/comments`, 'comments', { body: 'soon' });
  await runs.claim();
  await runs.finish(waiting);
  await harness.call('POST', `${path}/relationships/tags`, {
    data: [{ type: 'tags', attributes: { name: 'tagged' } }],
  });
  await harness.create(
    `${path}/run-triggers`,
    'run-triggers',
    {},
    { relationships: { sourceable: { data: { type: 'workspaces', id: sourceId } } } },
  );
  await harness.create(`${path}/notification-configurations`, 'notification-configurations', {
    name: 'hook',
    'destination-type': 'generic',
    enabled: false,
    url: 'https://hooks.example',
    triggers: [],
  });
  return { applied, waiting };
};
