/** Waiting on the live stream of a control plane, which reports an answer when it has changed. */
import type { JsonObject } from './planned-run.ts';

export interface LiveSite {
  /** "http://127.0.0.1:PORT" */
  readonly origin: string;
  /** Headers that carry the token of the caller. */
  readonly headers: Readonly<Record<string, string>>;
}

interface LiveEvent {
  readonly name: string;
  readonly data: { readonly status?: number; readonly text?: string; readonly base64?: string };
}

const PATIENCE_MS = 180_000;

/** The events about a path, until the stream or the signal ends it. */
async function* eventsOf(
  { origin, headers }: LiveSite,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<LiveEvent, void> {
  const query = new URLSearchParams({ watch: path });
  const answer = await fetch(`${origin}/live?${query.toString()}`, { headers, signal });
  if (!answer.ok || answer.body === null)
    throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  let text = '';
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      if (name !== undefined && data !== undefined) yield { name, data: JSON.parse(data) };
    }
  }
}

/** The first event of which `choose` makes something. @throws Error with the last event */
const choose = async <T>(
  site: LiveSite,
  path: string,
  limitMs: number,
  chosen: (event: LiveEvent) => T | undefined,
): Promise<T> => {
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(limitMs)]);
  let last: LiveEvent | undefined;
  try {
    for await (const event of eventsOf(site, path, signal)) {
      last = event;
      const result = chosen(event);
      if (result !== undefined) return result;
    }
  } catch (cause) {
    throw new Error(`${path}: the last event was ${JSON.stringify(last)}`, { cause });
  } finally {
    abort.abort();
  }
  throw new Error(`${path}: the stream ended with ${JSON.stringify(last)}`);
};

export interface LiveAnswer {
  readonly status: number;
  /** Undefined unless it is JSON. */
  readonly body: JsonObject;
}

/**
 * Waits until a GET is answered as wanted.
 * @param path with its query
 * @returns what `wanted` returns, if not undefined
 */
export const awaitAnswer = <T>(
  site: LiveSite,
  path: string,
  wanted: (answer: LiveAnswer) => T | undefined,
  limitMs = PATIENCE_MS,
): Promise<T> =>
  choose(site, path, limitMs, ({ name, data: { status = 0, text } }) =>
    name === 'answer'
      ? wanted({ status, body: text === undefined ? undefined : JSON.parse(text) })
      : undefined,
  );

/** Waits until the log at a signed address contains a text. */
export const awaitLogText = async (
  site: LiveSite,
  address: string,
  text: string,
  limitMs = PATIENCE_MS,
): Promise<void> => {
  const { pathname, search } = new URL(address);
  let log = '';
  await choose(site, pathname + search, limitMs, ({ data: { base64 = '' } }) => {
    log += Buffer.from(base64, 'base64').toString();
    return log.includes(text) ? true : undefined;
  });
};
