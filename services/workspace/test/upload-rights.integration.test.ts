/** An upload URL carries the rights of its announcer, and stops working when these are lost. */
import { afterAll, describe, expect, test } from 'vitest';
import { archiveOf } from './configuration-archive.ts';
import { ENDS, narrow, teamWith } from './ended-rights.ts';
import { startRunHarness } from './run-harness.ts';
import { md5, stateText, url } from './state-uploads.ts';

const { harness, makeWorkspace, queue, claim, finish, report, asRun, wait, statusOf, act } =
  await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

const announce = async (workspaceId: string, token: string, attributes: object = {}) => {
  const { status, data } = await harness.call(
    'POST',
    `/workspaces/${workspaceId}/configuration-versions`,
    { data: { type: 'configuration-versions', attributes } },
    token,
  );
  expect(status).toBe(201);
  return { id: data.id, url: String(data.attributes['upload-url']) };
};
const put = async (address: string) =>
  (await harness.transfer('PUT', address, await archiveOf({ 'main.tf': '' }))).status;
const runsOf = async (workspaceId: string) =>
  (await harness.call('GET', `/workspaces/${workspaceId}/runs`)).list;

describe('a configuration for a workspace with auto-apply', () => {
  test.for([
    ['member', { access: 'plan' }, false],
    ['member', { access: 'custom', runs: 'plan' }, false],
    ['team', { access: 'plan' }, false],
    ['member', { access: 'write' }, true],
    ['team', { access: 'write' }, true],
  ] as const)('of the %s with %j is applied automatically: %s', async (row) => {
    const [caller, access, applies] = row;
    const workspaceId = await makeWorkspace({ 'auto-apply': true });
    const { tokens } = await teamWith(harness, workspaceId, access);
    expect(await put((await announce(workspaceId, tokens[caller])).url)).toBe(204);
    const [run] = await runsOf(workspaceId);
    expect(run?.attributes['auto-apply']).toBe(applies);
    await claim();
    await finish(run?.id ?? '');
    expect(await statusOf(run?.id ?? '')).toBe(applies ? 'confirmed' : 'planned');
    await act(run?.id ?? '', applies ? 'cancel' : 'discard');
  });

  test('waits for confirmation if the right to apply was revoked before the upload', async () => {
    const workspaceId = await makeWorkspace({ 'auto-apply': true });
    const team = await teamWith(harness, workspaceId, { access: 'write' });
    const { url: address } = await announce(workspaceId, team.tokens.member);
    await narrow(harness, team, 'plan');
    expect(await put(address)).toBe(204);
    const [run] = await runsOf(workspaceId);
    expect(run?.attributes['auto-apply']).toBe(false);
    await act(run?.id ?? '', 'discard');
  });
});

/** Ways in which the apply of a run ends after somebody has asked to cancel it. */
const RUN_ENDS = {
  'its agent has stopped': (runId: string) => report(runId, { status: 'canceled' }),
  'it has failed': (runId: string) => report(runId, { status: 'errored' }),
  'it was canceled by force': async (runId: string) => {
    await wait(60_000);
    return act(runId, 'force-cancel');
  },
} as const;

test.for(Object.entries(RUN_ENDS))(
  'a canceled run stores its state until it ends, and not after %s',
  async ([, end]) => {
    const workspaceId = await makeWorkspace();
    const runId = await queue(workspaceId, { 'auto-apply': true });
    await claim();
    await finish(runId);
    await claim();
    expect(await act(runId, 'cancel')).toBe(202);
    const announceState = async (serial: number) => {
      const text = stateText(serial);
      const announced = await asRun(runId, 'POST', `/workspaces/${workspaceId}/state-versions`, {
        data: { type: 'state-versions', attributes: { serial, md5: md5(text) } },
      });
      const upload = async () =>
        (await harness.transfer('PUT', url(announced.data, 'state-upload'), Buffer.from(text)))
          .status;
      expect(announced.status).toBe(201);
      return { upload };
    };
    expect(await (await announceState(1)).upload()).toBe(204);
    const last = await announceState(2);
    await end(runId);
    expect(await last.upload()).toBe(404);
    const path = `/workspaces/${workspaceId}/current-state-version`;
    expect((await harness.call('GET', path)).data.attributes['serial']).toBe(1);
    const again = await asRun(runId, 'GET', path);
    expect(again.status).toBe(401);
  },
);

describe.for(Object.entries(ENDS))('once %s', ([, end]) => {
  test.for([{}, { 'auto-queue-runs': false }])(
    'a configuration announced earlier with %j is refused, and no run begins',
    async (attributes) => {
      const workspaceId = await makeWorkspace({ 'auto-apply': true });
      const current = (await harness.call('GET', `/workspaces/${workspaceId}`)).data.relationships;
      const team = await teamWith(harness, workspaceId, { access: 'write' });
      const { id, url: address } = await announce(workspaceId, team.tokens.member, attributes);
      await end(harness, team);
      expect(await put(address)).toBe(404);
      expect(await runsOf(workspaceId)).toEqual([]);
      const version = await harness.call('GET', `/configuration-versions/${id}`);
      expect(version.data.attributes['status']).toBe('pending');
      const { relationships } = (await harness.call('GET', `/workspaces/${workspaceId}`)).data;
      expect(relationships['current-configuration-version']).toEqual(
        current['current-configuration-version'],
      );
    },
  );

  test('a state announced earlier is refused', async () => {
    const workspaceId = await makeWorkspace();
    const team = await teamWith(harness, workspaceId, { access: 'write' });
    await harness.call('POST', `/workspaces/${workspaceId}/actions/lock`, {}, team.tokens.member);
    const text = stateText(1);
    const announced = await harness.call(
      'POST',
      `/workspaces/${workspaceId}/state-versions`,
      { data: { type: 'state-versions', attributes: { serial: 1, md5: md5(text) } } },
      team.tokens.member,
    );
    expect(announced.status).toBe(201);
    await end(harness, team);
    for (const kind of ['state-upload', 'json-state-upload']) {
      const address = url(announced.data, kind);
      const { status } = await harness.transfer('PUT', address, Buffer.from(text));
      expect([kind, status]).toEqual([kind, 404]);
    }
    const path = `/workspaces/${workspaceId}/current-state-version`;
    expect((await harness.call('GET', path)).status).toBe(404);
  });
});
