/**
 * A live stream: server-sent events that report changes in the answer to a GET. The gateway repeats
 * the GET as an ordinary request of the caller when a service has committed something, so the token,
 * its policies and its teams are checked each time. Audit devices record each answer that is sent. A
 * refusal ends the stream.
 */
import { type Clock, pause } from '@keelson/clock';
import type { EdgeService } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { ServeExchange } from '../answers/answer-with.ts';
import { responseBytes } from '../answers/response-bytes.ts';
import type { Exchange, RepeatedGet } from '../request/exchange.ts';
import type { Watch } from './watches.ts';

const EVERY_MS = 1000;
/** Interval without a commit, because some answers change with the time: lifetimes, seal, replication. */
const REPEAT_MS = 5000;
/** Proxies close connections that are silent for a minute. */
const SIGN_OF_LIFE_MS = 15_000;
/** Shorter than the validity of the signed addresses in the documents that a stream carries. */
const LIFETIME_MS = 10 * 60 * 1000;
const LARGEST_ANSWER_BYTES = 1024 * 1024;
const LOG_PIECE_BYTES = 256 * 1024;
const REFUSED: readonly number[] = [401, 403];
/** This status and greater ones: the same request may succeed later. */
export const TOO_MANY_REQUESTS = 429;
/** Label of the metrics. */
const GROUP = 'live';

export interface LiveParts {
  readonly clock: Clock;
  readonly serve: Readonly<Record<Watch['api'], ServeExchange>>;
  readonly services: readonly EdgeService[];
  /** Whether the process is about to stop; streams then end, and clients reconnect elsewhere. */
  readonly isDraining: () => boolean;
}

interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
}

/** Result of polling one path. */
interface Report {
  readonly status: number;
  /** Absent if nothing has changed. */
  readonly frame?: Uint8Array;
  /** Whether a log has more bytes than fit in the frame, to be read at once. */
  readonly hasMore?: boolean;
}

const EMPTY = new Uint8Array();

export const event = (name: string, data: object): Uint8Array =>
  Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);

/** Signed addresses have a new expiry in each answer, which does not count as a change. */
const withoutSignedUrls = (text: string): string =>
  text.replaceAll(/\/(?:uploads|downloads)\/[^"]*/g, '');

/** A watched path with the last state that was sent. */
interface Watched {
  readonly watch: Watch;
  readonly index: number;
  last: string | undefined;
  offset: number;
  /** The position of the services when it was last asked; undefined when it has to be asked. */
  position: string | undefined;
  askedAtMs: number;
}

/** The positions of all services; undefined when one of them is not known within an interval. */
const positionOf = async (
  services: readonly EdgeService[],
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const positions = Promise.all(services.map((service) => service.position()));
  const late = pause(clock, EVERY_MS, signal).then((): undefined => undefined);
  const known = await Promise.race([positions, late]).catch(() => undefined);
  return known === undefined || known.includes(undefined) ? undefined : known.join();
};

export const createLiveStream = ({ clock, serve, services, isDraining }: LiveParts) => {
  /** Repeats a GET of the caller and returns the answer. */
  const ask = async (
    exchange: Exchange,
    { api, path }: Watch,
    query: string,
    isSent: RepeatedGet['isSent'],
  ): Promise<Answer> => {
    const { head } = exchange;
    exchange.head = { ...head, method: 'GET', path, query };
    exchange.repeated = { limitBytes: LARGEST_ANSWER_BYTES, isSent };
    try {
      const response = await serve[api](exchange);
      return {
        status: response.head.status,
        body: await responseBytes(response, LARGEST_ANSWER_BYTES),
      };
    } catch (error) {
      return { status: KeelsonError.from(error).httpStatus, body: EMPTY };
    } finally {
      exchange.head = head;
      exchange.group = GROUP;
      exchange.repeated = undefined;
      // Reading from a signed address has replaced the time limit.
      exchange.limitTo(2 * LIFETIME_MS);
    }
  };

  const readDocument = async (exchange: Exchange, watched: Watched): Promise<Report> => {
    const { watch, index: at } = watched;
    const stateOf = (status: number, body: Uint8Array): string =>
      `${status} ${withoutSignedUrls(Buffer.from(body).toString())}`;
    const { status, body } = await ask(
      exchange,
      watch,
      watch.query,
      (...answer) => stateOf(...answer) !== watched.last,
    );
    const state = stateOf(status, body);
    if (state === watched.last) return { status };
    watched.last = state;
    const text = Buffer.from(body).toString();
    const isJson = text.startsWith('{');
    return { status, frame: event('answer', { watch: at, status, ...(isJson && { text }) }) };
  };

  const readLog = async (exchange: Exchange, watched: Watched): Promise<Report> => {
    const { watch, index: at, offset } = watched;
    const query = new URLSearchParams(watch.query);
    query.set('limit', String(LOG_PIECE_BYTES));
    query.set('offset', String(offset));
    const isSent = (status: number, body: Uint8Array): boolean =>
      status === 200 && body.byteLength > 0;
    const { status, body } = await ask(
      exchange,
      watch,
      query.toString(),
      // A refusal is sent, too, as the end of the stream.
      (...answer) => isSent(...answer) || REFUSED.includes(answer[0]),
    );
    if (!isSent(status, body)) return { status };
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
      return { watch, index, last: undefined, offset, position: undefined, askedAtMs: 0 };
    });
    yield Buffer.from(`retry: ${EVERY_MS}\n\n`);
    let sentAtMs = clock.nowMs();
    while (!signal.aborted && !isDraining() && clock.nowMs() < endsAtMs) {
      const position = await positionOf(services, clock, signal);
      for (const watched of all) {
        const isUnchanged = position !== undefined && position === watched.position;
        if (isUnchanged && clock.nowMs() - watched.askedAtMs < REPEAT_MS) continue;
        Object.assign(watched, { position, askedAtMs: clock.nowMs() });
        const read = watched.watch.isLog ? readLog : readDocument;
        let report: Report;
        do {
          report = await read(exchange, watched);
          if (report.frame !== undefined) {
            yield report.frame;
            sentAtMs = clock.nowMs();
          }
        } while (report.hasMore === true);
        // The same request may succeed next time.
        if (report.status >= TOO_MANY_REQUESTS) watched.position = undefined;
        if (REFUSED.includes(report.status)) {
          yield event('end', { watch: watched.index, status: report.status });
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
