/**
 * The interface between gateway and service. In standalone mode the gateway holds the service itself; in
 * distributed mode it holds a client with the same interface, whose requests travel on an edge stream.
 */
import type { RequestHead, ResponseHead, ServiceDescription } from '@keelson/proto/edge/v1/edge';

/** A request body that is read once. */
export interface EdgeBody {
  /**
   * The whole body, if it is already in memory: it is then sent together with the head, and can be sent
   * again.
   */
  readonly buffered?: Uint8Array;
  /**
   * The whole body.
   * @throws KeelsonError `request.too_large` when it has more than `limitBytes`
   */
  bytes(limitBytes: number): Promise<Uint8Array>;
  /** The body as it arrives. Back-pressure to the client follows from the speed of reading. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface EdgeRequest {
  readonly head: RequestHead;
  readonly body: EdgeBody;
  /** Aborts when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal;
  /** Time left until the head of the response is due, in milliseconds; absent means no limit. */
  readonly timeoutMs?: number | undefined;
  /** The owner of the share that the request uses. At a service in another process, tenants take turns. */
  readonly tenant?: string;
}

export interface EdgeResponse {
  readonly head: ResponseHead;
  /** Bytes for ordinary responses; an iterable for large ones, read as the client receives them. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * Whether the same method, path, query, body and principal would get this same response now. Present only
   * if the response depends on nothing else: neither on other callers nor on headers. Not transferred on a
   * stream.
   */
  readonly isStillValid?: () => Promise<boolean>;
}

export interface EdgeService {
  /**
   * Does not reject for an expected refusal: the service answers those with its own error documents.
   * @throws KeelsonError `storage.superseded`, `storage.sealed`, `sys.sealed`, so that another replica can be asked
   */
  handle(request: EdgeRequest): Promise<EdgeResponse>;
  describe(): Promise<ServiceDescription>;
  /**
   * Resolves if the service can serve requests, with sentences for operators about anything impaired.
   * @throws KeelsonError if it cannot: `storage.unavailable`, `storage.lost`, `edge.backend_unavailable`
   */
  check(): Promise<readonly string[]>;
  /**
   * The sequence of the newest commit of the service's store. Until it changes, the answer to a GET changes only
   * with the time. Undefined if not known.
   */
  position(): Promise<number | undefined>;
}

const EMPTY = new Uint8Array(0);

/** Headers as they are transferred, one entry for each value. */
const headerList = (
  headers: Readonly<Record<string, string | readonly string[]>>,
): ResponseHead['headers'] => {
  const list: ResponseHead['headers'] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') list.push({ name, value });
    else for (const one of value) list.push({ name, value: one });
  }
  return list;
};

/** Builds a response. Header names are in lower case. */
export const edgeResponse = (
  status: number,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  body: Uint8Array | AsyncIterable<Uint8Array> = EMPTY,
): EdgeResponse => ({ head: { status, headers: headerList(headers) }, body });
