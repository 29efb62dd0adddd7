/** Documents of a run, its plan and its apply in every status. */
import { afterAll, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const { harness, act, claim, finish, makeWorkspace, poolId, queue, report } =
  await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

const STEPS = {
  claim: () => claim(),
  finish: (id: string) => finish(id),
  fail: (id: string) => report(id, { status: 'errored' }),
  stop: (id: string) => report(id, { status: 'canceled' }),
  apply: (id: string) => act(id, 'apply'),
  cancel: (id: string) => act(id, 'cancel'),
  discard: (id: string) => act(id, 'discard'),
} as const;

const PENDING = { status: 'pending', times: {} };
const UNREACHABLE = { status: 'unreachable', times: {} };
const PLANNED = { status: 'finished', times: { 'started-at': 1, 'finished-at': 2 } };

/** Times in seconds since the creation of the run, one second for each step. */
test.for([
  [
    {},
    ['claim', 'finish', 'apply', 'claim', 'finish'],
    { planning: 1, planned: 2, confirmed: 3, applying: 4, applied: 5 },
    PLANNED,
    { status: 'finished', times: { 'started-at': 4, 'finished-at': 5 } },
  ],
  [
    { 'auto-apply': true },
    ['claim', 'finish', 'claim', 'fail'],
    { planning: 1, confirmed: 2, applying: 3, errored: 4 },
    PLANNED,
    { status: 'errored', times: { 'started-at': 3, 'errored-at': 4 } },
  ],
  [
    { 'save-plan': true },
    ['claim', 'finish', 'apply', 'claim', 'cancel', 'stop'],
    { planning: 1, 'planned-and-saved': 2, confirmed: 3, applying: 4, canceled: 6 },
    PLANNED,
    { status: 'canceled', times: { 'started-at': 4, 'canceled-at': 6 } },
  ],
  [
    {},
    ['claim', 'finish', 'discard'],
    { planning: 1, planned: 2, discarded: 3 },
    PLANNED,
    UNREACHABLE,
  ],
  [
    {},
    ['claim', 'fail'],
    { planning: 1, errored: 2 },
    { status: 'errored', times: { 'started-at': 1, 'errored-at': 2 } },
    UNREACHABLE,
  ],
  [
    {},
    ['claim', 'cancel', 'stop'],
    { planning: 1, canceled: 3 },
    { status: 'canceled', times: { 'started-at': 1, 'canceled-at': 3 } },
    UNREACHABLE,
  ],
  [{}, ['cancel'], { canceled: 1 }, { status: 'canceled', times: {} }, UNREACHABLE],
  [
    { 'plan-only': true },
    ['claim', 'finish'],
    { planning: 1, 'planned-and-finished': 2 },
    PLANNED,
    undefined,
  ],
  [{}, ['claim'], { planning: 1 }, { status: 'running', times: { 'started-at': 1 } }, PENDING],
] as const)('with %j and %j, the timestamps are %j', async ([given, steps, times, plan, apply]) => {
  const runId = await queue(await makeWorkspace(), given);
  const madeAtMs = harness.clock.nowMs();
  for (const step of steps) {
    harness.clock.advance(1000);
    await STEPS[step](runId);
  }
  const { data, included } = await harness.call('GET', `/runs/${runId}?include=plan,apply`);
  const secondsOf = (shown: unknown) =>
    Object.fromEntries(
      Object.entries(shown as Record<string, string>).map(([name, at]) => [
        name,
        (Date.parse(at) - madeAtMs) / 1000,
      ]),
    );
  const expected = Object.entries({
    pending: 0,
    'plan-queueable': 0,
    ...times,
  }).map(([name, at]) => [`${name}-at`, at]);
  expect(secondsOf(data.attributes['status-timestamps'])).toEqual(Object.fromEntries(expected));
  const phases = included.map(({ attributes: { status, 'status-timestamps': shown } }) => ({
    status,
    times: secondsOf(shown),
  }));
  expect(phases).toEqual(apply === undefined ? [plan] : [plan, apply]);
  if (!('canceled' in times) && steps.at(-1) === 'claim') await STEPS.fail(runId);
});

test('a run shows its options, its creator, its executor and its result', async () => {
  const asked = {
    message: 'because – ünïcode 𝄞',
    'is-destroy': true,
    refresh: false,
    'refresh-only': false,
    'auto-apply': true,
    'plan-only': false,
    'save-plan': true,
    'allow-empty-apply': true,
    'target-addrs': ['a.b["é"]'],
    'replace-addrs': ['c.d'],
    variables: [{ key: 'k', value: '"v"' }],
  };
  const runId = await queue(await makeWorkspace({ 'runtime-version': '1.10.5' }), asked);
  const show = async () => await harness.call('GET', `/runs/${runId}?include=created_by,plan`);
  const queued = await show();
  expect(queued.data.attributes).toMatchObject({
    ...asked,
    'terraform-version': '1.10.5',
    'runtime-version': '1.10.5',
    'has-changes': false,
    'canceled-at': null,
    'force-cancel-available-at': null,
    source: 'tfe-api',
  });
  const { data: user } = await harness.call('GET', '/account/details');
  expect(queued.data.relationships['created-by']?.data).toEqual({ id: user.id, type: 'users' });
  expect(queued.data.links['self']).toBe(`/api/v2/runs/${runId}`);
  const planId = runId.replace('run-', 'plan-');
  expect(queued.included).toMatchObject([
    { id: planId, attributes: { 'execution-details': null } },
    { id: user.id },
  ]);
  const { attributes } = (await claim()) ?? {};
  expect(attributes?.['phase']).toBe('plan');
  await finish(runId);
  await act(runId, 'apply');
  await claim();
  await act(runId, 'cancel');
  const asOf = (delayMs: number) => new Date(harness.clock.nowMs() + delayMs).toISOString();
  const { data, included } = await show();
  expect(data.attributes).toMatchObject({
    'has-changes': true,
    'canceled-at': asOf(0),
    'force-cancel-available-at': asOf(60_000),
  });
  expect(included[0]).toMatchObject({
    attributes: {
      'has-changes': true,
      'execution-details': {
        mode: 'agent',
        'agent-id': expect.stringMatching(/^agent-/) as string,
        'agent-pool-id': poolId,
      },
    },
    links: {
      self: `/api/v2/plans/${planId}`,
      'json-output': `/api/v2/plans/${planId}/json-output`,
      'json-output-redacted': `/api/v2/plans/${planId}/json-output-redacted`,
    },
  });
  await report(runId, { status: 'canceled' });
});

test.for([{}, { message: null }, { message: '' }])(
  '%j results in the default message',
  async (given) => {
    const runId = await queue(await makeWorkspace(), given);
    const { data } = await harness.call('GET', `/runs/${runId}`);
    expect(data.attributes['message']).toBe('Triggered via API');
    await act(runId, 'discard');
  },
);

test('the id of a plan is not accepted for an apply, nor that of an apply for a plan', async () => {
  const runId = await queue(await makeWorkspace());
  for (const [path, phase, status] of [
    ['plans', 'plan', 200],
    ['plans', 'apply', 404],
    ['applies', 'apply', 200],
    ['applies', 'plan', 404],
    ['applies', 'run', 404],
  ] as const) {
    const target = `/${path}/${runId.replace('run', phase)}`;
    expect([target, (await harness.call('GET', target)).status]).toEqual([target, status]);
  }
  await act(runId, 'discard');
});
