import { describe, expect, test } from 'vitest';
import { type ActivationBundle, requireUsable, toActivationBundle } from './activation-bundle.ts';

const bundle: ActivationBundle = {
  format: 1,
  kind: 'dr',
  version: '1.2.0',
  clusterId: 'set',
  secondaryId: 'one',
  primaryClusterAddress: 'nats://primary.example:4222',
  primaryPublicKey: 'key',
  seal: { shares: 5, threshold: 3, wrappedForShares: 'root' },
  expiresAtMs: 1000,
};

test.for([
  undefined,
  null,
  'text',
  [],
  {},
  { ...bundle, version: 5 },
  { ...bundle, format: undefined },
  { ...bundle, format: '1' },
  { ...bundle, expiresAtMs: '1000' },
  { ...bundle, seal: undefined },
  { ...bundle, seal: { shares: 5, threshold: 3 } },
  { ...bundle, seal: { ...bundle.seal, threshold: 1.5 } },
  { ...bundle, seal: { ...bundle.seal, wrappedForShares: 7 } },
  { ...bundle, secondaryKeys: { publicKey: 'a' } },
])('%j is not a bundle of a primary', (held) => {
  expect(() => toActivationBundle(held)).toThrow('the token is not a secondary activation token');
});

test.for([0, 2])('a bundle of format %i is refused by it, whatever else is in it', (format) => {
  expect(() => toActivationBundle({ format, anything: 'else' })).toThrow(
    `the secondary activation token has format ${format}, this version of Keelson reads format 1`,
  );
});

describe('a bundle', () => {
  test('of a primary is accepted', () => {
    expect(toActivationBundle(bundle)).toEqual(bundle);
    const own = { ...bundle, secondaryKeys: { publicKey: 'a', privateKey: 'b' } };
    expect(toActivationBundle(own)).toEqual(own);
    const newer = { ...own, seal: { ...own.seal, type: 'shamir' }, region: 'eu' };
    expect(toActivationBundle(newer)).toEqual(own);
  });

  const here = { kind: 'dr', nowMs: 999 } as const;
  test('is accepted before it expires', () => {
    expect(requireUsable(bundle, here)).toBe(bundle);
  });

  test.for([
    ['expired', { nowMs: 1000 }],
    ['performance replication', { kind: 'performance' as const }],
  ] as const)('is refused: %s', ([text, change]) => {
    expect(() => requireUsable(bundle, { ...here, ...change })).toThrow(text);
  });
});
