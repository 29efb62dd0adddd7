import { KeelsonError } from '@keelson/errors';
import { expect, test } from 'vitest';
import { startProbes } from './probes.ts';

const metrics = { contentType: 'text/plain', metrics: () => Promise.resolve('things 1\n') };

const statusOf = async (port: number | undefined, path: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}${path}`)).status;

test('readiness depends on other services, liveness does not', async () => {
  let answers = true;
  const probes = await startProbes('127.0.0.1:0', {
    askNeighbours: () =>
      answers ? Promise.resolve() : Promise.reject(new KeelsonError('storage.superseded')),
    metrics,
  });
  expect(await statusOf(probes.port, '/readyz')).toBe(200);
  answers = false;
  const refused = await fetch(`http://127.0.0.1:${probes.port}/readyz`);
  expect(refused.status).toBe(503);
  expect(await refused.json()).toEqual({
    status: 'not ready',
    reason: expect.stringContaining('another version of Keelson'),
  });
  expect(await statusOf(probes.port, '/healthz')).toBe(200);
  expect(await statusOf(probes.port, '/elsewhere')).toBe(404);
  answers = true;
  expect(await statusOf(probes.port, '/readyz')).toBe(200);
  await probes.close();
  await expect(statusOf(probes.port, '/readyz')).rejects.toThrow('fetch failed');
});

test('services that never answer are not ready', async () => {
  const probes = await startProbes('127.0.0.1:0', {
    askNeighbours: () => new Promise(() => undefined),
    metrics,
  });
  expect(await statusOf(probes.port, '/readyz')).toBe(503);
  await probes.close();
});

test('nothing listens where no address is set', async () => {
  const probes = await startProbes(undefined, { askNeighbours: () => Promise.resolve(), metrics });
  expect(probes.port).toBeUndefined();
  await probes.close();
});

test('the metrics of the process are shown', async () => {
  const probes = await startProbes('127.0.0.1:0', {
    askNeighbours: () => Promise.resolve(),
    metrics,
  });
  const answer = await fetch(`http://127.0.0.1:${probes.port}/metrics`);
  expect([answer.status, await answer.text()]).toEqual([200, 'things 1\n']);
  await probes.close();
});
