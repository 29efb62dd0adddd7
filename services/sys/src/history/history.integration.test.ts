/**
 * The history of the cluster (`sys/history`).
 *
 * | case                                           | outcome                                                    |
 * | ---------------------------------------------- | ---------------------------------------------------------- |
 * | counts of gateways                             | are added up by minute; durations become quantiles         |
 * | the lag of replication                         | the greatest of each interval; null while nothing replicates |
 * | nothing has happened                           | nothing is written                                         |
 * | a token without the right, another namespace   | 403; 404, as the path exists in the root namespace only    |
 * | a restart                                      | keeps all that was counted before a stop                   |
 * | thirty days later                              | nothing is left                                            |
 * | while sealed                                   | counts wait                                                |
 * | a dashboard in Grafana                         | is named if the setting is, and absent otherwise           |
 */
import { ManualClock } from '@keelson/clock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openInitializedSys, openSysHarness, type SysHarness } from '../../test/sys-harness.ts';
import { createClusterHistory } from './cluster-history.ts';
import { lagSampling } from './lag-sampling.ts';

const START = Date.UTC(2030, 4, 10, 11, 58, 20);
const MINUTE_MS = 60_000;

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys({ clock: new ManualClock(START) });
});
afterEach(() => harness.close());

/** As a gateway sends it: so many requests of the present minute, most of them within 5 ms. */
const count = (requests: number, errors = 0, slow = 0, { sys, clock } = harness) =>
  sys.access.countRequests({
    minutes: [
      {
        minuteMs: BigInt(Math.floor(clock.nowMs() / MINUTE_MS) * MINUTE_MS),
        requests,
        errors,
        durations: [requests - slow, 0, 0, 0, 0, 0, 0, 0, slow, 0, 0],
      },
    ],
  });

const read = async (window = 'hour', token?: string, namespace = '') => {
  const request = { query: `window=${window}`, namespace };
  return token === undefined
    ? harness.asRoot('GET', 'sys/history', request)
    : harness.call('GET', 'sys/history', { ...request, token });
};

const paths = () => harness.store.list('local/history/');

test('adds up the requests that gateways have counted', async () => {
  await count(90, 1);
  await count(10, 1, 10);
  harness.clock.advance(MINUTE_MS);
  await count(5);
  const { status, body } = await read();
  expect([status, body.data.start_time, body.data.step_seconds]).toEqual([
    200,
    '2030-05-10T11:00:00Z',
    60,
  ]);
  const { series } = body.data;
  expect(series.requests.slice(-3)).toEqual([0, 100, 5]);
  expect(series.errors.slice(-3)).toEqual([0, 2, 0]);
  expect(series.duration_median_ms.slice(-3)).toEqual([null, 3, 3]);
  expect(series.duration_95_percent_ms.slice(-3)).toEqual([null, 1750, 5]);
  const month = (await read('month')).body.data;
  expect([month.series.requests.length, month.series.requests.at(-1)]).toEqual([720, 105]);
  const wrong = await read('week');
  expect([wrong.status, wrong.body.errors]).toEqual([400, ['window is one of hour, day, month']]);
});

test('has the greatest lag of an interval', async () => {
  const { clock, store } = harness;
  const history = createClusterHistory({ store, clock, mayWrite: () => true });
  const primary = { mode: 'primary', secondaries: [{ lag_ms: 20 }, { lag_ms: null }] };
  const statuses: Readonly<Record<string, object>>[] = [
    { performance: { mode: 'disabled' }, dr: { mode: 'primary', secondaries: [] } },
    { performance: primary, dr: { mode: 'secondary', lag_ms: 40 } },
    {
      performance: { ...primary, secondaries: [{ lag_ms: 700 }, ...primary.secondaries] },
      dr: { mode: 'secondary', lag_ms: 10 },
    },
  ];
  for (const status of statuses)
    await lagSampling(history, (kind) => Promise.resolve({ ...status[kind] })).round({});
  clock.advance(MINUTE_MS);
  expect((await history.report('hour'))['series']).toMatchObject({
    performance_lag_ms: [...Array.from({ length: 58 }, () => null), 700, null],
    dr_lag_ms: [...Array.from({ length: 58 }, () => null), 40, null],
  });
});

test('writes nothing when nothing has happened', async () => {
  await harness.settle('history');
  await harness.settle('replication-lag');
  const before = await harness.store.position();
  for (let minute = 0; minute < 90; minute += 1) {
    harness.clock.advance(MINUTE_MS);
    await harness.settle('history');
    await harness.settle('replication-lag');
  }
  expect(await harness.store.position()).toBe(before);
  expect(await paths()).toEqual([]);
});

test('answers only tokens that may read it, in the root namespace', async () => {
  await harness.createNamespace('team');
  await count(1);
  const strangers = [
    await read('hour', ''),
    await read('hour', await harness.createToken(['default'])),
    await read('hour', await harness.createToken(['default'], 'team'), 'team'),
  ];
  expect(strangers.map(({ status }) => status)).toEqual([403, 403, 404]);
  expect((await read('hour', undefined, 'team')).status).toBe(404);
  await harness.asRoot('PUT', 'sys/policies/acl/charts', {
    body: { policy: 'path "sys/history" { capabilities = ["read"] }' },
  });
  const reader = await harness.createToken(['charts']);
  expect((await read('hour', reader)).body.data.series.requests.at(-2)).toBe(0);
  expect((await read('hour', reader)).body.data.series.requests.at(-1)).toBe(1);
});

test('keeps what was counted before a stop, and for thirty days', async () => {
  const { clock } = harness;
  await count(1);
  await harness.settle('history');
  expect(await paths()).toHaveLength(1);
  clock.advance(31 * 86_400_000);
  await harness.settle('history');
  expect(await paths()).toEqual([]);
  const restarting = await openSysHarness({ clock });
  const { key } = await restarting.initialize();
  await count(7, 0, 0, restarting);
  await restarting.sys.stop();
  await restarting.sys.seal.unseal(key);
  const { store } = restarting;
  const restarted = createClusterHistory({ store, clock, mayWrite: () => true });
  expect((await restarted.report('hour'))['series']).toMatchObject({
    requests: expect.arrayContaining([7]),
  });
  await restarting.close();
});

test('counts wait while the cluster is sealed', async () => {
  const sealed = await openSysHarness({ clock: new ManualClock(START) });
  const { key } = await sealed.initialize();
  await sealed.asRoot('PUT', 'sys/seal');
  await count(3, 0, 0, sealed);
  await sealed.settle('history');
  await sealed.sys.seal.unseal(key);
  const { body } = await sealed.asRoot('GET', 'sys/history');
  expect(body.data.series.requests.at(-1)).toBe(3);
  await sealed.close();
});

test('names the dashboard of the settings', async () => {
  expect((await read()).body.data.grafana_url).toBeUndefined();
  const grafanaUrl = 'https://grafana.example/d/keelson';
  const other = await openSysHarness({ config: { grafanaUrl } });
  await other.initialize();
  expect((await other.asRoot('GET', 'sys/history')).body.data.grafana_url).toBe(grafanaUrl);
  await other.close();
});
