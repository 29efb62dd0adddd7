/**
 * A live stream: server-sent events that report changes in the answer to a GET. The gateway repeats
 * the GET as an ordinary request of the caller, so the token, its policies and its teams are
 * checked each time, and audit devices record each request. A refusal ends the stream.
 */
import { type Clock, pause } from '@keelson/clock';
import type { EdgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { ServeExchange } from '../answers/answer-with.ts';
import type { Exchange } from '../request/exchange.ts';
import type { Watch } from './watches.ts';

const EVERY_MS = 1000;
/** Proxies close connections that are silent for a minute. */
const SIGN_OF_LIFE_MS = 15_000;
/** Shorter than the validity of the signed addresses in the documents that a stream carries. */
const LIFETIME_MS = 10 * 60 * 1000;
const LARGEST_ANSWER_BYTES = 1024 * 1024;
const LOG_PIECE_BYTES = 256 * 1024;
const REFUSED: readonly number[] = [401, 403];
/** Label of the metrics. */
const GROUP = 'live';

export interface LiveParts {
  readonly clock: Clock;
  readonly serve: Readonly<Record<Watch['api'], ServeExchange>>;
  /** Whether the process is about to stop; streams then end, and clients reconnect elsewhere. */
  readonly isDraining: () => boolean;
}

interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
}

/** The report of one round about one watched path. */
interface Told {
  readonly status: number;
  /** Absent if nothing has changed. */
  readonly frame?: Uint8Array;
  /** Whether a log has more bytes than fit in the frame, to be read at once. */
  readonly hasMore?: boolean;
}

const EMPTY = new Uint8Array();

const bytesOf = async ({ body }: EdgeResponse): Promise<Uint8Array> => {
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > LARGEST_ANSWER_BYTES)
      throw new KeelsonError('request.invalid', {
        text: `an answer of more than ${LARGEST_ANSWER_BYTES} bytes cannot be watched`,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const event = (name: string, data: object): Uint8Array =>
  Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);

/** Signed addresses have a new expiry in each answer, which does not count as a change. */
const comparable = (text: string): string => text.replaceAll(/\/(?:uploads|downloads)\/[^"]*/g, '');

/** A watched path with the last state that was sent. */
interface Watched {
  readonly watch: Watch;
  readonly index: number;
  last: string | undefined;
  offset: number;
}

export const createLiveStream = ({ clock, serve, isDraining }: LiveParts) => {
  /** Repeats a GET of the caller and returns the answer. */
  const ask = async (exchange: Exchange, { api, path }: Watch, query: string): Promise<Answer> => {
    const { head } = exchange;
    exchange.head = { ...head, method: 'GET', path, query };
    try {
      const response = await serve[api](exchange);
      return { status: response.head.status, body: await bytesOf(response) };
    } catch (error) {
      return { status: KeelsonError.from(error).httpStatus, body: EMPTY };
    } finally {
      exchange.head = head;
      exchange.group = GROUP;
      // Reading from a signed address has replaced the time limit.
      exchange.limitTo(2 * LIFETIME_MS);
    }
  };

  const readDocument = async (exchange: Exchange, watched: Watched): Promise<Told> => {
    const { watch, index: at } = watched;
    const { status, body } = await ask(exchange, watch, watch.query);
    const text = Buffer.from(body).toString();
    const state = `${status} ${comparable(text)}`;
    if (state === watched.last) return { status };
    watched.last = state;
    const isJson = text.startsWith('{');
    return { status, frame: event('answer', { watch: at, status, ...(isJson && { text }) }) };
  };

  const readLog = async (exchange: Exchange, watched: Watched): Promise<Told> => {
    const { watch, index: at, offset } = watched;
    const query = new URLSearchParams(watch.query);
    query.set('limit', String(LOG_PIECE_BYTES));
    query.set('offset', String(offset));
    const { status, body } = await ask(exchange, watch, query.toString());
    if (status !== 200 || body.byteLength === 0) return { status };
    watched.offset += body.byteLength;
    const base64 = Buffer.from(body).toString('base64');
    return {
      status,
      frame: event('log', { watch: at, offset, base64 }),
      hasMore: body.byteLength === LOG_PIECE_BYTES,
    };
  };

  /**
   * Yields frames until the caller is refused or disconnects, the process stops, or the lifetime
   * ends.
   */
  return async function* frames(
    exchange: Exchange,
    watches: readonly Watch[],
  ): AsyncGenerator<Uint8Array, void> {
    const { signal } = exchange;
    const endsAtMs = clock.nowMs() + LIFETIME_MS;
    const all = watches.map((watch, index): Watched => {
      const offset = Number(new URLSearchParams(watch.query).get('offset') ?? 0);
      return { watch, index, last: undefined, offset };
    });
    yield Buffer.from(`retry: ${EVERY_MS}\n\n`);
    let sentAtMs = clock.nowMs();
    while (!signal.aborted && !isDraining() && clock.nowMs() < endsAtMs) {
      for (const watched of all) {
        const read = watched.watch.isLog ? readLog : readDocument;
        let told: Told;
        do {
          told = await read(exchange, watched);
          if (told.frame !== undefined) {
            yield told.frame;
            sentAtMs = clock.nowMs();
          }
        } while (told.hasMore === true);
        if (REFUSED.includes(told.status)) {
          yield event('end', { watch: watched.index, status: told.status });
          return;
        }
      }
      if (clock.nowMs() - sentAtMs >= SIGN_OF_LIFE_MS) {
        yield Buffer.from(': alive\n\n');
        sentAtMs = clock.nowMs();
      }
      await pause(clock, EVERY_MS, signal);
    }
  };
};
