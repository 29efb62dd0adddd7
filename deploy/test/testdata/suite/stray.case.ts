import { test } from 'vitest';

test('leaves an error behind', async () => {
  void Promise.reject(new Error('nobody awaits this'));
  await new Promise(setImmediate);
});
