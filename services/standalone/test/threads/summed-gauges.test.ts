/**
 * Where several threads serve clients, a metric is the sum of those of all threads unless it is declared otherwise. That
 * is right for counters; a gauge is declared, or is one of those named here, of which each thread has its own part.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const REPOSITORY = join(import.meta.dirname, '../../../..');

/** Requests in progress, and what they hold. */
const OF_EACH_THREAD = [
  'keelson_http_request_bodies_bytes',
  'keelson_http_requests_under_way',
  'keelson_http_requests_waiting',
];

/** Gauges of services in processes of their own, which have one thread. */
const OF_SERVICE_PROCESSES = ['keelson_leases_reachable'];

test('every gauge says what several threads show together', () => {
  const files = globSync('{libs,services}/*/src/**/*.ts', { cwd: REPOSITORY }).filter(
    (file) => !file.endsWith('.test.ts'),
  );
  const summed = files.flatMap((file) => {
    const source = readFileSync(join(REPOSITORY, file), 'utf8');
    return source
      .split('new Gauge({')
      .slice(1)
      .map((rest) => rest.slice(0, rest.indexOf('registers:')))
      .filter((options) => !/OF_PROCESS|aggregator/.test(options))
      .map((options) => /name: '(\w+)'/.exec(options)?.[1] ?? options);
  });
  expect(summed.toSorted()).toEqual([...OF_EACH_THREAD, ...OF_SERVICE_PROCESSES].toSorted());
});
