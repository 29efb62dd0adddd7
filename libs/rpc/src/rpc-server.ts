/**
 * The gRPC server of a service process: registrations, access checks, health, and a stop that finishes open
 * calls.
 */

import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type sendUnaryData,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { type ErrorCode, KeelsonError } from '@keelson/errors';
import { HealthImplementation } from 'grpc-health-check';
import { MAX_MESSAGE_BYTES, transportOptions } from './channel-options.ts';
import { toGrpcStatus } from './grpc-status.ts';
import { peerService } from './peer.ts';
import type { Callers, GrpcRegistration } from './registration.ts';
import type { TlsIdentity } from './tls-identity.ts';

export interface RpcServerOptions {
  /** "host:port"; port 0 picks a free one. */
  readonly address: string;
  /** Undefined serves plain text without authenticating callers, for loopback and tests only. */
  readonly tls?: TlsIdentity | undefined;
  /** Results of `implementService(definition, implementation, callers)`, and the edge server. */
  readonly services: readonly GrpcRegistration[];
}

export interface RpcServer {
  readonly port: number;
  /**
   * Reports NOT_SERVING, accepts no new connections or streams, and lets open calls finish.
   * @param graceMs time after which open calls are cut off
   */
  stop(graceMs?: number): Promise<void>;
}

const DEFAULT_GRACE_MS = 10_000;

const isAllowed = (callers: Callers, peer: string | undefined): boolean => {
  if (callers === 'anyone') return true;
  if (peer === undefined) return false;
  return callers === 'any-service' || callers.includes(peer);
};

type AnyCall = ServerDuplexStream<unknown, unknown>;
type AnyHandler = (call: AnyCall, callback?: sendUnaryData<unknown>) => void;

/** The handler with a check of the caller's certificate. */
const guarded = (handler: UntypedHandleCall, callers: Callers, path: string): UntypedHandleCall => {
  const serve = handler as AnyHandler;
  const guard: AnyHandler = (call, callback) => {
    const peer = peerService(call);
    if (isAllowed(callers, peer)) {
      serve(call, callback);
      return;
    }
    const code: ErrorCode = 'rpc.caller_refused';
    const refusal = toGrpcStatus(new KeelsonError(code, { caller: peer ?? 'unknown', path }));
    if (callback) callback(refusal);
    else call.emit('error', refusal);
  };
  return guard as UntypedHandleCall;
};

const guardedHandlers = (registration: GrpcRegistration): Record<string, UntypedHandleCall> =>
  Object.fromEntries(
    Object.entries(registration.handlers).map(([key, handler]) => [
      key,
      guarded(handler, registration.callers, registration.definition[key]?.path ?? key),
    ]),
  );

const bind = (server: Server, address: string, credentials: ServerCredentials): Promise<number> =>
  new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error) reject(error);
      else resolve(port);
    });
  });

/** Serves until `stop`. */
export const createRpcServer = async (options: RpcServerOptions): Promise<RpcServer> => {
  const server = new Server({
    ...transportOptions,
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  });
  const health = new HealthImplementation({ '': 'SERVING' });
  health.addToServer(server);
  for (const registration of options.services) {
    server.addService(
      registration.definition,
      options.tls ? guardedHandlers(registration) : registration.handlers,
    );
  }
  const credentials = options.tls?.serverCredentials() ?? ServerCredentials.createInsecure();
  const port = await bind(server, options.address, credentials);

  const stop = async (graceMs = DEFAULT_GRACE_MS): Promise<void> => {
    health.setStatus('', 'NOT_SERVING');
    const cutOff = setTimeout(() => server.forceShutdown(), graceMs);
    const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
    await Promise.all([closed, ...options.services.map((one) => one.drain?.())]);
    clearTimeout(cutOff);
  };
  let stopped: Promise<void> | undefined;
  return {
    port,
    stop: (graceMs) => (stopped ??= stop(graceMs)),
  };
};
