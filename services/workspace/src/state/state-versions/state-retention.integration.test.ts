/** The states that a policy reaches, in workspaces with few and with many. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type StateUploads, uploadsTo } from '../../../test/state-uploads.ts';
import { type Harness, startHarnessOf } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
const DAY_MS = 24 * 60 * 60 * 1000;
let harness: Harness;
let workspaceId: string;
let states: StateUploads;
beforeEach(async () => {
  harness = await startHarnessOf('acme');
  workspaceId = (await harness.create(`${O}/workspaces`, 'workspaces', { name: 'app' })).id;
  states = uploadsTo(harness, workspaceId);
  await states.lock();
});
afterEach(() => harness[Symbol.asyncDispose]());

const setPolicy = async (target: string, type: string, attributes: object = {}) => {
  const path = `${target}/relationships/data-retention-policy`;
  const { status } = await harness.call('POST', path, { data: { type, attributes } });
  expect(status).toBe(200);
};
const afterOneDay = 'data-retention-policy-delete-olders';
const never = 'data-retention-policy-dont-deletes';
const countOf = async (status: string) => {
  const filter = 'filter[organization][name]=acme&filter[workspace][name]=app';
  const path = `/state-versions?${filter}&filter[status]=${status}`;
  return (await harness.call('GET', path)).meta.pagination['total-count'];
};
const WITHHELD = 'backing_data_soft_deleted';

describe('a policy of a day', () => {
  test('withholds states that are a day old, except the current one and the one that becomes current on unlock', async () => {
    const days = { deleteOlderThanNDays: 1 };
    await setPolicy(`/workspaces/${workspaceId}`, afterOneDay, days);
    await states.upload(1);
    await states.upload(2, {}, { intermediate: true });
    const { id } = await states.upload(3, {}, { intermediate: true });
    const path = `/state-versions/${id}/actions/soft_delete_backing_data`;
    expect((await harness.call('POST', path)).status).toBe(400);
    harness.clock.advance(DAY_MS - 1);
    await harness.runUpkeep();
    expect(await countOf(WITHHELD)).toBe(0);
    harness.clock.advance(1);
    await harness.runUpkeep();
    expect([await countOf(WITHHELD), await countOf('finalized')]).toEqual([1, 2]);
    await states.unlock();
    const current = await harness.call('GET', `/workspaces/${workspaceId}/current-state-version`);
    expect(current.data.id).toBe(id);
  });

  test('of the organization does not affect a workspace that keeps everything', async () => {
    await setPolicy(O, afterOneDay, { deleteOlderThanNDays: 1 });
    await setPolicy(`/workspaces/${workspaceId}`, never);
    for (const serial of [1, 2]) await states.upload(serial);
    harness.clock.advance(DAY_MS);
    await harness.runUpkeep();
    expect(await countOf(WITHHELD)).toBe(0);
  });

  test('withholds any number of states, all of which are deleted with their workspace', async () => {
    await setPolicy(O, afterOneDay, { deleteOlderThanNDays: 1 });
    // More than one query reads, and more than one pass removes.
    for (let serial = 0; serial <= 101; serial += 1) await states.upload(serial);
    harness.clock.advance(DAY_MS);
    await harness.runUpkeep();
    expect([await countOf(WITHHELD), await countOf('finalized')]).toEqual([101, 1]);
    await harness.call('DELETE', `/workspaces/${workspaceId}`);
    await harness.runUpkeep();
    expect(await harness.store.list('shared/state-versions/')).toEqual([]);
    expect(await harness.store.list('shared/state-chunks/')).toEqual([]);
  });

  test('keeps withheld states for a full week even if its round was suspended', async () => {
    await setPolicy(`/workspaces/${workspaceId}`, afterOneDay, { deleteOlderThanNDays: 1 });
    for (const serial of [1, 2]) await states.upload(serial);
    harness.clock.advance(DAY_MS);
    const round = harness.service.periodicWork['state-retention']?.round({});
    // The machine was suspended meanwhile.
    harness.clock.advance(8 * DAY_MS);
    await round;
    expect(await countOf(WITHHELD)).toBe(1);
    harness.clock.advance(7 * DAY_MS - 1);
    await harness.runUpkeep();
    expect(await countOf(WITHHELD)).toBe(1);
    harness.clock.advance(1);
    await harness.runUpkeep();
    expect(await countOf(WITHHELD)).toBe(0);
  });

  test('with a count counts a rollback as one more state', async () => {
    await setPolicy(`/workspaces/${workspaceId}`, afterOneDay, {
      deleteStateVersions: true,
      stateVersionsKeepLatestCount: 1,
    });
    const { id } = await states.upload(1);
    await states.rollBack(id);
    await states.upload(2);
    harness.clock.advance(DAY_MS);
    await harness.runUpkeep();
    expect([await countOf(WITHHELD), await countOf('finalized')]).toEqual([2, 1]);
  });
});
