/** The workspace service with its contents in a real S3-compatible server. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openFolderStorage } from '@keelson/objects';
import { type FaultProxy, type S3Server, startFaultProxy, startS3 } from '@keelson/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';
import { stateText, uploadsTo, url } from '../../../test/state-uploads.ts';

const DAY_MS = 86_400_000;

let server: S3Server;
let network: FaultProxy;
let runs: Awaited<ReturnType<typeof startRunHarness>>;
beforeAll(async () => {
  server = await startS3();
  network = await startFaultProxy(server.port);
  runs = await startRunHarness({
    config: {
      objectStorageEndpoint: `http://127.0.0.1:${network.port}`,
      objectStorageBucket: server.access.bucket,
      objectStoragePrefix: 'cluster-1/',
      objectStorageAccessKeyId: server.access.accessKeyId,
      objectStorageSecretAccessKey: server.access.secretAccessKey,
      objectStorageTimeoutSeconds: 1,
      objectStorageKeepDays: 7,
    },
  });
});
afterAll(async () => {
  await runs?.harness[Symbol.asyncDispose]();
  await network?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});
afterEach(() => network.pass());

const bucket = () => openFolderStorage(join(server.bucketFolder, 'cluster-1'));
const keys = async () => (await bucket().list('contents/', { limit: 1000 })).map(({ key }) => key);
const added = async (before: readonly string[]) =>
  (await keys()).filter((key) => !before.includes(key));

const newWorkspace = async () => {
  const id = await runs.makeWorkspace();
  const states = uploadsTo(runs.harness, id);
  await states.lock();
  return { id, states };
};
const download = async (id: string) => {
  const { data } = await runs.harness.call('GET', `/state-versions/${id}`);
  return runs.harness.transfer('GET', url(data, 'state-download'));
};
const impaired = () => runs.harness.service.edge.check();
/** The value of a metric of the contents. */
const metric = async (name: string, labels = ''): Promise<number> => {
  const text = await runs.harness.registry.metrics();
  const line = text
    .split('\n')
    .find((one) =>
      one.startsWith(`${name}{`) || one.startsWith(`${name} `) ? one.includes(labels) : false,
    );
  return Number(line?.split(' ').at(-1));
};

