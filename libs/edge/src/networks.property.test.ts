/** Blocks of addresses compared with the addresses themselves. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { areNetworksWithin, boundByBoth, createNetworks } from './networks.ts';

/** Few bits differ, so that blocks are often nested. */
const octet = fc.constantFrom(0, 1, 128, 255);
const ipv4 = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'));
const group = fc.constantFrom('0', '1', '8000', 'ffff');
const ipv6 = fc.oneof(
  fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(':')),
  fc.tuple(group, group).map(([first, last]) => `${first}::${last}`),
  ipv4.map((address) => `::ffff:${address}`),
  ipv4.map((address) => `::${address}`),
);
const address = fc.oneof(ipv4, ipv6);
const range = fc.oneof(
  address,
  fc.tuple(ipv4, fc.integer({ min: 0, max: 32 })).map((parts) => parts.join('/')),
  fc.tuple(ipv6, fc.integer({ min: 0, max: 128 })).map((parts) => parts.join('/')),
);
const ranges = fc.array(range, { maxLength: 4 });

const isIn = (list: readonly string[], one: string): boolean => createNetworks(list).includes(one);

test('every address of a subset is in the set', () => {
  fc.assert(
    fc.property(ranges, ranges, address, (inner, outer, one) => {
      const isRefuted = isIn(inner, one) && !isIn(outer, one);
      expect(areNetworksWithin(inner, outer) && isRefuted).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

test('a list is a subset of itself and of a longer one', () => {
  fc.assert(
    fc.property(ranges, ranges, (list, more) => {
      expect(areNetworksWithin(list, [...more, ...list])).toBe(true);
    }),
  );
});

/** The networks that bind somebody, or undefined if nobody can be in both lists. */
const bindBoth = (left: readonly string[], right: readonly string[]) => {
  try {
    return boundByBoth(left, right);
  } catch {
    return undefined;
  }
};

test('an address is in what two lists bind to if it is in both, and no list binds nobody', () => {
  const allows = (list: readonly string[], one: string) => list.length === 0 || isIn(list, one);
  fc.assert(
    fc.property(ranges, ranges, address, (left, right, one) => {
      const bound = bindBoth(left, right);
      expect(bound !== undefined && allows(bound, one)).toBe(
        allows(left, one) && allows(right, one),
      );
    }),
    { numRuns: 2000 },
  );
});

test('an address is within a block just if the block includes it', () => {
  fc.assert(
    fc.property(range, address, (block, one) => {
      expect(areNetworksWithin([one], [block])).toBe(isIn([block], one));
    }),
    { numRuns: 2000 },
  );
});
