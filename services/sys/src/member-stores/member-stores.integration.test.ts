/** A service whose database was replaced must not get its key: it would start empty and appear healthy. */

import { join } from 'node:path';
import { openSqliteStore } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { openSysHarness, type SysHarness } from '../../test/sys-harness.ts';

const joinWith = async ({ sys }: SysHarness, storeId: string): Promise<string> => {
  const states = sys.cluster.join({
    service: 'sample',
    instanceId: 'one',
    version: '1',
    storeId,
    engines: [{ type: 'sample', unauthenticatedPaths: [], rootPaths: [] }],
  });
  try {
    for await (const { sealed } of states) return sealed ? 'sealed' : 'joined';
    return 'ended';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
};

const REFUSED =
  'the store of the sample service is not the one that belongs to this cluster (it is other, not mine): it is empty, or of another cluster. Nothing was changed. Restore its database; or, to accept this one, start sys once with KEELSON_NEW_STORES=sample';

test('a replaced store is refused until it is accepted, for one start', async () => {
  await using folder = await temporaryDirectory();
  const open = (newStores: readonly string[]) =>
    openSysHarness({
      config: { unsealKeyFile: join(folder.path, 'unseal.key') },
      newStores,
      openStore: (barrier, _folder, clock) =>
        openSqliteStore({ file: join(folder.path, 'sys.sqlite'), barrier, clock }),
    });
  const first = await open([]);
  expect(await joinWith(first, 'before any start')).toBe('sealed');
  await first.initialize();
  expect(await joinWith(first, 'mine')).toBe('joined');
  expect(await joinWith(first, 'mine')).toBe('joined');
  expect(await joinWith(first, 'other')).toBe(REFUSED);
  await first.close();

  const second = await open(['pki']);
  await second.sys.start();
  expect(await joinWith(second, 'other')).toBe(REFUSED);
  await second.close();

  const third = await open(['sample']);
  await third.sys.start();
  expect(await joinWith(third, 'other')).toBe('joined');
  await third.close();

  const fourth = await open([]);
  await fourth.sys.start();
  expect(await joinWith(fourth, 'other')).toBe('joined');
  expect(await joinWith(fourth, 'mine')).toContain('is not the one that belongs to this cluster');
  await fourth.close();
});
