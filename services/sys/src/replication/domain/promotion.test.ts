import { expect, test } from 'vitest';
import { decidePromotion, type ServicePosition } from './promotion.ts';

const at = (service: string, applied: number, known = applied): ServicePosition => ({
  service,
  following: {
    state: 'stream-wals',
    mode: 'secondary',
    lastRemoteWal: applied,
    lastKnownWal: known,
    heardAtMs: 400,
  },
});
const facts = { hasPrimary: true, nowMs: 1000 };

test('is safe when everything the primary is known to have is here', () => {
  expect(decidePromotion([at('sys', 7), at('pki', 9)], facts)).toEqual({
    isSafe: true,
    services: [
      { service: 'sys', state: 'stream-wals', missingEntries: 0 },
      { service: 'pki', state: 'stream-wals', missingEntries: 0 },
    ],
    missingEntries: 0,
    unheardMs: 600,
  });
});

test('tells how much is missing, by service', () => {
  const plan = decidePromotion([at('sys', 7, 10), at('pki', 9)], facts);
  expect(plan).toMatchObject({ isSafe: false, missingEntries: 3 });
  expect(plan.services[0]?.missingEntries).toBe(3);
});

test.for(['merkle-diff', 'merkle-sync'])('is not safe in %s', (state) => {
  const position = at('sys', 7);
  const following = position.following && { ...position.following, state };
  expect(decidePromotion([{ ...position, following }], facts).isSafe).toBe(false);
});

test('is not safe before the first copy is complete', () => {
  const position = at('sys', 7);
  const following = position.following && { ...position.following, mode: 'bootstrapping' };
  expect(decidePromotion([{ ...position, following }], facts).isSafe).toBe(false);
});

test('waits for a service that has not begun to follow, not after a demotion', () => {
  const idle = { service: 'pki', following: undefined };
  expect(decidePromotion([at('sys', 7), idle], facts).isSafe).toBe(false);
  expect(decidePromotion([idle], { ...facts, hasPrimary: false })).toMatchObject({
    isSafe: true,
    unheardMs: undefined,
  });
});
