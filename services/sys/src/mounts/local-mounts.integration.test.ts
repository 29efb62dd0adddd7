/** A local mount of a secondary and a mount of its primary that claim the same path. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const LOG = 'log of a primary';
const MOUNTS = 'shared/core/mounts/';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

const mount = (path: string, local = false) =>
  harness.asRoot('POST', `sys/mounts/${path}`, { body: { type: 'sample', local } });
const list = async (): Promise<{ readonly paths: string[]; readonly warnings: unknown }> => {
  const { body } = await harness.asRoot('GET', 'sys/mounts');
  return { paths: Object.keys(body.data).toSorted(), warnings: body.warnings };
};
const servedBy = async (path: string): Promise<string | undefined> => {
  const { outcome } = await harness.resolve('GET', path, { token: await rootToken() });
  return outcome?.$case === 'allowed' ? outcome.value.mount?.uuid : undefined;
};
const rootToken = () => harness.createToken(['root']);

/** Returns the records of all mounts and deletes them, as an applied log entry would. */
const takeAway = async () => {
  const paths = (await harness.store.scan(MOUNTS)).map(({ path }) => path);
  const copies = await harness.store.stored.read(paths);
  await harness.store.applyRecords(
    LOG,
    paths.map((path) => ({ path, stored: undefined })),
  );
  return copies;
};

test.for([
  ['a', 'a'],
  ['a/b', 'a'],
  ['a', 'a/b'],
] as const)(
  'the local mount %s is reached, and that of the primary at %s after its removal',
  async ([own, theirs]) => {
    await mount(theirs);
    const { uuid } = (await harness.asRoot('GET', `sys/mounts/${theirs}`)).body.data;
    const copies = await takeAway();
    await mount(own, true);
    const local = (await harness.asRoot('GET', `sys/mounts/${own}`)).body.data.uuid;
    await harness.store.applyRecords(LOG, copies);

    expect(await servedBy(`${own}/x`)).toBe(local);
    expect(await list()).toEqual({
      paths: [`${own}/`, 'cubbyhole/', 'identity/', 'sys/'].toSorted(),
      warnings: [
        `the mount of the primary at ${theirs}/ is unreachable: the local mount ${own}/ takes its path`,
      ],
    });
    // No other mount may take a path that conflicts with the hidden mount.
    expect((await mount(theirs, true)).status).toBe(400);
    expect((await mount(`${theirs}/further`, true)).status).toBe(400);

    expect((await harness.asRoot('DELETE', `sys/mounts/${own}`)).status).toBe(204);
    expect(await servedBy(`${theirs}/x`)).toBe(uuid);
    expect((await list()).paths).toContain(`${theirs}/`);
  },
);

test('other namespaces have paths of their own', async () => {
  await harness.createNamespace('team');
  await harness.asRoot('POST', 'team/sys/mounts/a', { body: { type: 'sample', local: true } });
  await mount('a');
  expect((await list()).paths).toContain('a/');
});
