/**
 * Histories on a real store, by a clock that the tests move.
 *
 * | case                                       | outcome                                                        |
 * | ------------------------------------------ | -------------------------------------------------------------- |
 * | events of several minutes                  | counts are added up, of peaks the greatest stays               |
 * | an hour, a day, thirty days                | intervals of a minute, ten minutes, an hour; the last has now  |
 * | nothing has happened                       | nothing is written; counts are 0, peaks are not known          |
 * | two replicas at once                       | their counts add up                                            |
 * | a restart                                  | keeps what was written; the minute before it is lost           |
 * | thirty days later                          | the rows are deleted, also without further events              |
 * | an owner that was removed                  | nothing is written for it; a new one is waited for             |
 * | a store that cannot be written             | rows wait, up to a limit, and are written once                 |
 * | a damaged record                           | the other hours are shown, and the hour is written again       |
 */
import { join } from 'node:path';
import { ManualClock } from '@keelson/clock';
import {
  collections,
  createBarrier,
  openBarrierFor,
  openSqliteStore,
  type Store,
} from '@keelson/storage';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHistory, historyFormat, historyWork } from './history.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2030, 4, 10, 11, 58, 20);

const series = { made: 'count', lag: 'peak' } as const;
const places = collections('histories-in-a-test/*/rows', {
  scopes: ['local'],
  owner: { kind: 'owner-in-a-test', by: '*' },
  ...historyFormat,
});
const recordsOf = (owner: string) => places.at('local', owner);

let folder: TemporaryDirectory;
let store: Store;
let clock: ManualClock;
let owners: readonly string[];
let mayWrite: boolean;
beforeEach(async () => {
  folder = await temporaryDirectory();
  clock = new ManualClock(START);
  const barrier = createBarrier({ clock });
  store = await openSqliteStore({ file: join(folder.path, 'a.sqlite'), barrier, clock });
  await openBarrierFor(store, barrier, Buffer.alloc(32, 1));
  owners = ['one', 'two'];
  mayWrite = true;
});
afterEach(async () => {
  await store.close();
  await folder[Symbol.asyncDispose]();
});

const open = () =>
  createHistory({
    store,
    clock,
    series,
    recordsOf,
    owners: () => owners,
    mayWrite: () => mayWrite,
  });

const totals = (values: readonly (number | null)[]): number =>
  values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

test('adds counts up and keeps the greatest peak, by minute, ten minutes and hour', async () => {
  const history = open();
  history.note('one', 'made');
  history.note('one', 'made', 2);
  history.note('one', 'lag', 700);
  history.note('one', 'lag', 300);
  await history.write();
  clock.advance(MINUTE_MS);
  history.note('one', 'made');
  history.note('one', 'lag', 900);
  history.note('two', 'made', 10);
  const hour = await history.read('one', 'hour');
  expect(hour.span).toEqual({
    fromMs: Date.UTC(2030, 4, 10, 11, 0),
    stepMs: MINUTE_MS,
    count: 60,
  });
  expect(hour.values.made.slice(-3)).toEqual([0, 3, 1]);
  expect(hour.values.lag.slice(-3)).toEqual([null, 700, 900]);
  expect(totals(hour.values.made)).toBe(4);
  // The next hour of the clock, in which the rows of the last one are still shown.
  clock.advance(5 * MINUTE_MS);
  expect(totals((await history.read('one', 'hour')).values.made)).toBe(4);
  const day = await history.read('one', 'day');
  expect(day.span).toEqual({
    fromMs: Date.UTC(2030, 4, 9, 12, 10),
    stepMs: 10 * MINUTE_MS,
    count: 144,
  });
  expect([day.values.made.slice(-2), day.values.lag.slice(-2)]).toEqual([
    [4, 0],
    [900, null],
  ]);
  const month = await history.read('one', 'month');
  expect([month.span.stepMs, month.span.count]).toEqual([HOUR_MS, 720]);
  expect(month.values.made.slice(-2)).toEqual([4, 0]);
  expect(totals((await history.read('two', 'month')).values.made)).toBe(10);
});

