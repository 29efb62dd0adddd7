/**
 * One description per RPC service (ts-proto generic definitions) gives three things: the TypeScript
 * interface below, which callers and implementations use; a gRPC client and server for it; and a client
 * and dispatcher on the edge stream. In standalone mode the implementation is passed where a client is
 * expected.
 */
import type { MessageFns } from '@keelson/proto/edge/v1/edge';

export interface RpcMethod {
  readonly name: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the codec of any message
  readonly requestType: MessageFns<any>;
  readonly requestStream: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- the codec of any message
  readonly responseType: MessageFns<any>;
  readonly responseStream: boolean;
  /** Set for methods that may be repeated when it is unknown whether the first attempt arrived. */
  readonly options?: { readonly idempotencyLevel?: 'NO_SIDE_EFFECTS' | 'IDEMPOTENT' };
}

export interface RpcDefinition {
  readonly name: string;
  readonly fullName: string;
  readonly methods: Readonly<Record<string, RpcMethod>>;
}

type Message<M> = M extends { decode(...args: never[]): infer T } ? T : never;

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Time left for the call, in milliseconds. */
  readonly timeoutMs?: number;
  /** The calling service, authenticated by its certificate; set for implementations only. */
  readonly peer?: string;
}

/** The interface of a service: unary methods return a promise, server-streaming ones an async iterable. */
export type RpcService<D extends RpcDefinition> = {
  readonly [M in keyof D['methods']]: (
    request: Message<D['methods'][M]['requestType']>,
    options?: CallOptions,
  ) => D['methods'][M]['responseStream'] extends true
    ? AsyncIterable<Message<D['methods'][M]['responseType']>>
    : Promise<Message<D['methods'][M]['responseType']>>;
};

/** A method of an implementation or client, without its message types. */
export type UntypedMethod = (
  request: unknown,
  options?: CallOptions,
) => Promise<unknown> | AsyncIterable<unknown>;

/** "keelson.sys.v1.Access/Resolve". */
export const fullMethodName = (definition: RpcDefinition, method: RpcMethod): string =>
  `${definition.fullName}/${method.name}`;
