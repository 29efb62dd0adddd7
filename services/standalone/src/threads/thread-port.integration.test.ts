import { MessageChannel } from 'node:worker_threads';
import { KeelsonError } from '@keelson/errors';
import { expect, onTestFinished, test } from 'vitest';
import { ThreadPort } from './thread-port.ts';

interface Calls {
  add(numbers: readonly number[]): Promise<number>;
  refuse(limitBytes: number): Promise<never>;
  fail(secret: string): Promise<never>;
}

const connect = () => {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const own: Calls = {
    add: async (numbers) => numbers.reduce((sum, one) => sum + one, 0),
    refuse: (limitBytes) => Promise.reject(new KeelsonError('request.too_large', { limitBytes })),
    fail: (secret) => Promise.reject(new Error(secret)),
  };
  const answering = new ThreadPort<Calls>(port2, { ...own });
  return { asking: new ThreadPort<Calls>(port1, {}), answering };
};

test('calls are answered each with its own result, however many are under way', async () => {
  const { asking } = connect();
  const sums = Array.from({ length: 50 }, (_, n) => asking.call('add', [n, n]));
  expect(await Promise.all(sums)).toEqual(Array.from({ length: 50 }, (_, n) => 2 * n));
});

test('a refusal arrives with its code and parameters, any other error without its text', async () => {
  const { asking } = connect();
  await expect(asking.call('refuse', 7)).rejects.toThrow(
    new KeelsonError('request.too_large', { limitBytes: 7 }),
  );
  const failed = await asking.call('fail', 'hvs.secret').catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'internal' });
  expect(String(failed)).not.toContain('hvs.secret');
});

test('both sides may call, and a name that is no function is refused', async () => {
  const { asking, answering } = connect();
  expect(await asking.call('add', [1, 2])).toBe(3);
  await expect(answering.call('add', [1])).rejects.toMatchObject({ code: 'internal' });
});