test('writes nothing when nothing has happened', async () => {
  const history = open();
  history.note('one', 'made');
  await historyWork(history).round({});
  const sequence = await store.position();
  for (let minute = 0; minute < 120; minute += 1) {
    clock.advance(MINUTE_MS);
    await historyWork(history).round({});
  }
  expect(await store.position()).toBe(sequence);
  const { values } = await history.read('two', 'hour');
  expect([totals(values.made), values.lag.every((lag) => lag === null)]).toEqual([0, true]);
});

test('the counts of replicas that write at once add up, also after a restart', async () => {
  const replicas = [open(), open(), open()];
  for (let round = 0; round < 20; round += 1) {
    for (const replica of replicas) replica.note('one', 'made');
    await Promise.all(replicas.map((replica) => replica.write()));
  }
  const restarted = open();
  restarted.note('one', 'made');
  expect(totals((await restarted.read('one', 'day')).values.made)).toBe(61);
});

test('deletes rows after thirty days, also when nothing happens any more', async () => {
  const history = open();
  history.note('one', 'made');
  await history.write();
  clock.advance(30 * DAY_MS - HOUR_MS);
  expect(totals((await history.read('one', 'month')).values.made)).toBe(1);
  expect(await recordsOf('one').keys(store)).toEqual(['2030-05-10T11']);
  clock.advance(2 * HOUR_MS);
  expect(totals((await history.read('one', 'month')).values.made)).toBe(0);
  expect(await recordsOf('one').keys(store)).toEqual([]);
});

test('writes nothing for an owner that was removed, and waits for one that is not listed yet', async () => {
  const history = open();
  history.note('one', 'made');
  history.note('two', 'made');
  owners = ['two'];
  await history.write();
  expect(await recordsOf('one').keys(store)).toEqual([]);
  expect(await recordsOf('two').keys(store)).toHaveLength(1);
  owners = ['one', 'two'];
  await history.write();
  expect(await recordsOf('one').keys(store)).toHaveLength(1);
  owners = ['two'];
  history.note('one', 'made');
  clock.advance(4 * MINUTE_MS);
  await history.write();
  owners = ['one', 'two'];
  expect(totals((await history.read('one', 'hour')).values.made)).toBe(1);
});

test('rows wait while the cluster may not write, and are written once', async () => {
  const history = open();
  history.note('one', 'made');
  mayWrite = false;
  await history.write();
  expect(await recordsOf('one').keys(store)).toEqual([]);
  clock.advance(MINUTE_MS);
  history.note('one', 'made');
  mayWrite = true;
  expect((await history.read('one', 'hour')).values.made.slice(-2)).toEqual([1, 1]);
});

test('rows that could not be written are written by the next round', async () => {
  let isBroken = true;
  const broken = new Proxy(store, {
    get: (target, name) =>
      name === 'transact' && isBroken
        ? () => Promise.reject(new Error('the disk is full'))
        : Reflect.get(target, name, target).bind(target),
  });
  const history = createHistory({
    store: broken,
    clock,
    series,
    recordsOf,
    owners: () => owners,
    mayWrite: () => true,
  });
  history.note('one', 'made');
  history.note('two', 'made');
  await expect(history.write()).rejects.toThrow('the disk is full');
  history.note('one', 'made');
  isBroken = false;
  expect(totals((await history.read('one', 'hour')).values.made)).toBe(2);
  expect(totals((await history.read('two', 'hour')).values.made)).toBe(1);
});

test('no more rows wait than the memory is to hold', async () => {
  const history = open();
  mayWrite = false;
  for (let minute = 0; minute < 10_050; minute += 1) {
    history.note('one', 'made');
    clock.advance(MINUTE_MS);
  }
  mayWrite = true;
  expect(totals((await history.read('one', 'month')).values.made)).toBe(10_000);
});

test('a damaged hour is left out, and written again', async () => {
  const history = open();
  history.note('one', 'made');
  await history.write();
  clock.advance(HOUR_MS);
  history.note('one', 'made');
  await history.write();
  const path = recordsOf('one').path('2030-05-10T11');
  await store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
  expect(totals((await history.read('one', 'day')).values.made)).toBe(1);
  history.note('one', 'made', 5, START);
  expect(totals((await history.read('one', 'day')).values.made)).toBe(6);
});
