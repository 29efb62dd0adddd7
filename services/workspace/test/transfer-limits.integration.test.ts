/** The largest archive and the largest log, and one byte more. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRunHarness } from './run-harness.ts';

const MEBIBYTE = 1024 * 1024;
let runs: Awaited<ReturnType<typeof startRunHarness>>;
let workspaceId: string;
beforeAll(async () => {
  runs = await startRunHarness();
  workspaceId = await runs.makeWorkspace();
});
afterAll(() => runs.harness[Symbol.asyncDispose]());

describe('an archive of a configuration', () => {
  test('has at most 100 MiB; after a larger one the address accepts another upload', async () => {
    const announced = await runs.harness.create(
      `/workspaces/${workspaceId}/configuration-versions`,
      'configuration-versions',
      { 'auto-queue-runs': false },
    );
    const put = (bytes: number) => {
      const archive = Buffer.alloc(bytes, 'archive');
      archive.set([0x1f, 0x8b]);
      return runs.harness.transfer('PUT', String(announced.attributes['upload-url']), archive);
    };
    const show = async () =>
      (await runs.harness.call('GET', `/configuration-versions/${announced.id}`)).data.attributes;
    const refused = await put(100 * MEBIBYTE + 1);
    expect(refused.status).toBe(413);
    expect(refused.text).toContain(String(100 * MEBIBYTE));
    expect(await show()).toMatchObject({ status: 'pending' });
    expect((await put(100 * MEBIBYTE)).status).toBe(204);
    expect(await show()).toMatchObject({ status: 'uploaded' });
  });
});

describe('the log of a phase', () => {
  test('has at most 32 MiB, all of which can be read', async () => {
    const runId = await runs.queue(workspaceId, { 'plan-only': true });
    await runs.claim();
    const append = async (text: string) => {
      const body = { data: { type: 'logs', attributes: { text } } };
      return (await runs.asRun(runId, 'POST', `/agent-runs/${runId}/logs`, body)).status;
    };
    const line = `${'x'.repeat(62)}é`;
    const piece = line.repeat(1024);
    expect(Buffer.byteLength(piece)).toBe(MEBIBYTE / 16);
    for (let sent = 0; sent < 512; sent += 1) expect(await append(piece)).toBe(204);
    expect(await append('y')).toBe(413);
    const plan = await runs.harness.call('GET', `/plans/${runId.replace('run-', 'plan-')}`);
    const readUrl = String(plan.data.attributes['log-read-url']);
    let offset = 0;
    for (let length = -1; length !== 0; offset += length)
      length = (await runs.harness.transfer('GET', `${readUrl}?offset=${offset}`)).bytes.length;
    // After the byte with which a log begins.
    expect(offset).toBe(1 + 32 * MEBIBYTE);
    expect(await runs.finish(runId, false)).toBe(204);
  });
});
