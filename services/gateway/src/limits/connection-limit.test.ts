import { ManualClock } from '@keelson/clock';
import type { Logger } from '@keelson/logging';
import { createRegistry } from '@keelson/metrics';
import { expect, test } from 'vitest';
import { createConnectionLimit } from './connection-limit.ts';

const open = (maxConnections: number, openFiles: number | undefined, gateways = 1) => {
  const clock = new ManualClock();
  const told: string[] = [];
  const logger = { warn: (text: string) => told.push(text) } as unknown as Logger;
  const registry = createRegistry('test');
  const limit = createConnectionLimit({
    maxConnections,
    openFiles,
    gateways,
    clock,
    logger,
    registry,
  });
  return { limit, clock, told, registry };
};

test.each([
  [8192, undefined, 8192],
  [8192, 1_048_576, 8192],
  [8192, 4096, 1792],
  [8192, 1024, 256],
  [8192, 256, 64],
  [100, 1024, 100],
])('%d connections and %s files: %d on each port', (connections, files, expected) => {
  expect(open(connections, files).limit.ofEachPort).toBe(expected);
});

test('the gateways of a process share its connections, and a fault names all of them', () => {
  const { limit } = open(8192, 1024, 4);
  expect(limit.ofEachPort).toBe(64);
  limit.refused();
  expect(limit.faults()).toEqual([expect.stringContaining('beyond 256 on each port')]);
});

test('refused connections are counted, logged once while they go on, and a fault for a minute', async () => {
  const { limit, clock, told, registry } = open(8192, 1024);
  expect(limit.faults()).toEqual([]);
  for (let refused = 0; refused < 3; refused += 1) {
    limit.refused();
    clock.advance(50_000);
  }
  expect(limit.faults()).toEqual([
    'connections are refused beyond 256 on each port, as the limit of open files is 1024 (LimitNOFILE, ulimit -n)',
  ]);
  expect(told).toEqual(limit.faults());
  clock.advance(10_000);
  expect(limit.faults()).toEqual([]);
  limit.refused();
  expect(told).toHaveLength(2);
  expect(await registry.metrics()).toContain('keelson_http_connections_refused_total 4');
});

test('the setting is named where it is the limit', () => {
  const { limit } = open(100, undefined);
  limit.refused();
  expect(limit.faults()).toEqual([
    'connections are refused beyond 100 on each port (KEELSON_MAX_CONNECTIONS)',
  ]);
});
