/**
 * The state machine of a secondary. The values of `state` and `mode` are those of the administration
 * document:
 *
 *   merkle-diff ──differs──► merkle-sync ──copied──► stream-wals
 *        │  └───────────────equal──────────────────────►│
 *        ▲                                               │ the stream breaks off
 *        └───────────────────────────────────────────────┘
 *   any of them ──failed──► idle ──back-off is over, or `recover`──► where it failed
 *   all ──stopped──► shutdown
 *
 * `mode` is bootstrapping until the first copy is complete.
 */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const secondaryStateShape = Type.Object({
  mode: Type.Enum(['bootstrapping', 'secondary']),
  state: Type.Enum(['merkle-diff', 'merkle-sync', 'stream-wals', 'idle', 'shutdown']),
  /** Activity after `idle`. An interrupted copy is compared again, because much of it is already here. */
  resumeWith: Type.Enum(['merkle-diff', 'stream-wals']),
  /** Failures since something last succeeded. */
  failureCount: Type.Number(),
});
export type SecondaryState = Shaped<typeof secondaryStateShape>;

export type SecondaryEvent =
  | { readonly type: 'compared'; readonly differingSubpageCount: number }
  | { readonly type: 'copied' }
  /** Entries were applied, or there were none to apply. */
  | { readonly type: 'streamed' }
  /** The next entry is no longer in the stream, or belongs to another log. */
  | { readonly type: 'stream_broken' }
  | { readonly type: 'failed' }
  /** The back-off has ended, or an operator requested a retry. */
  | { readonly type: 'recovered' }
  | { readonly type: 'stopped' };

/** @param isCopied an earlier run completed a copy and recorded the position to stream from */
export const startSecondary = (isCopied: boolean): SecondaryState => {
  const activity = isCopied ? 'stream-wals' : 'merkle-diff';
  return {
    mode: isCopied ? 'secondary' : 'bootstrapping',
    state: activity,
    resumeWith: activity,
    failureCount: 0,
  };
};

const streaming: SecondaryState = {
  mode: 'secondary',
  state: 'stream-wals',
  resumeWith: 'stream-wals',
  failureCount: 0,
};

const comparing = (from: SecondaryState): SecondaryState => ({
  ...from,
  state: 'merkle-diff',
  resumeWith: 'merkle-diff',
});

/**
 * Events that do not belong to the current state are ignored: they were sent before the state
 * changed.
 */
export const nextSecondaryState = (from: SecondaryState, event: SecondaryEvent): SecondaryState => {
  if (from.state === 'shutdown') return from;
  switch (event.type) {
    case 'compared':
      if (from.state !== 'merkle-diff') return from;
      return event.differingSubpageCount === 0
        ? { ...streaming, failureCount: from.failureCount }
        : { ...from, state: 'merkle-sync' };
    case 'copied':
      return from.state === 'merkle-sync'
        ? { ...streaming, failureCount: from.failureCount }
        : from;
    case 'streamed':
      return from.state === 'stream-wals' && from.failureCount > 0 ? streaming : from;
    case 'stream_broken':
      return from.state === 'stream-wals' ? comparing(from) : from;
    case 'failed':
      return from.state === 'idle'
        ? from
        : { ...from, state: 'idle', failureCount: from.failureCount + 1 };
    case 'recovered':
      return from.state === 'idle' ? { ...from, state: from.resumeWith } : from;
    case 'stopped':
      return { ...from, state: 'shutdown' };
  }
};

export interface BackOff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Duration of the idle state, doubled after each failure. */
export const backOffMs = (failureCount: number, { firstMs, maxMs }: BackOff): number =>
  Math.min(maxMs, firstMs * 2 ** Math.max(0, failureCount - 1));
