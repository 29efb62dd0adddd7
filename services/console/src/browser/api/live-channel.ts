/**
 * The live channel: one stream of server-sent events for everything that the visible page watches.
 * While there is no stream, pages poll.
 */
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { bytesOfBase64 } from './base64.ts';
import { readSession, sessionHeaders, subscribeToSession } from './session.ts';

export interface Watch {
  /** Returns path and query; called each time a stream is opened. */
  readonly address: () => string;
  /**
   * Called with an answer that differs from the last one; `text` is absent if it has no document.
   */
  readonly onAnswer?: (status: number, text: string | undefined) => void;
  /** Called with bytes of a log that begin at `offset`. */
  readonly onLog?: (offset: number, bytes: Uint8Array) => void;
}

interface LiveEvent {
  readonly watch: number;
  readonly status?: number;
  readonly text?: string;
  readonly offset?: number;
  readonly base64?: string;
}

/** The gateway's limit. */
const MAX_WATCHES = 8;
/** Delay before a stream is opened, because a page being rendered adds its watches one by one. */
const SETTLE_MS = 50;
const AGAIN_MS = 5_000;

const watches = new Set<Watch>();
const listeners = new Set<() => void>();
/** The watches that the open stream reports. */
let reported: ReadonlySet<Watch> = new Set();
let abort: AbortController | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

const setReported = (next: readonly Watch[]): void => {
  reported = new Set(next);
  for (const listener of listeners) listener();
};

/** Watches grouped by address, in the order in which the stream numbers them. */
type Asked = readonly (readonly Watch[])[];

const dispatch = (name: string, event: LiveEvent, asked: Asked): void => {
  const { status = 0, text, offset = 0, base64 = '' } = event;
  for (const { onAnswer, onLog } of asked[event.watch] ?? []) {
    if (name === 'answer') onAnswer?.(status, text);
    if (name === 'log') onLog?.(offset, bytesOfBase64(base64));
  }
};

const readEvents = async (body: ReadableStream<Uint8Array>, asked: Asked) => {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader();
  let text = '';
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: string };
    if (done) return;
    const frames = (text + value).split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      if (name !== undefined && data !== undefined)
        dispatch(name, JSON.parse(data) as LiveEvent, asked);
    }
  }
};

const stream = async (signal: AbortSignal): Promise<void> => {
  const all = [...Map.groupBy(watches, ({ address }) => address())].slice(0, MAX_WATCHES);
  const asked = all.map(([, same]) => same);
  const query = all.map(([address]) => `watch=${encodeURIComponent(address)}`).join('&');
  const answer = await fetch(`/live?${query}`, {
    cache: 'no-store',
    signal,
    headers: sessionHeaders(),
  });
  if (!answer.ok || answer.body === null) return;
  setReported(asked.flat());
  await readEvents(answer.body, asked);
};

/** Opens a stream for the current watches, and another one when it ends. */
const open = async (): Promise<void> => {
  abort?.abort();
  abort = undefined;
  if (reported.size > 0) setReported([]);
  const { secrets, workspaces } = readSession();
  // A browser opens few connections to one server, so hidden tabs leave them to the visible one.
  if (watches.size === 0 || document.hidden || (secrets ?? workspaces) === undefined) return;
  const own = new AbortController();
  abort = own;
  await stream(own.signal).catch(() => undefined);
  if (own.signal.aborted) return;
  const asked = reported;
  setReported([]);
  // The reason, such as a refused token, shows in the ordinary requests that follow.
  for (const { onAnswer } of asked) onAnswer?.(0, undefined);
  schedule(AGAIN_MS);
};

const schedule = (delayMs: number): void => {
  clearTimeout(timer);
  timer = setTimeout(() => void open(), delayMs);
};

document.addEventListener('visibilitychange', () => schedule(0));
subscribeToSession(() => schedule(0));

/** Watches until the returned function is called. */
export const watch = (one: Watch): (() => void) => {
  watches.add(one);
  schedule(SETTLE_MS);
  return () => {
    watches.delete(one);
    schedule(SETTLE_MS);
  };
};

/** Whether a stream currently reports this watch, so that it need not poll. */
export const isReported = (one: Watch | undefined): boolean =>
  one !== undefined && reported.has(one);

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/**
 * Watches an address while the component is shown.
 * @param address undefined watches nothing
 * @returns whether a stream currently reports it
 */
export const useWatch = (
  address: string | undefined,
  onAnswer: (status: number, text: string | undefined) => void,
): boolean => {
  const [watched, setWatched] = useState<Watch>();
  const latest = useRef(onAnswer);
  latest.current = onAnswer;
  useEffect(() => {
    if (address === undefined) return undefined;
    const one: Watch = {
      address: () => address,
      onAnswer: (status, text) => latest.current(status, text),
    };
    setWatched(one);
    const end = watch(one);
    return () => {
      setWatched(undefined);
      end();
    };
  }, [address]);
  return useSyncExternalStore(subscribe, () => isReported(watched));
};
