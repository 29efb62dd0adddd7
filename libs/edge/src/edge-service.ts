/**
 * What a service is to the gateway. In standalone mode the gateway holds the service itself; in
 * distributed mode it holds a client with the same interface whose requests travel on an edge stream.
 */
import type { RequestHead, ResponseHead, ServiceDescription } from '@keelson/proto/edge/v1/edge';

/** A request body that is read once. */
export interface EdgeBody {
  /** The whole body where it is already in memory: it then travels with the head, and can be sent again. */
  readonly buffered?: Uint8Array;
  /**
   * The whole body.
   * @throws KeelsonError `request.too_large` when it has more than `limitBytes`
   */
  bytes(limitBytes: number): Promise<Uint8Array>;
  /** The body as it arrives; reading drives back-pressure to the client. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface EdgeRequest {
  readonly head: RequestHead;
  readonly body: EdgeBody;
  /** Aborted when the client goes away or the deadline passes. */
  readonly signal: AbortSignal;
  /** Time left until the answer's head must be there, in milliseconds; none when absent. */
  readonly timeoutMs?: number;
}

export interface EdgeResponse {
  readonly head: ResponseHead;
  /** Bytes for ordinary answers; an iterable for large ones, pulled as the client reads. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * Whether the same method, path, query, body and principal would get this very answer now. Given only
   * where the answer depends on nothing else of the request: on no other caller, and not on headers. Does
   * not travel on a stream.
   */
  readonly stands?: () => Promise<boolean>;
}

export interface EdgeService {
  /** Never rejects for an expected refusal: those are answered in the service's own dialect. */
  handle(request: EdgeRequest): Promise<EdgeResponse>;
  describe(): Promise<ServiceDescription>;
  /**
   * Resolves while the service can serve requests, with what does not work nevertheless: sentences for
   * those who run it.
   * @throws KeelsonError with what keeps it from that: `storage.unavailable`, `storage.lost`,
   *   `edge.backend_unavailable`
   */
  check(): Promise<readonly string[]>;
}

const EMPTY = new Uint8Array(0);

/** An answer from its parts. Header names are lower-case. */
export const edgeResponse = (
  status: number,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  body: Uint8Array | AsyncIterable<Uint8Array> = EMPTY,
): EdgeResponse => ({
  head: {
    status,
    headers: Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [{ name, value }] : value.map((one) => ({ name, value: one })),
    ),
  },
  body,
});
