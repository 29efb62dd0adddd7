import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createInProcessNonces } from './in-process-nonces.ts';

test('in any order of redemptions, each nonce is accepted once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(40), { maxLength: 200 }), async (choices) => {
      const nonces = createInProcessNonces();
      const issued: string[] = [];
      const used = new Set<string>();
      for (const choice of choices) {
        issued.push(await nonces.issue());
        const nonce = issued[choice % issued.length] as string;
        expect(await nonces.redeem(nonce)).toBe(!used.has(nonce));
        used.add(nonce);
      }
      expect(new Set(issued).size).toBe(issued.length);
    }),
    propertySettings(),
  );
});

test('a nonce that this process did not issue is refused', async () => {
  const nonces = createInProcessNonces();
  const foreign = await createInProcessNonces().issue();
  const own = await nonces.issue();
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.constantFrom(foreign, `${own}A`, own.slice(0, -1), own.toUpperCase(), `${own}=`),
        fc.string(),
        fc.base64String(),
      ),
      async (nonce) => {
        expect(await nonces.redeem(nonce)).toBe(false);
      },
    ),
    propertySettings(),
  );
  expect(await nonces.redeem(own)).toBe(true);
});

test('the oldest are dropped, which limits memory', async () => {
  const nonces = createInProcessNonces(128);
  const first = await nonces.issue();
  let last = first;
  for (let count = 0; count < 128; count++) last = await nonces.issue();
  expect(await nonces.redeem(first)).toBe(false);
  expect(await nonces.redeem(last)).toBe(true);
});
