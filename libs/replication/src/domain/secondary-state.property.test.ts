import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  backOffMs,
  nextSecondaryState,
  type SecondaryEvent,
  type SecondaryState,
  startSecondary,
} from './secondary-state.ts';

const after = (from: SecondaryState, ...events: readonly SecondaryEvent[]): SecondaryState =>
  events.reduce(nextSecondaryState, from);

const event: fc.Arbitrary<SecondaryEvent> = fc.oneof(
  fc.record({ type: fc.constant('compared' as const), differingSubpageCount: fc.nat(3) }),
  fc.constantFrom<SecondaryEvent>(
    { type: 'copied' },
    { type: 'streamed' },
    { type: 'stream_broken' },
    { type: 'failed' },
    { type: 'recovered' },
  ),
);

describe('the states of a secondary', () => {
  test('lead from the first comparison over the copy to the stream', () => {
    const compared = after(startSecondary(false), { type: 'compared', differingSubpageCount: 3 });
    expect(compared).toMatchObject({ mode: 'bootstrapping', state: 'merkle-sync' });
    expect(after(compared, { type: 'copied' })).toMatchObject({
      mode: 'secondary',
      state: 'stream-wals',
    });
  });

  test('skip the copy when nothing differs', () => {
    expect(
      after(startSecondary(false), { type: 'compared', differingSubpageCount: 0 }),
    ).toMatchObject({ mode: 'secondary', state: 'stream-wals' });
  });

  test('lead back to a comparison from a broken stream', () => {
    expect(after(startSecondary(true), { type: 'stream_broken' })).toMatchObject({
      mode: 'secondary',
      state: 'merkle-diff',
    });
  });

  test('resume where they failed, a copy with its comparison', () => {
    const idleStream = after(startSecondary(true), { type: 'failed' });
    expect(idleStream.state).toBe('idle');
    expect(after(idleStream, { type: 'recovered' }).state).toBe('stream-wals');
    const idleCopy = after(
      startSecondary(false),
      { type: 'compared', differingSubpageCount: 1 },
      { type: 'failed' },
    );
    expect(after(idleCopy, { type: 'recovered' }).state).toBe('merkle-diff');
  });

  test('reach the stream from wherever faults have led, in at most four steps', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(event, { maxLength: 40 }), (isCopied, events) => {
        const lost = after(startSecondary(isCopied), ...events);
        const found = after(
          lost,
          { type: 'recovered' },
          { type: 'compared', differingSubpageCount: 1 },
          { type: 'copied' },
          { type: 'streamed' },
        );
        expect(found).toEqual({
          mode: 'secondary',
          state: 'stream-wals',
          resumeWith: 'stream-wals',
          failureCount: 0,
        });
      }),
      propertySettings(),
    );
  });

  test('never stream before the first copy is complete', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const state = after(startSecondary(false), ...events);
        expect([state.mode, state.state]).not.toEqual(['bootstrapping', 'stream-wals']);
      }),
      propertySettings(),
    );
  });

  test('end with shutdown, whatever comes after', () => {
    fc.assert(
      fc.property(fc.array(event), (events) => {
        expect(after(startSecondary(true), { type: 'stopped' }, ...events).state).toBe('shutdown');
      }),
      propertySettings(),
    );
  });
});

test('a back-off doubles up to its limit', () => {
  const limits = { firstMs: 100, maxMs: 1000 };
  expect([1, 2, 3, 4, 5, 60].map((count) => backOffMs(count, limits))).toEqual([
    100, 200, 400, 800, 1000, 1000,
  ]);
});
