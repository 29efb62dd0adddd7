import type { ServerDuplexStream, sendUnaryData } from '@grpc/grpc-js';
import { type Clock, systemClock } from '@keelson/clock';
import {
  type CheckResponse,
  type ClientFrames,
  EdgeDefinition,
  type PositionResponse,
  type ServerFrames,
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
import { RequestTurns } from './request-turns.ts';
import { ServerStream } from './server-stream.ts';

/** A unary gRPC call, whose result is passed to a callback. */
const unary =
  <Answer>(answer: () => Promise<Answer>) =>
  (_call: unknown, callback: sendUnaryData<Answer>): void => {
    // oxlint-disable promise/no-callback-in-promise -- see above
    answer().then(
      (answered) => callback(null, answered),
      (error: unknown) => callback(toGrpcStatus(error)),
    );
    // oxlint-enable promise/no-callback-in-promise
  };

export interface EdgeServerOptions {
  /** Services that may open a stream; only the gateway by default. */
  readonly callers?: Callers;
  /** Called with bugs, for logging; the client only sees `internal`. */
  readonly report?: ReportBug;
  readonly clock?: Clock;
}

/** Calls of `keelson.edge.v1.Edge` other than requests, available on the stream and as unary calls. */
const callsOf = (service: EdgeService) => ({
  describe: () => service.describe(),
  check: async (): Promise<CheckResponse> => ({ impaired: [...(await service.check())] }),
  position: async (): Promise<PositionResponse> => {
    const sequence = await service.position();
    return { sequence: sequence === undefined ? undefined : BigInt(sequence) };
  },
});

/**
 * Registrations for `createRpcServer` of an EdgeService, whose requests arrive on edge streams, and of the
 * unary services in `calls`.
 */
export const createEdgeServer = <const Ds extends readonly RpcDefinition[]>(
  service: EdgeService,
  calls: CallEntries<Ds>,
  { callers = ['gateway'], report = () => undefined, clock = systemClock }: EdgeServerOptions = {},
): GrpcRegistration => {
  const own = callsOf(service);
  const handlers = callHandlers([...calls, [EdgeDefinition, own]]);
  const streams = new Set<ServerStream>();
  const turns = new RequestTurns();
  let isDraining = false;

  const exchange = (stream: ServerDuplexStream<ClientFrames, ServerFrames>): void => {
    const peer = peerService(stream);
    const served = new ServerStream({
      stream,
      service,
      calls: handlers,
      clock,
      report,
      peer,
      turns,
    });
    streams.add(served);
    void served.finished.then(() => streams.delete(served));
    if (isDraining) void served.drain();
  };

  return {
    definition: toGrpcServiceDefinition(EdgeDefinition),
    handlers: {
      exchange,
      describe: unary(own.describe),
      check: unary(own.check),
      position: unary(own.position),
    },
    callers,
    drain: async () => {
      isDraining = true;
      await Promise.all([...streams].map((stream) => stream.drain()));
    },
  };
};
