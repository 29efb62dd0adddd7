import { KeelsonError } from '@keelson/errors';
import { EdgeDefinition } from '@keelson/proto/edge/v1/edge';
import { type RpcDefinition, type RpcService } from '@keelson/rpc';
import type { EdgeRequest, EdgeResponse, EdgeService } from '../edge-service.ts';
import { callClient, type SendCall } from './call-dispatcher.ts';
import type { EdgeConnection } from './edge-connection.ts';
import { MAX_CALL_BYTES, MAX_HEAD_BYTES, requestHeadSize } from './edge-limits.ts';
import { EdgePool, type EdgePoolOptions, type ReplicaStatus } from './edge-pool.ts';

export interface ConnectedEdge {
  /** The service on the other side. */
  readonly edge: EdgeService;
  /** A client of a unary service that the edge server implements. */
  client<D extends RpcDefinition>(definition: D): RpcService<D>;
  /** All current streams. */
  readonly status: readonly ReplicaStatus[];
  /** Finishes open calls and disconnects. */
  close(): Promise<void>;
}

/** Requests that every replica must receive, because each has a state of its own. */
export interface EveryReplica {
  readonly applies: (head: EdgeRequest['head']) => boolean;
  /** @param responses at least one @returns the one for the client */
  readonly choose: (responses: readonly EdgeResponse[]) => EdgeResponse;
}

/** RFC 9110 §9.2.1, and LIST. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'LIST']);

/** Time limit of a call that sets none. */
const DEFAULT_CALL_TIMEOUT_MS = 30_000;

/**
 * Connects to the replicas of a service; requests wait briefly while no stream is open yet.
 * @param everyReplica requests that do not go to one of them alone
 */
export const connectEdge = (
  options: EdgePoolOptions,
  everyReplica?: EveryReplica,
): ConnectedEdge => {
  const pool = new EdgePool(options);

  const handle = (request: EdgeRequest): Promise<EdgeResponse> => {
    if (requestHeadSize(request.head) > MAX_HEAD_BYTES) {
      const limit = { limitBytes: MAX_HEAD_BYTES };
      return Promise.reject(new KeelsonError('request.head_too_large', limit));
    }
    const attempt = {
      isRepeatable: SAFE_METHODS.has(request.head.method),
      canResend: request.body.buffered !== undefined,
      signal: request.signal,
      timeoutMs: request.timeoutMs,
    };
    const send = (connection: EdgeConnection, timeoutMs: number | undefined) =>
      connection.request(request, timeoutMs);
    if (attempt.canResend && everyReplica?.applies(request.head) === true)
      return pool.runOnEach(attempt, send).then(everyReplica.choose);
    return pool.run(attempt, send);
  };

  const send: SendCall = (method, payload, { signal, timeoutMs = DEFAULT_CALL_TIMEOUT_MS }) => {
    if (payload.byteLength > MAX_CALL_BYTES) {
      const limit = { limitBytes: MAX_CALL_BYTES };
      return Promise.reject(new KeelsonError('request.too_large', limit));
    }
    return pool.run(
      { isRepeatable: method.isRepeatable, canResend: true, signal, timeoutMs },
      (connection, leftMs) =>
        connection.call(method.fullName, payload, { signal, timeoutMs: leftMs }),
    );
  };

  const { describe, check, position } = callClient(
    {
      ...EdgeDefinition,
      methods: {
        describe: EdgeDefinition.methods.describe,
        check: EdgeDefinition.methods.check,
        position: EdgeDefinition.methods.position,
      },
    },
    send,
  );
  return {
    edge: {
      handle,
      describe: () => describe({}),
      check: async () => (await check({})).impaired,
      position: async () => {
        const { sequence } = await position({});
        return sequence === undefined ? undefined : Number(sequence);
      },
    },
    client: (definition) => callClient(definition, send),
    get status() {
      return pool.status;
    },
    close: () => pool.close(),
  };
};
