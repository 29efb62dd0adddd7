/**
 * Power cuts of a real process, its first start included: whatever part of the unflushed data is on
 * the disk, the next start needs no help and has everything that was acknowledged.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  cutPower,
  diskDirectory,
  type KeelsonProcess,
  type PowerCut,
  propertySettings,
  type RecordedDisk,
  recordedEnvironment,
  startKeelson,
} from '@keelson/testkit';
import { callsOf } from '@keelson/testkit/replication-cluster';
import fc from 'fast-check';
import { expect, test } from 'vitest';

/** Each of eight cuts starts the process twice. */
const SLOW_MS = 600_000;

const callsTo = (keelson: KeelsonProcess) =>
  callsOf(
    () => keelson.http,
    () => keelson.rootToken,
    keelson.apiToken,
  );

/** Names of organizations that were acknowledged: as many as asked for, or until the process is killed. */
const write = async (keelson: KeelsonProcess, most: number): Promise<readonly string[]> => {
  const { api } = callsTo(keelson);
  const acknowledged: string[] = [];
  for (let count = 0; count < most; count += 1) {
    const attributes = { name: `org-${count}`, email: 'a@example.com' };
    const made = await api('POST', 'organizations', {
      data: { type: 'organizations', attributes },
    }).catch(() => undefined);
    if (made?.status !== 201) return acknowledged;
    acknowledged.push(attributes.name);
  }
  return acknowledged;
};

interface BeforeCut {
  readonly rootToken: string | undefined;
  readonly organizations: readonly string[];
}

/** Ends after `steps`, if given; otherwise once `most` writes were acknowledged. */
interface End {
  readonly steps?: number;
  readonly most?: number;
}

const runUntilKilled = async (
  disk: RecordedDisk,
  { steps, most = 100 }: End,
): Promise<BeforeCut> => {
  const keelson = await startKeelson({
    dataFolder: join(disk.folder, 'data'),
    env: {
      ...(await recordedEnvironment(disk, { steps })),
      KEELSON_RATE_LIMIT: 'off',
    },
  }).catch((error: Error) => {
    // Killed before it was up, and not refused.
    if (!error.message.startsWith('Keelson ended with null')) throw error;
    return undefined;
  });
  if (keelson === undefined) return { rootToken: undefined, organizations: [] };
  const organizations = await write(keelson, most);
  await keelson.stop('SIGKILL');
  return { rootToken: keelson.rootToken, organizations };
};

/** Facts that were acknowledged, or must exist, and are missing after the next start. */
const findMissing = async (dataFolder: string, before: BeforeCut): Promise<readonly string[]> => {
  const keelson = await startKeelson({ dataFolder, env: { KEELSON_RATE_LIMIT: 'off' } });
  try {
    const { v1, api } = callsTo(keelson);
    const token = await v1('GET', 'auth/token/lookup-self');
    const { body } = await api('GET', 'organizations?page[size]=100');
    const names = new Set((body.data as { id: string }[]).map(({ id }) => id));
    const facts = JSON.parse(readFileSync(join(dataFolder, 'first-run.json'), 'utf8'));
    return [
      ...(before.rootToken === undefined || keelson.rootToken === before.rootToken
        ? []
        : ['the root token is another']),
      ...(token.status === 200 ? [] : [`the root token opens nothing: ${token.status}`]),
      ...(facts.unseal_keys.length === 5 ? [] : ['there are no recovery shares']),
      ...before.organizations.filter((name) => !names.has(name)),
    ];
  } finally {
    await keelson.stop();
  }
};

const powerCut: fc.Arbitrary<PowerCut> = fc.record({
  taken: fc.oneof(fc.constantFrom(0, 256), fc.integer({ min: 1, max: 255 })),
  seed: fc.nat(),
});

/** @param end of a first start, or of the writes after it */
const cutPowerAfter = async (end: End, cut: PowerCut) => {
  await using folder = await diskDirectory();
  const disk = { folder: join(folder.path, 'disk'), record: join(folder.path, 'record') };
  mkdirSync(disk.folder);
  mkdirSync(disk.record);
  const { organizations, ...before } = await runUntilKilled(disk, end);
  const after = join(folder.path, 'after');
  cutPower(disk, after, cut);
  const missing = await findMissing(join(after, 'data'), { organizations, ...before });
  return { organizations, missing };
};

test('at any step of the first start and of the writes after it', {
  timeout: SLOW_MS,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 900 }), powerCut, async (steps, cut) => {
      expect((await cutPowerAfter({ steps }, cut)).missing).toEqual([]);
    }),
    propertySettings({ numRuns: 8 }),
  );
});

test('right after the first acknowledged writes, keeping nothing that was not flushed', async () => {
  const { organizations, missing } = await cutPowerAfter({ most: 3 }, { taken: 0, seed: 0 });
  expect(organizations).toHaveLength(3);
  expect(missing).toEqual([]);
});
