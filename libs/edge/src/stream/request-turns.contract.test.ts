/** A greedy tenant at one gateway, and a polite one at another, in front of the same service. */
import { expect, test } from 'vitest';
import { edgeRequest, readAll } from '../edge.contract.ts';
import { edgeResponse } from '../edge-service.ts';
import { connect, ready, serve } from './replicas.contract.ts';

/** Longer than a turn of the event loop may last. */
const BUSY_MS = 5;
const MANY = 40;
const PIECES = 10;

/** @returns how many requests began before the last one, which was sent when the first one of many began */
const startedBefore = async (tenants: {
  readonly many: string;
  readonly last: string;
}): Promise<number> => {
  const began: string[] = [];
  const first = Promise.withResolvers<void>();
  const { port } = await serve(({ head }) => {
    began.push(head.path);
    first.resolve();
    const end = performance.now() + BUSY_MS;
    while (performance.now() < end);
    return Promise.resolve(edgeResponse(200));
  });
  const [one, other] = [connect([port]), connect([port])];
  await Promise.all([ready(one, 1), ready(other, 1)]);
  const ask = (client: typeof one, path: string, tenant: string) =>
    client.edge.handle({ ...edgeRequest({ path }), tenant });
  const asked = Array.from({ length: MANY }, () => ask(one, '/many', tenants.many));
  await first.promise;
  asked.push(ask(other, '/last', tenants.last));
  await Promise.all(asked);
  expect(began).toHaveLength(MANY + 1);
  return began.indexOf('/last');
};

test('a request does not wait for all that another tenant has sent through another gateway', async () => {
  expect(await startedBefore({ many: 'greedy', last: 'polite' })).toBeLessThan(MANY / 2);
});

test('a request does not wait for all pieces of answers to another tenant', async () => {
  const made: string[] = [];
  const first = Promise.withResolvers<void>();
  const work = (name: string): Buffer => {
    made.push(name);
    first.resolve();
    const end = performance.now() + BUSY_MS;
    while (performance.now() < end);
    return Buffer.from(name);
  };
  const { port } = await serve(({ head }) => {
    const pieces = (async function* () {
      for (let turn = 0; turn < PIECES; turn += 1) yield await Promise.resolve(work(head.path));
    })();
    return Promise.resolve(edgeResponse(200, {}, head.path === '/last' ? work(head.path) : pieces));
  });
  const [one, other] = [connect([port]), connect([port])];
  await Promise.all([ready(one, 1), ready(other, 1)]);
  const read = async (client: typeof one, path: string, tenant: string) =>
    readAll((await client.edge.handle({ ...edgeRequest({ path }), tenant })).body);
  const asked = Array.from({ length: MANY / PIECES }, () => read(one, '/many', 'greedy'));
  await first.promise;
  asked.push(read(other, '/last', 'polite'));
  await Promise.all(asked);
  expect(made).toHaveLength(MANY + 1);
  expect(made.indexOf('/last')).toBeLessThan(MANY / 2);
});

test('a request waits for those that its tenant has sent before', async () => {
  expect(await startedBefore({ many: 'greedy', last: 'greedy' })).toBe(MANY);
});
