/** Typed unary calls transferred on the edge stream. */
import { KeelsonError } from '@keelson/errors';
import {
  type CallOptions,
  decodeMessage,
  encodeMessage,
  fullMethodName,
  type RpcDefinition,
  type RpcService,
  type UntypedMethod,
} from '@keelson/rpc';

export type CallHandler = (payload: Uint8Array, options: CallOptions) => Promise<Buffer>;

/** A definition and its implementation, for each definition of a tuple. */
export type CallEntries<Ds extends readonly RpcDefinition[]> = {
  readonly [I in keyof Ds]: readonly [Ds[I], RpcService<Ds[I]>];
};

/** Handlers by full method name. Streaming methods cannot be called on the stream. */
export const callHandlers = (
  entries: readonly (readonly [RpcDefinition, object])[],
): ReadonlyMap<string, CallHandler> =>
  new Map(
    entries.flatMap(([definition, implementation]) =>
      Object.entries(definition.methods)
        .filter(([, method]) => !method.requestStream && !method.responseStream)
        .map(([key, method]): [string, CallHandler] => {
          const serve = (implementation as Record<string, UntypedMethod>)[key] as UntypedMethod;
          return [
            fullMethodName(definition, method),
            async (payload, options) => {
              const request = decodeMessage(method.requestType, payload);
              const response = await serve.call(implementation, request, options);
              return encodeMessage(method.responseType, response);
            },
          ];
        }),
    ),
  );

/** Sends one call: full method name, whether it may be repeated, encoded request. */
export type SendCall = (
  method: { readonly fullName: string; readonly isRepeatable: boolean },
  payload: Buffer,
  options: CallOptions,
) => Promise<Uint8Array>;

/**
 * A client with the service's interface that calls `send`.
 * @throws TypeError for a definition with streaming methods
 */
export const callClient = <D extends RpcDefinition>(definition: D, send: SendCall): RpcService<D> =>
  Object.fromEntries(
    Object.entries(definition.methods).map(([key, method]) => {
      if (method.requestStream || method.responseStream) {
        throw new TypeError(`${fullMethodName(definition, method)} streams: use createRpcClient`);
      }
      const target = {
        fullName: fullMethodName(definition, method),
        isRepeatable: method.options?.idempotencyLevel !== undefined,
      };
      const call = async (request: unknown, options: CallOptions = {}): Promise<unknown> => {
        const payload = encodeMessage(method.requestType, request);
        return decodeMessage(method.responseType, await send(target, payload, options));
      };
      return [key, call];
    }),
  ) as unknown as RpcService<D>;

export const unknownMethod = (method: string): KeelsonError =>
  new KeelsonError('request.not_found', { text: `no method ${method} on this stream` });
