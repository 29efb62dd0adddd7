/** Registers an RPC implementation with a gRPC server. */

import { once } from 'node:events';
import type {
  Metadata,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  StatusObject,
  sendUnaryData,
  UntypedHandleCall,
} from '@grpc/grpc-js';
import { KeelsonError } from '@keelson/errors';
import { toGrpcStatus } from './grpc-status.ts';
import { type PeerCall, peerService } from './peer.ts';
import type { CallOptions, RpcDefinition, RpcService, UntypedMethod } from './rpc-service.ts';
import { fullMethodName } from './rpc-service.ts';
import { toGrpcServiceDefinition } from './service-definition.ts';
import { serveInTrace, type TraceCarrier } from './trace-context.ts';

/**
 * Which services may call: named ones, any service with a certificate of the internal CA, or anyone (only for
 * enrolment, which has its own proof of identity).
 */
export type Callers = readonly string[] | 'any-service' | 'anyone';

/** Called with unexpected errors of handlers, which are bugs; the caller only sees `internal`. */
export type ReportBug = (error: unknown, method: string) => void;

export interface ServiceOptions {
  readonly callers?: Callers;
  /** Called with bugs, for logging. */
  readonly report?: ReportBug;
}

export interface GrpcRegistration {
  readonly definition: ServiceDefinition;
  readonly handlers: Readonly<Record<string, UntypedHandleCall>>;
  readonly callers: Callers;
  /** Called when the server stops. Must accept no new work, and resolve when the current work has ended. */
  readonly drain?: () => Promise<void>;
}

const carrierOf = (metadata: Metadata): TraceCarrier =>
  Object.fromEntries(
    ['traceparent', 'tracestate'].flatMap((name) => {
      const value = metadata.get(name)[0];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );

interface Cancellable {
  readonly cancelled: boolean;
  on(event: 'cancelled', listener: () => void): unknown;
}

const callOptions = (call: PeerCall & Cancellable): CallOptions => {
  const controller = new AbortController();
  // grpc-js reports both a cancellation by the caller and a passed deadline here.
  call.on('cancelled', () => controller.abort(new KeelsonError('request.cancelled')));
  if (call.cancelled) controller.abort(new KeelsonError('request.cancelled'));
  const peer = peerService(call);
  return { signal: controller.signal, ...(peer === undefined ? {} : { peer }) };
};

const statusOf = (error: unknown, method: string, report: ReportBug): StatusObject => {
  if (!(error instanceof KeelsonError)) report(error, method);
  return toGrpcStatus(error);
};

const unaryHandler =
  (name: string, method: UntypedMethod, report: ReportBug) =>
  (call: ServerUnaryCall<unknown, unknown>, callback: sendUnaryData<unknown>): void => {
    const answer = serveInTrace(carrierOf(call.metadata), name, () =>
      Promise.resolve(method(call.request, callOptions(call)) as Promise<unknown>),
    );
    // oxlint-disable promise/no-callback-in-promise -- grpc-js takes the answer through a callback
    answer.then(
      (response) => callback(null, response),
      (error: unknown) => callback(statusOf(error, name, report)),
    );
    // oxlint-enable promise/no-callback-in-promise
  };

const streamingHandler =
  (name: string, method: UntypedMethod, report: ReportBug) =>
  (call: ServerWritableStream<unknown, unknown>): void => {
    const options = callOptions(call);
    const serve = async (): Promise<void> => {
      for await (const message of method(call.request, options) as AsyncIterable<unknown>) {
        if (options.signal?.aborted) return;
        if (!call.write(message)) {
          await once(call, 'drain', options.signal ? { signal: options.signal } : {});
        }
      }
    };
    serveInTrace(carrierOf(call.metadata), name, serve).then(
      () => call.end(),
      (error: unknown) => {
        // After a cancellation nobody receives the error.
        if (!call.cancelled) call.emit('error', statusOf(error, name, report));
      },
    );
  };

/** Binds an implementation to its definition. */
export const implementService = <D extends RpcDefinition>(
  definition: D,
  implementation: RpcService<D>,
  { callers = 'any-service', report = () => undefined }: ServiceOptions = {},
): GrpcRegistration => ({
  definition: toGrpcServiceDefinition(definition),
  callers,
  handlers: Object.fromEntries(
    Object.entries(definition.methods).map(([key, method]) => {
      const call = (implementation as Record<string, UntypedMethod>)[key] as UntypedMethod;
      const bound: UntypedMethod = (request, options) =>
        call.call(implementation, request, options);
      const name = fullMethodName(definition, method);
      if (method.requestStream) {
        throw new TypeError(`${name}: streams of requests are not served by an RpcService`);
      }
      return [
        key,
        method.responseStream
          ? streamingHandler(name, bound, report)
          : unaryHandler(name, bound, report),
      ];
    }),
  ),
});
