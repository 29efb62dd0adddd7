/** Files of the phases of a run: plans, their external forms, and states that could not be stored. */
import { afterAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const MINUTE_MS = 60_000;
const { harness, act, claim, finish, makeWorkspace, queue, report, wait } = await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

describe('the files of a run', () => {
  const pathOf = (address: string) => new URL(address).pathname;
  const redirected = async (target: string) => {
    const { status, location } = await harness.call('GET', target);
    return { status, location };
  };

  test('can be read at the addresses in the documents once the agent has uploaded them', async () => {
    const runId = await queue(await makeWorkspace());
    const claimed = await claim();
    const planId = runId.replace('run-', 'plan-');
    const output = `/plans/${planId}/json-output`;
    expect(await redirected(output)).toEqual({ status: 204, location: undefined });
    const put = async (name: string, text: string) =>
      (await harness.transfer('PUT', String(claimed?.attributes[name]), Buffer.from(text))).status;
    expect(await put('json-output-upload-url', '{"all":1}')).toBe(204);
    expect(await put('json-output-redacted-upload-url', '{"some":1}')).toBe(204);
    expect(await put('plan-file-upload-url', 'first')).toBe(204);
    expect(await put('plan-file-upload-url', 'again')).toBe(204);
    for (const [target, text] of [
      [output, '{"all":1}'],
      [`/runs/${runId}/plan/json-output`, '{"all":1}'],
      [`/plans/${planId}/json-output-redacted`, '{"some":1}'],
      [`/runs/${runId}/plan/json-output-redacted`, '{"some":1}'],
    ] as const) {
      const { status, location = '' } = await redirected(target);
      expect(status).toBe(307);
      expect(pathOf(location)).toContain('/downloads/run-files/');
      expect(await harness.transfer('GET', location)).toMatchObject({ status: 200, text });
      await wait(MINUTE_MS);
      expect((await harness.transfer('GET', location)).status).toBe(403);
    }
    await finish(runId);
    expect(await put('plan-file-upload-url', 'late')).toBe(409);
    await act(runId, 'apply');
    const applying = await claim();
    const plan = String(applying?.attributes['plan-file-download-url']);
    expect((await harness.transfer('GET', plan)).text).toBe('again');
    const erroredState = String(applying?.attributes['errored-state-upload-url']);
    await report(runId, { status: 'errored' });
    // An errored state is uploaded after the run has ended.
    expect((await harness.transfer('PUT', erroredState, Buffer.from('{}'))).status).toBe(204);
    const applyId = runId.replace('run-', 'apply-');
    const { location = '' } = await redirected(`/applies/${applyId}/errored-state`);
    expect((await harness.transfer('GET', location)).text).toBe('{}');
  });

  test('contain no state if the apply stored it itself', async () => {
    const runId = await queue(await makeWorkspace());
    await claim();
    await finish(runId);
    await act(runId, 'apply');
    const url = String((await claim())?.attributes['errored-state-upload-url']);
    await finish(runId);
    expect((await harness.transfer('PUT', url, Buffer.from('{}'))).status).toBe(409);
  });

  test('replace earlier uploads, which are deleted', async () => {
    const runId = await queue(await makeWorkspace(), { 'plan-only': true });
    const url = String((await claim())?.attributes['plan-file-upload-url']);
    const chunks = async () => (await harness.store.list('shared/state-chunks/')).length;
    const put = (text: string) => harness.transfer('PUT', url, Buffer.from(text));
    await put('first');
    await harness.runUpkeep();
    const before = await chunks();
    await put('again');
    expect(await chunks()).toBe(before + 1);
    await harness.runUpkeep();
    expect(await chunks()).toBe(before);
    await finish(runId);
  });

  test('include the configuration', async () => {
    const runId = await queue(await makeWorkspace());
    const { data } = await harness.call('GET', `/runs/${runId}`);
    const version = data.relationships['configuration-version']?.data as { id: string };
    for (const target of [
      `/configuration-versions/${version.id}/download`,
      `/runs/${runId}/configuration-version/download`,
    ]) {
      const { status, location = '' } = await redirected(target);
      expect(status).toBe(302);
      expect((await harness.transfer('GET', location)).status).toBe(200);
    }
    await act(runId, 'discard');
  });
});
