/** Snapshots with a record that could not be read after restoring them are refused, and nothing is changed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const PATH = 'sys/storage/raft/snapshot';
const FORCE = `${PATH}-force`;
const KEPT = 'sys/policies/acl/kept';

const NEWER = ['shared/policies/x/newer', 'v2 {"text":""}', 'it has version 2'] as const;
const DAMAGED = [
  'shared/policies/x/damaged',
  '{"title":"secret"}',
  'it must have required properties',
] as const;
const DAMAGED_NODE = [
  'node/versions/9.9.9',
  '{"title":"secret"}',
  'it must have required properties',
] as const;
const NO_JSON = ['local/core/keyring-term', 'secret', 'version 1 of it cannot be read'] as const;

let harness: SysHarness;
let other: SysHarness;
beforeAll(async () => {
  harness = await openInitializedSys();
  other = await openInitializedSys();
});
afterAll(async () => {
  await harness.close();
  await other.close();
});

/** A snapshot with a record that today's code would not write. */
const snapshotWith = async (of: SysHarness, path: string, stored: string): Promise<Buffer> => {
  const before = await of.store.read(path);
  await of.store.transact((tx) => tx.write(path, Buffer.from(stored)));
  const { body } = await of.asRoot('GET', PATH);
  await of.store.transact((tx) =>
    before === undefined ? tx.delete(path) : tx.write(path, before.value),
  );
  return body as Buffer;
};

const keep = (): Promise<unknown> =>
  harness.asRoot('PUT', KEPT, { body: { policy: 'path "kept" { capabilities = ["read"] }' } });

test.for([
  ['of a newer version', PATH, ...NEWER],
  ['of a newer version, by force', FORCE, ...NEWER],
  ['of another shape', PATH, ...DAMAGED],
  ['that is not JSON', PATH, ...NO_JSON],
  ['of another shape that is not encrypted', PATH, ...DAMAGED_NODE],
  ['of another shape that is not encrypted, by force', FORCE, ...DAMAGED_NODE],
] as const)(
  'a snapshot with a record %s is refused by path',
  async ([, to, path, stored, fault]) => {
    const snapshot = await snapshotWith(harness, path, stored);
    await keep();
    const { status, body } = await harness.asRoot('POST', to, { body: snapshot });
    expect([status, body.errors]).toEqual([
      400,
      [expect.stringContaining(`the record ${path} of`)],
    ]);
    expect(body.errors[0]).toContain(fault);
    expect(body.errors[0]).toContain('Nothing was changed.');
    expect(body.errors[0]).not.toContain('secret');
    expect((await harness.asRoot('GET', KEPT)).status).toBe(200);
  },
);

test('by force, a snapshot of other keys is refused if the record is not encrypted', async () => {
  const [path, stored] = DAMAGED_NODE;
  const snapshot = await snapshotWith(other, path, stored);
  await keep();
  const { status, body } = await harness.asRoot('POST', FORCE, { body: snapshot });
  expect([status, body.errors]).toEqual([400, [expect.stringContaining(`the record ${path} of`)]]);
  expect((await harness.asRoot('GET', KEPT)).status).toBe(200);
});

test('by force, a snapshot of this cluster is restored with a damaged record, which is named', async () => {
  const [path, stored] = DAMAGED;
  const snapshot = await snapshotWith(harness, path, stored);
  const { status, body } = await harness.asRoot('POST', FORCE, { body: snapshot });
  expect([status, body]).toEqual([200, { warnings: [expect.stringContaining(path)] }]);
});
