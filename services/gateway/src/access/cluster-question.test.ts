import { setImmediate } from 'node:timers/promises';
import { messageOf } from '@keelson/proto/message';
import { Resolution } from '@keelson/proto/sys/v1/access';
import { expect, test } from 'vitest';
import { createClusterQuestion } from './cluster-question.ts';

/** A stand-in for sys that answers when the test says so. */
const openSys = () => {
  const asked: ((generation: number) => void)[] = [];
  const askCluster = createClusterQuestion({
    resolve: () =>
      new Promise((resolve) =>
        asked.push((auditGeneration) => resolve(messageOf(Resolution, { auditGeneration }))),
      ),
  });
  return { asked, generation: async () => (await askCluster()).auditGeneration };
};

test('requests of one turn share a question that is asked after all of them', async () => {
  const { asked, generation } = openSys();
  const answers = Promise.all([generation(), generation(), generation()]);
  expect(asked).toHaveLength(0);
  await setImmediate();
  expect(asked).toHaveLength(1);
  asked[0]?.(7);
  expect(await answers).toEqual([7, 7, 7]);
});

test('a request that arrives while a question is open is not answered by it, and does not wait for it', async () => {
  const { asked, generation } = openSys();
  const first = generation();
  await setImmediate();
  const second = generation();
  await setImmediate();
  asked[1]?.(2);
  expect(await second).toBe(2);
  asked[0]?.(1);
  expect(await first).toBe(1);
});
