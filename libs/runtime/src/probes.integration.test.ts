import { expect, test } from 'vitest';
import { startProbes } from './probes.ts';

const statusOf = async (port: number | undefined, path: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}${path}`)).status;

test('readiness depends on other services, liveness does not', async () => {
  let answers = true;
  const probes = await startProbes('127.0.0.1:0', () =>
    answers ? Promise.resolve() : Promise.reject(new Error('away')),
  );
  expect(await statusOf(probes.port, '/readyz')).toBe(200);
  answers = false;
  expect(await statusOf(probes.port, '/readyz')).toBe(503);
  expect(await statusOf(probes.port, '/healthz')).toBe(200);
  expect(await statusOf(probes.port, '/elsewhere')).toBe(404);
  answers = true;
  expect(await statusOf(probes.port, '/readyz')).toBe(200);
  await probes.close();
  await expect(statusOf(probes.port, '/readyz')).rejects.toThrow('fetch failed');
});

test('services that never answer are not ready', async () => {
  const probes = await startProbes('127.0.0.1:0', () => new Promise(() => undefined));
  expect(await statusOf(probes.port, '/readyz')).toBe(503);
  await probes.close();
});

test('nothing listens where no address is set', async () => {
  const probes = await startProbes(undefined, () => Promise.resolve());
  expect(probes.port).toBeUndefined();
  await probes.close();
});
