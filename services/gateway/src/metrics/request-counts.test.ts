/** Counts of requests for the history of the cluster, on their way to sys. */
import { ManualClock } from '@keelson/clock';
import type { RequestCounts } from '@keelson/proto/sys/v1/access';
import { expect, test } from 'vitest';
import { createRequestCounter } from './request-counts.ts';

const MINUTE_MS = 60_000;
const START = Date.UTC(2030, 0, 1, 12);

const open = () => {
  const clock = new ManualClock(START);
  const received: RequestCounts[] = [];
  const sys = { isAway: false };
  const counter = createRequestCounter(
    {
      countRequests: (counts) => {
        if (sys.isAway) return Promise.reject(new Error('sys is away'));
        received.push(counts as RequestCounts);
        return Promise.resolve({});
      },
    },
    clock,
  );
  return { clock, counter, received, sys };
};

test('requests are sent by minute, with errors and durations', async () => {
  const { clock, counter, received } = open();
  counter.count('v1/pki', 200, 0.004);
  counter.count('api_v2', 503, 0.2);
  clock.advance(MINUTE_MS);
  counter.count('est', 404, 30);
  await counter.send();
  expect(received).toEqual([
    {
      minutes: [
        {
          minuteMs: BigInt(START),
          requests: 2,
          errors: 1,
          durations: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0],
        },
        {
          minuteMs: BigInt(START + MINUTE_MS),
          requests: 1,
          errors: 0,
          durations: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        },
      ],
    },
  ]);
});

test('probes and live streams are not counted, and nothing is sent without requests', async () => {
  const { counter, received } = open();
  counter.count('own', 200, 0.1);
  counter.count('live', 200, 600);
  await counter.send();
  expect(received).toEqual([]);
});

test('counts that were not received are sent once more with those of their minute, the oldest are given up', async () => {
  const { clock, counter, received, sys } = open();
  sys.isAway = true;
  counter.count('api_v2', 200, 1);
  await expect(counter.send()).rejects.toThrow('sys is away');
  counter.count('api_v2', 500, 1);
  sys.isAway = false;
  await counter.send();
  await counter.send();
  expect(received.flatMap(({ minutes }) => minutes)).toMatchObject([{ requests: 2, errors: 1 }]);
  sys.isAway = true;
  for (let minute = 0; minute < 100; minute += 1) {
    clock.advance(MINUTE_MS);
    counter.count('api_v2', 200, 1);
    await expect(counter.send()).rejects.toThrow('sys is away');
  }
  sys.isAway = false;
  await counter.send();
  const minutes = received.at(-1)?.minutes ?? [];
  expect([minutes.length, minutes.at(-1)?.minuteMs]).toEqual([60, BigInt(clock.nowMs())]);
});

test('are sent once a minute until the gateway stops', async () => {
  const { clock, counter, received } = open();
  const stop = new AbortController();
  const running = counter.run(stop.signal);
  counter.count('api_v2', 200, 1);
  clock.advance(MINUTE_MS - 1);
  expect(received).toHaveLength(0);
  clock.advance(1);
  await expect.poll(() => received).toHaveLength(1);
  stop.abort();
  await running;
});
