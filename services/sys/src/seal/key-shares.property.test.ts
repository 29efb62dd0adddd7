import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinShares, splitKey } from './key-shares.ts';

const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const counts = fc
  .tuple(fc.integer({ min: 2, max: 20 }), fc.integer({ min: 2, max: 20 }))
  .map(([a, b]) => ({ shares: Math.max(a, b), threshold: Math.min(a, b) }));

/** GF(2^8) multiplication with the polynomial 0x11B, computed directly; the library uses tables. */
const multiply = (a: number, b: number): number => {
  let product = 0;
  for (let [x, y] = [a, b]; y > 0; y >>= 1) {
    if ((y & 1) !== 0) product ^= x;
    x = (x << 1) ^ ((x & 0x80) === 0 ? 0 : 0x11b);
  }
  return product;
};
const inverse = (a: number): number => {
  let power = 1;
  for (let step = 0; step < 254; step += 1) power = multiply(power, a);
  return power;
};
/** Lagrange interpolation at 0: each share has its y bytes first, then x (reference §2.5). */
const joinByHand = (shares: readonly Uint8Array[]): number[] =>
  Array.from({ length: 32 }, (_, at) =>
    shares.reduce((sum, share) => {
      const own = share[32] ?? 0;
      const basis = shares
        .map((other) => other[32] ?? 0)
        .filter((x) => x !== own)
        .reduce((product, x) => multiply(product, multiply(x, inverse(x ^ own))), 1);
      return sum ^ multiply(share[at] ?? 0, basis);
    }, 0),
  );

describe('key shares', () => {
  test('any threshold of them gives the key, as computed by the definition', async () => {
    await fc.assert(
      fc.asyncProperty(key, counts, async (secret, given) => {
        const shares = await splitKey(secret, given);
        const some = shares.toReversed().slice(0, given.threshold);
        expect(shares.every((share) => share.length === 33)).toBe(true);
        expect(await joinShares(some, given.threshold)).toEqual(secret);
        expect(joinByHand(some)).toEqual([...secret]);
      }),
      { numRuns: 50 },
    );
  });

  test('an undivided key is its own share', async () => {
    const secret = new Uint8Array(32).fill(7);
    const [share] = await splitKey(secret, { shares: 1, threshold: 1 });
    expect(share).toEqual(secret);
    expect(await joinShares([secret], 1)).toEqual(secret);
  });

  test('shares that do not belong together give nothing', async () => {
    const [a, b] = await splitKey(new Uint8Array(32), { shares: 3, threshold: 2 });
    const first = a ?? new Uint8Array(0);
    expect(await joinShares([first, first], 2)).toBeUndefined();
    expect(await joinShares([first, (b ?? first).subarray(1)], 2)).toBeUndefined();
    expect(await joinShares([first], 2)).toBeUndefined();
  });
});
