import { expect, test } from 'vitest';
import { decidePromotion, type PromotionFacts, type ServicePosition } from './promotion.ts';

type Following = NonNullable<ServicePosition['following']>;

const at = (service: string, applied: number, given: Partial<Following> = {}): ServicePosition => ({
  service,
  following: {
    state: 'stream-wals',
    mode: 'secondary',
    lastRemoteWal: applied,
    lastKnownWal: applied,
    inStream: 0,
    isWhole: false,
    lastReportAtMs: 400,
    ...given,
  },
});
const facts: PromotionFacts = { follows: 'primary', nowMs: 1000 };
const later: PromotionFacts = { ...facts, nowMs: 60_401 };
const idle: ServicePosition = { service: 'pki', following: undefined };

test('loses nothing known when everything the primary reported is here', () => {
  expect(decidePromotion([at('sys', 7), at('pki', 9, { lastReportAtMs: 300 })], facts)).toEqual({
    obstacle: undefined,
    isSafe: false,
    isWhole: false,
    services: [
      { service: 'sys', state: 'stream-wals', missingEntries: 0 },
      { service: 'pki', state: 'stream-wals', missingEntries: 0 },
    ],
    missingEntries: 0,
    arrivingEntries: 0,
    unheardMs: 700,
  });
});

test('reports how much is missing, by service', () => {
  const plan = decidePromotion([at('sys', 7, { lastKnownWal: 10 }), at('pki', 9)], facts);
  expect(plan).toMatchObject({ obstacle: 'catching_up', missingEntries: 3 });
  expect(plan.services[0]?.missingEntries).toBe(3);
});

test.for(['merkle-diff', 'merkle-sync'])('waits in %s', (state) => {
  expect(decidePromotion([at('sys', 7, { state })], facts).obstacle).toBe('catching_up');
});

test('waits for the first copy', () => {
  const copying = at('sys', 7, { mode: 'bootstrapping' });
  expect(decidePromotion([copying], facts).obstacle).toBe('catching_up');
});

test('waits for a service that has not started to follow', () => {
  expect(decidePromotion([at('sys', 7), idle], facts).obstacle).toBe('catching_up');
});

test('a primary that one service never reached may have anything', () => {
  const plan = decidePromotion([at('sys', 7), at('pki', 9, { lastReportAtMs: undefined })], facts);
  expect(plan).toMatchObject({ obstacle: 'unheard', missingEntries: 0, unheardMs: undefined });
});

test('a primary that was silent for more than a minute may have anything, even for a single service', () => {
  const recent = at('sys', 7, { lastReportAtMs: 60_000 });
  expect(decidePromotion([recent, at('pki', 9)], later)).toMatchObject({
    obstacle: 'unheard',
    unheardMs: 60_001,
  });
  expect(decidePromotion([recent, at('pki', 9)], { ...later, nowMs: 60_400 }).obstacle).toBe(
    undefined,
  );
});

test('a heartbeat dated in the future proves nothing: the clock was set back', () => {
  const plan = (lastReportAtMs: number) =>
    decidePromotion([at('sys', 7, { lastReportAtMs })], facts);
  expect(plan(600_000)).toMatchObject({ obstacle: 'unheard', unheardMs: undefined });
  expect(plan(1500)).toMatchObject({ obstacle: undefined, unheardMs: 0 });
});

test('a demoted primary has nothing else, however long ago that was', () => {
  const whole = [
    at('sys', 7, { isWhole: true }),
    at('pki', 9, { isWhole: true, lastReportAtMs: undefined }),
  ];
  expect(decidePromotion(whole, later)).toMatchObject({
    obstacle: undefined,
    isSafe: true,
    isWhole: true,
  });
  expect(decidePromotion([...whole, at('workspace', 1)], later)).toMatchObject({
    obstacle: 'unheard',
    isWhole: false,
  });
});

test('a former primary misses nothing, and a cluster that forgot its primary knows nothing', () => {
  const sets = [idle, { ...idle, service: 'sys' }];
  expect(decidePromotion(sets, { ...facts, follows: 'itself' })).toMatchObject({
    obstacle: undefined,
    isSafe: true,
    unheardMs: undefined,
  });
  expect(decidePromotion(sets, { ...facts, follows: 'nobody' }).obstacle).toBe('unheard');
});
