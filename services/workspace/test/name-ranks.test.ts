/** How far a page that is not near an end is read from: known ranks spare the names before it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNameRanks } from '../src/workspaces/name-ranks.ts';
import { type Harness, startHarness } from './workspace-harness.ts';

const STEP = 4;
const COUNT = 50;
const COLLECTION = '/organizations/acme/workspaces';

let harness: Harness;
let organizationId: string;
let names: string[];
/** Steps that were made. */
let selects = 0;
let ranks: ReturnType<typeof createNameRanks>;

const make = async (name: string) => {
  await harness.create(COLLECTION, 'workspaces', { name });
  names.push(name.toLowerCase());
  names.sort();
};

beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  names = [];
  for (let at = 0; at < COUNT; at += 1) await make(`w${String(at * 2).padStart(3, '0')}`);
  // Names that differ in case alone have one rank.
  for (const name of ['w030x', 'W030x', 'w030X']) await make(name);
  const { store } = harness;
  const [row] = await store.select<{ workspace: { organization_id: string } }, { id: string }>(
    (tables) => tables.selectFrom('workspace').select('organization_id as id').limit(1),
  );
  organizationId = row?.id ?? '';
  ranks = createNameRanks(
    {
      position: () => store.position(),
      comingAndGoing: (prefix, position) => store.comingAndGoing(prefix, position),
      select: (build) => {
        selects += 1;
        return store.select(build);
      },
    },
    STEP,
  );
});
afterAll(() => harness[Symbol.asyncDispose]());

/** @returns how many steps were made for it */
const expectNear = async (offset: number): Promise<number> => {
  const before = selects;
  const found = await ranks.before(organizationId, offset);
  expect(found).toBeDefined();
  const rank = found?.rank ?? 0;
  expect(rank).toBe(names.filter((name) => name < (found?.name ?? '')).length);
  expect(offset - rank).toBeGreaterThanOrEqual(0);
  expect(offset - rank).toBeLessThanOrEqual(2 * STEP);
  return selects - before;
};

describe('ranks of names', () => {
  test('are found on the way, once', async () => {
    expect(await expectNear(20)).toBe(20 / STEP);
    expect(await expectNear(21)).toBe(0);
    expect(await expectNear(9)).toBe(0);
    const steps = await Promise.all([32, 40, 36].map(expectNear));
    expect(Math.max(...steps)).toBeLessThanOrEqual(20 / STEP + 1);
    for (let offset = 0; offset < names.length; offset += 1) await expectNear(offset);
  });

  test('follow what comes and goes', async () => {
    await make('a-first');
    await make('w041');
    await harness.call('DELETE', `${COLLECTION}/w050`);
    names.splice(names.indexOf('w050'), 1);
    for (let offset = 0; offset < names.length; offset += 1)
      expect(await expectNear(offset)).toBe(0);
  });

  test('are found anew where so many came between two that a page would pass them', async () => {
    for (let at = 0; at < 3 * STEP; at += 1) await make(`w021-${at}`);
    const offset = names.indexOf('w022') - 1;
    expect(await expectNear(offset)).toBeGreaterThan(0);
    expect(await expectNear(offset)).toBe(0);
  });
});
