/** Rollbacks: states that become current again and share the bytes of the version they repeat. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type StateUploads, stateText, uploadsTo, url } from '../../../test/state-uploads.ts';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
let workspaceId: string;
let states: StateUploads;

const makeWorkspace = async (name: string) =>
  (await harness.create(`${O}/workspaces`, 'workspaces', { name })).id;
beforeEach(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  workspaceId = await makeWorkspace('app');
  states = uploadsTo(harness, workspaceId);
  await states.lock();
});
afterEach(() => harness[Symbol.asyncDispose]());

const show = async (path: string) => (await harness.call('GET', path)).data;
const workspace = () => show(`/workspaces/${workspaceId}`);
const current = () => show(`/workspaces/${workspaceId}/current-state-version`);
const statusOf = async (id: string) => (await show(`/state-versions/${id}`)).attributes['status'];
const listed = async () => {
  const filter = 'filter[organization][name]=acme&filter[workspace][name]=app';
  return (await harness.call('GET', `/state-versions?${filter}`)).list.map(({ id }) => id);
};

describe('a rollback to an earlier state', () => {
  test('repeats it byte for byte, with the next serial', async () => {
    const first = await states.upload(1);
    harness.clock.advance(1000);
    const second = await states.upload(2, { resources: 2 });
    harness.clock.advance(1000);
    const rolled = await states.rollBack(first.id);
    expect(rolled.status).toBe(201);
    expect(rolled.data.relationships['rollback-state-version']?.data).toMatchObject({
      id: first.id,
    });
    expect((await current()).id).toBe(rolled.data.id);
    expect((await workspace()).attributes).toMatchObject({
      'resource-count': 1,
      'latest-change-at': rolled.data.attributes['created-at'],
    });
    const download = await harness.transfer('GET', url(rolled.data, 'state-download'));
    expect(download.text).toBe(first.text);
    const outputs = `/workspaces/${workspaceId}/current-state-version-outputs`;
    expect((await harness.call('GET', outputs)).list).toHaveLength(2);
    const next = await states.upload(2, { resources: 4 });
    expect(next.status).toBe(204);
    expect(await listed()).toEqual([next.id, rolled.data.id, second.id, first.id]);
  });

  test('requires an existing state of the workspace and a caller who holds the lock', async () => {
    const [first] = [await states.upload(1), await states.upload(2)];
    await states.unlock();
    expect((await states.rollBack(first.id)).status).toBe(409);
    await states.lock();
    const pending = (await states.announce(3, stateText(3))).data.id;
    expect((await states.rollBack(pending)).status).toBe(409);
    const other = uploadsTo(harness, await makeWorkspace('next'));
    await other.lock();
    expect((await other.rollBack(first.id)).status).toBe(404);
  });

  test('replaces an announced state', async () => {
    const first = await states.upload(1);
    const { data: announced } = await states.announce(2, stateText(2));
    await states.rollBack(first.id);
    expect(await statusOf(announced.id)).toBe('discarded');
    expect((await states.unlock()).status).toBe(200);
  });

  test('repeats its JSON form, and belongs to the caller and to no run', async () => {
    const text = stateText(1);
    const inline = Buffer.from(text).toString('base64');
    const attributes = { serial: 1, state: inline, 'json-state': inline };
    const md5 = (await states.upload(1)).data.attributes['md5'];
    const { data } = await harness.call('POST', `/workspaces/${workspaceId}/state-versions`, {
      data: {
        type: 'state-versions',
        attributes: { ...attributes, md5 },
        relationships: { run: { data: { type: 'runs', id: 'run-1' } } },
      },
    });
    expect(data.relationships['run']?.data).toMatchObject({ id: 'run-1' });
    const rolled = (await states.rollBack(data.id)).data;
    expect((await harness.transfer('GET', url(rolled, 'json-state-download'))).text).toBe(text);
    expect(rolled.relationships['run']?.data).toBeNull();
  });

  test('becomes current at once, also for an intermediate state', async () => {
    const first = await states.upload(1, {}, { intermediate: true });
    await states.upload(2);
    const { data } = await states.rollBack(first.id);
    expect(data.attributes['intermediate']).toBe(false);
    expect((await current()).id).toBe(data.id);
  });

  test('shares its content with the original until both are deleted', async () => {
    const chunks = async () => {
      await harness.runUpkeep();
      return (await harness.store.list('shared/state-chunks/')).length;
    };
    const giveUp = async (id: string) => {
      for (const action of ['soft_delete', 'permanently_delete']) {
        const path = `/state-versions/${id}/actions/${action}_backing_data`;
        expect((await harness.call('POST', path)).status).toBe(204);
      }
    };
    const first = await states.upload(1);
    await states.upload(2);
    const rolled = (await states.rollBack(first.id)).data;
    await giveUp(first.id);
    expect(await chunks()).toBe(2);
    const download = await harness.transfer('GET', url(rolled, 'state-download'));
    expect(download.text).toBe(first.text);
    await states.upload(3);
    await giveUp(rolled.id);
    expect(await chunks()).toBe(2);
  });
});
