/** The allow-list of an agent pool, as the agent of a phase and the phase itself get it. */
import { afterAll, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const runs = await startRunHarness();
const { harness, poolId } = runs;
afterAll(() => harness[Symbol.asyncDispose]());

test.for([[['registry.example.com', '10.1.0.0/16']], [[]], [null]] as const)(
  'a phase has the allow-list %j of its pool',
  async ([allowed]) => {
    await harness.call('PATCH', `/agent-pools/${poolId}`, {
      data: { type: 'agent-pools', attributes: { 'allowed-egress': allowed } },
    });
    const agentId = await runs.registerAgent('limited');
    const runId = await runs.queue(await runs.makeWorkspace(), { 'plan-only': true });
    const claimed = await runs.claimAs(agentId);
    expect(claimed.data.attributes['allowed-egress']).toEqual(allowed);
    await runs.report(runId, { status: 'errored' });
  },
);
