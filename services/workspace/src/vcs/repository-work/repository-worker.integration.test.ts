/** Work at repositories whose outcome cannot be recorded. */
import { type Fence, takeFence } from '@keelson/storage';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startRepositoryHarness } from '../../../test/repository-harness.ts';
import { repositoryWork } from '../../workspaces/model/repository-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';

const LEASE = 'workspace/repositories';

const repositories = await startRepositoryHarness();
const { harness, connect } = repositories;
beforeEach(() => harness.runUpkeep());
afterAll(() => repositories[Symbol.asyncDispose]());

const round = (options: { readonly fence?: Fence } = {}) =>
  harness.service.periodicWork['repositories']?.round(options);

/** Kinds of the work that is queued, with the number of failed attempts. */
const queued = async (workspaceId: string) => {
  const { organizationId = '' } = (await workspaceRecords.find(harness.store, workspaceId)) ?? {};
  const keys = await repositoryWork.keys(harness.store, [organizationId]);
  const found = await Promise.all(
    keys.map((key) => repositoryWork.find(harness.store, organizationId, key)),
  );
  return found.map((one) => [one?.work.kind, one?.attempts]);
};

test('a round whose fence was replaced, as by the restoration of a snapshot, fails, and the next holder does the work', async () => {
  const { id } = await connect();
  const fence = await takeFence(harness.store, LEASE);
  const next = await takeFence(harness.store, LEASE);
  const before = await queued(id);
  expect(before).toContainEqual(['register', 0]);
  await expect(round({ fence })).rejects.toMatchObject({ code: 'storage.fenced' });
  expect(await queued(id)).toEqual(before);
  while (await round({ fence: next }));
  expect(await queued(id)).toEqual([]);
});

test('work that needs a damaged record is tried again later, as after other failures', async () => {
  const known = await harness.store.stored.listPaths('replicated', 'shared/repository-hooks/', 100);
  const { id } = await connect();
  const paths = await harness.store.stored.listPaths('replicated', 'shared/repository-hooks/', 100);
  const path = paths.find((one) => !known.includes(one)) ?? '';
  await harness.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
  await round();
  expect(await queued(id)).toContainEqual(['register', 1]);
});
