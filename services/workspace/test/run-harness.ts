/** Workspaces whose runs are executed by a pool of the organization "acme", and the pool's agents. */
import { archiveOf } from './configuration-archive.ts';
import { type HarnessOptions, startHarness } from './workspace-harness.ts';

const O = '/organizations/acme';
const HALF_MINUTE_MS = 30_000;

export const startRunHarness = async (options: HarnessOptions = {}) => {
  const harness = await startHarness(options);
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const pool = await harness.create(`${O}/agent-pools`, 'agent-pools', { name: 'pool' });
  const poolId = pool.id;
  const path = `/agent-pools/${poolId}/authentication-tokens`;
  const made = await harness.create(path, 'authentication-tokens', {});
  const poolToken = String(made.attributes['token']);
  /** Agents have one phase at a time; there are enough for each test. */
  const agentIds: string[] = [];
  let serial = 0;

  const asPool = (method: string, target: string, body?: unknown) =>
    harness.call(method, target, body, poolToken);
  const registerAgent = async (name: string) => {
    const reply = await asPool('POST', '/agents', {
      data: { type: 'agents', attributes: { name } },
    });
    return reply.data.id;
  };
  const uploadTo = async (
    workspaceId: string,
    attributes: object = {},
    files: Readonly<Record<string, string>> = { 'main.tf': '' },
  ) => {
    const announced = await harness.create(
      `/workspaces/${workspaceId}/configuration-versions`,
      'configuration-versions',
      { 'auto-queue-runs': false, ...attributes },
    );
    const url = String(announced.attributes['upload-url']);
    const { status } = await harness.transfer('PUT', url, await archiveOf(files));
    if (status !== 204) throw new Error(`the upload ended with ${status}`);
    return { id: announced.id, url };
  };
  const makeWorkspace = async (attributes: object = {}) => {
    serial += 1;
    const { id } = await harness.create(`${O}/workspaces`, 'workspaces', {
      name: `app-${serial}`,
      'execution-mode': 'agent',
      'agent-pool-id': poolId,
      ...attributes,
    });
    await uploadTo(id);
    return id;
  };
  const tryQueue = (workspaceId: string, attributes: object = {}, token?: string) =>
    harness.call(
      'POST',
      '/runs',
      {
        data: {
          type: 'runs',
          attributes,
          relationships: { workspace: { data: { type: 'workspaces', id: workspaceId } } },
        },
      },
      token,
    );
  const queue = async (workspaceId: string, attributes: object = {}) => {
    const reply = await tryQueue(workspaceId, attributes);
    if (reply.status !== 201) throw new Error(`queueing: ${reply.errors[0]?.detail}`);
    return reply.data.id;
  };
  const runTokens = new Map<string, string>();
  const claimAs = (agentId: string) =>
    asPool('POST', '/agent-runs/actions/claim', { data: { type: 'agents', id: agentId } });
  /** By the first agent that has nothing to do. */
  const claim = async () => {
    for (const agentId of agentIds) {
      const reply = await claimAs(agentId);
      if (reply.status === 409) continue;
      if (reply.status === 204) return undefined;
      runTokens.set(reply.data.id, String(reply.data.attributes['token']));
      return reply.data;
    }
    throw new Error('every agent is busy');
  };
  /** With the token that came with the phase. */
  const asRun = (runId: string, method: string, target: string, body?: unknown) =>
    harness.call(method, target, body, runTokens.get(runId));
  const report = async (runId: string, attributes: object) => {
    const body = { data: { type: 'agent-runs', attributes } };
    return (await asRun(runId, 'PATCH', `/agent-runs/${runId}`, body)).status;
  };
  const finish = (runId: string, changes = true) =>
    report(runId, { status: 'finished', 'has-changes': changes, 'resource-additions': 2 });
  const act = async (runId: string, action: string) =>
    (await harness.call('POST', `/runs/${runId}/actions/${action}`, { comment: 'because' })).status;
  const statusOf = async (runId: string) =>
    (await harness.call('GET', `/runs/${runId}`)).data.attributes['status'];
  const workspaceOf = async (id: string) => (await harness.call('GET', `/workspaces/${id}`)).data;

  /** Advances the clock while the agents keep reporting. */
  const wait = async (ms: number) => {
    for (let left = ms; left > 0; left -= HALF_MINUTE_MS) {
      harness.clock.advance(Math.min(left, HALF_MINUTE_MS));
      for (const id of agentIds) {
        await asPool('PATCH', `/agents/${id}`, { data: { type: 'agents', attributes: {} } });
      }
    }
  };

  for (const name of ['one', 'two', 'three']) agentIds.push(await registerAgent(name));
  return {
    harness,
    poolId,
    agentIds,
    wait,
    tokenOf: (runId: string) => runTokens.get(runId),
    asPool,
    registerAgent,
    uploadTo,
    makeWorkspace,
    tryQueue,
    queue,
    claimAs,
    claim,
    asRun,
    report,
    finish,
    act,
    statusOf,
    workspaceOf,
  };
};