describe('contents in object storage', () => {
  test('are objects that say nothing, and no records', async () => {
    const { states } = await newWorkspace();
    const before = await keys();
    const { id, text, status } = await states.upload(1, { padding: 'clear text '.repeat(200_000) });
    expect(status).toBe(204);
    const objects = await added(before);
    expect(objects.length).toBe(Math.ceil(text.length / (768 * 1024)));
    for (const key of objects)
      expect((await readFile(join(server.bucketFolder, 'cluster-1', key))).includes('clear')).toBe(
        false,
      );
    expect(await runs.harness.store.list('shared/state-chunks/')).toEqual([]);
    const read = await download(id);
    expect([read.status, read.text === text]).toEqual([200, true]);
  });

  test('include configurations, and the logs of ended phases', async () => {
    const { harness } = runs;
    const workspaceId = await runs.makeWorkspace();
    const runId = await runs.queue(workspaceId);
    await runs.claim();
    const log = 'a line of the log\n'.repeat(55_000);
    for (let at = 0; at < log.length; at += 60_000)
      await runs.asRun(runId, 'POST', `/agent-runs/${runId}/logs`, {
        data: { type: 'logs', attributes: { text: log.slice(at, at + 60_000) } },
      });
    const read = async (range = '') => {
      const plan = await harness.call('GET', `/runs/${runId}/plan`);
      const address = String(plan.data.attributes['log-read-url']);
      return (await harness.transfer('GET', `${address}${range}`)).bytes;
    };
    await runs.finish(runId, false);
    const fromRecords = await read('?limit=1000000');
    expect(fromRecords.length).toBe(log.length + 2);
    await harness.runUpkeep();
    expect(await harness.store.list('shared/run-log-chunks/')).toEqual([]);
    expect(fromRecords.equals(await read('?limit=1000000'))).toBe(true);
    const middle = await read('?offset=786000&limit=1000');
    expect(middle.equals(fromRecords.subarray(786_000, 787_000))).toBe(true);
    const configuration = await harness.call(
      'GET',
      `/workspaces/${workspaceId}/configuration-versions`,
    );
    expect(configuration.list[0]?.attributes['status']).toBe('uploaded');
  });

  test('are kept for days after the last reference is gone, and then removed', async () => {
    const { harness } = runs;
    const before = await keys();
    const { id, states } = await newWorkspace();
    await states.upload(1, { padding: 'x'.repeat(1_000_000) });
    const objects = await added(before);
    expect(objects.length).toBe(3);
    await harness.call('DELETE', `/workspaces/${id}`);
    await harness.runUpkeep();
    harness.clock.advance(6 * DAY_MS);
    await harness.runUpkeep();
    expect(await added(before)).toEqual(objects);
    harness.clock.advance(2 * DAY_MS);
    await harness.runUpkeep();
    expect(await added(before)).toEqual([]);
  });

  test('without any record are removed, and other objects of the bucket are left alone', async () => {
    const { harness } = runs;
    const storage = bucket();
    const { states } = await newWorkspace();
    const { id } = await states.upload(1);
    const before = await keys();
    await storage.put('contents/sc-0000000000000000/00000000', Buffer.from('orphan'));
    await storage.put('contents/note.txt', Buffer.from('of somebody else'));
    harness.clock.advance(DAY_MS);
    await harness.runUpkeep();
    expect(await added(before)).toEqual(['contents/note.txt']);
    expect((await download(id)).status).toBe(200);
    await storage.delete(['contents/note.txt']);
  });

  test('of other records are left alone, as before a snapshot is restored', async () => {
    const storage = bucket();
    await storage.put('contents/sc-0000000000000000/00000000', Buffer.from('of the others'));
    const mark = await storage.get('owner');
    await storage.put('owner', Buffer.from('somebody else'));
    runs.harness.clock.advance(DAY_MS);
    await runs.harness.runUpkeep();
    expect(await keys()).toContain('contents/sc-0000000000000000/00000000');
    await storage.put('owner', mark ?? new Uint8Array());
    runs.harness.clock.advance(DAY_MS);
    await runs.harness.runUpkeep();
    expect(await keys()).not.toContain('contents/sc-0000000000000000/00000000');
  });

  test('of a damaged index record are kept', async () => {
    const { harness } = runs;
    const { states } = await newWorkspace();
    const before = await keys();
    await states.upload(1);
    const objects = await added(before);
    const contentId = objects[0]?.split('/')[1] ?? '';
    const path = `shared/state-contents/${contentId}`;
    const [record] = await harness.store.stored.read([path]);
    await harness.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
    harness.clock.advance(30 * DAY_MS);
    await harness.runUpkeep();
    expect(await added(before)).toEqual(objects);
    await harness.store.applyRecords('repair', [{ path, stored: record?.stored }]);
  });

  test('are refused when an object was changed or is gone', async () => {
    const { states } = await newWorkspace();
    const before = await keys();
    const { id } = await states.upload(1);
    const [key = ''] = await added(before);
    const file = join(server.bucketFolder, 'cluster-1', key);
    const whole = await readFile(file);
    await writeFile(file, Buffer.concat([whole.subarray(0, -1), Buffer.from([1])]));
    const changed = await download(id);
    expect([changed.status, changed.text]).toEqual([
      500,
      expect.stringContaining('digest differs'),
    ]);
    await bucket().delete([key]);
    const gone = await download(id);
    expect([gone.status, gone.text]).toEqual([500, expect.stringContaining(`no object ${key}`)]);
    const compareAgain = async (): Promise<number> => {
      runs.harness.clock.advance(DAY_MS);
      await runs.harness.runUpkeep();
      return metric('keelson_objects_missing');
    };
    expect(await compareAgain()).toBe(1);
    await bucket().put(key, whole);
    expect(await compareAgain()).toBe(0);
    expect((await download(id)).status).toBe(200);
  });
});

describe('while the object storage cannot be used', () => {
  test.for([
    ['refuses connections', () => network.cut(), 'ECONN|closed|other side|socket'],
    ['does not answer', () => network.stall(), 'TIMEOUT'],
  ] as const)(
    'because it %s, requests that need it get 503 and nothing is lost',
    async ([, fail, reason]) => {
      const { id: workspaceId, states } = await newWorkspace();
      const { id, text } = await states.upload(1);
      expect(await impaired()).toEqual([]);
      expect(await metric('keelson_object_storage_up', 'purpose="contents"')).toBe(1);
      const refusals = () =>
        metric('keelson_object_storage_requests_total', 'operation="get",outcome="failed"');
      const before = (await refusals()) || 0;
      fail();
      const read = await download(id);
      expect([read.status, read.text]).toEqual([503, expect.stringContaining('object storage')]);
      const refused = await states.upload(2);
      expect(refused.status).toBe(503);
      const [fault] = await impaired();
      expect(fault).toMatch(/^contents: the object storage cannot be used/);
      expect(fault).toMatch(new RegExp(reason, 'i'));
      expect(fault).not.toContain(server.access.secretAccessKey);
      expect(await metric('keelson_object_storage_up')).toBe(0);
      expect(await refusals()).toBe(before + 1);
      // Requests without contents are served.
      expect((await runs.workspaceOf(workspaceId)).id).toBe(workspaceId);
      await states.lock();
      network.pass();
      const again = await runs.harness.transfer(
        'PUT',
        url(refused.data, 'state-upload'),
        Buffer.from(stateText(2)),
      );
      expect(again.status).toBe(204);
      expect((await download(id)).text).toBe(text);
      expect(await impaired()).toEqual([]);
      expect(await metric('keelson_object_storage_up')).toBe(1);
    },
  );

  test('because its server is restarted, everything is there afterwards', async () => {
    const { states } = await newWorkspace();
    const { id, text } = await states.upload(1);
    await server.process.kill();
    expect((await download(id)).status).toBe(503);
    await server.process.start();
    expect((await download(id)).text).toBe(text);
    expect((await readdir(server.bucketFolder)).includes('cluster-1')).toBe(true);
  });
});
