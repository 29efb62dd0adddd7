import type { ServerDuplexStream, sendUnaryData } from '@grpc/grpc-js';
import { type Clock, systemClock } from '@keelson/clock';
import {
  type ClientFrames,
  EdgeDefinition,
  type ServerFrames,
  type ServiceDescription,
} from '@keelson/proto/edge/v1/edge';
import {
  type Callers,
  type GrpcRegistration,
  peerService,
  type ReportBug,
  type RpcDefinition,
  toGrpcServiceDefinition,
  toGrpcStatus,
} from '@keelson/rpc';
import type { EdgeService } from '../edge-service.ts';
import { type CallEntries, callHandlers } from './call-dispatcher.ts';
import { ServerStream } from './server-stream.ts';

export interface EdgeServerOptions {
  /** Which services may open a stream; only the gateway by default. */
  readonly callers?: Callers;
  /** Where bugs are logged; the client sees `internal`. */
  readonly report?: ReportBug;
  readonly clock?: Clock;
}

/** What is called on the stream under `keelson.edge.v1.Edge/Describe`. */
export const describeOnly = (service: EdgeService): object => ({
  describe: () => service.describe(),
});

/**
 * An EdgeService, and the unary services of `calls`, for `createRpcServer`: requests arrive on edge
 * streams.
 */
export const createEdgeServer = <const Ds extends readonly RpcDefinition[]>(
  service: EdgeService,
  calls: CallEntries<Ds>,
  { callers = ['gateway'], report = () => undefined, clock = systemClock }: EdgeServerOptions = {},
): GrpcRegistration => {
  const handlers = callHandlers([...calls, [EdgeDefinition, describeOnly(service)]]);
  const streams = new Set<ServerStream>();
  let isDraining = false;

  const exchange = (stream: ServerDuplexStream<ClientFrames, ServerFrames>): void => {
    const peer = peerService(stream);
    const served = new ServerStream({ stream, service, calls: handlers, clock, report, peer });
    streams.add(served);
    void served.finished.then(() => streams.delete(served));
    if (isDraining) void served.drain();
  };

  const describe = (_call: unknown, callback: sendUnaryData<ServiceDescription>): void => {
    // oxlint-disable promise/no-callback-in-promise -- grpc-js takes the answer through a callback
    service.describe().then(
      (description) => callback(null, description),
      (error: unknown) => callback(toGrpcStatus(error)),
    );
    // oxlint-enable promise/no-callback-in-promise
  };

  return {
    definition: toGrpcServiceDefinition(EdgeDefinition),
    handlers: { exchange, describe },
    callers,
    drain: async () => {
      isDraining = true;
      await Promise.all([...streams].map((stream) => stream.drain()));
    },
  };
};
