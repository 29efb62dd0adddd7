/**
 * Unary and server-streaming calls over gRPC. Connections are kept and re-established with back-off, and
 * calls are distributed over all replicas of the address.
 */

import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Client,
  type ClientReadableStream,
  connectivityState,
  Metadata,
  type MethodDefinition,
  type ServiceError,
} from '@grpc/grpc-js';
import { isSealed, KeelsonError, mayPassElsewhere } from '@keelson/errors';
import { clientChannelOptions } from './channel-options.ts';
import { fromGrpcStatus } from './grpc-status.ts';
import type { CallOptions, RpcDefinition, RpcService, UntypedMethod } from './rpc-service.ts';
import { toGrpcServiceDefinition } from './service-definition.ts';
import { channelCredentials, type TlsIdentity, type TrustedAuthority } from './tls-identity.ts';
import { injectTraceContext } from './trace-context.ts';

export interface RpcClientOptions {
  /**
   * "host:port", where the host may be a DNS name of several replicas, or several "ip:port".
   * @throws TypeError for several with host names among them
   */
  readonly address: string | readonly string[];
  readonly tls?: TlsIdentity | TrustedAuthority | undefined;
  /** The service that must answer ("sys"): its name is checked in the certificate and used in errors. */
  readonly service: string;
}

export type RpcClient<D extends RpcDefinition> = RpcService<D> & { close(): void };

/** Time limit of a unary call that sets none. */
const DEFAULT_TIMEOUT_MS = 30_000;

const hostOf = (address: string): string =>
  new URL(`tcp://${address}`).hostname.replace(/^\[|\]$/g, '');

const toTarget = (address: string | readonly string[]): string => {
  const addresses = [address].flat();
  if (addresses.length === 1) return `dns:${addresses[0]}`;
  const versions = new Set(addresses.map((one) => isIP(hostOf(one))));
  if (versions.size !== 1 || versions.has(0)) {
    throw new TypeError(
      'several addresses must be IP addresses of one family; name replicas in DNS',
    );
  }
  return `ipv${[...versions][0]}:${addresses.join(',')}`;
};

const metadataOfTrace = (): Metadata => {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(injectTraceContext())) metadata.set(name, value);
  return metadata;
};

/** Cancels `call` when the signal aborts; the returned function removes the listener. */
const cancelOn = (signal: AbortSignal | undefined, call: { cancel(): void }): (() => void) => {
  const cancel = (): void => call.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  return () => signal?.removeEventListener('abort', cancel);
};

/**
 * Waits before a call is sent to the next replica, because the one that was asked is sealed or may not write to its
 * store. A call does not wait for a replica to be unsealed.
 */
const NEXT_REPLICA_WAITS_MS = [0, 0, 50, 100, 200, 400, 800, 1600, 3200];

const unaryCaller = (
  client: Client,
  method: MethodDefinition<unknown, unknown>,
  service: string,
) => {
  const callOnce = callerOnce(client, method, service);
  return async (request: unknown, options: CallOptions = {}): Promise<unknown> => {
    for (const waitMs of NEXT_REPLICA_WAITS_MS) {
      try {
        return await callOnce(request, options);
      } catch (error) {
        if (!mayPassElsewhere(error) || (isSealed(error) && waitMs > 0)) throw error;
      }
      await delay(waitMs);
    }
    return callOnce(request, options);
  };
};

/**
 * Longest wait for a replica where none can be reached. In a rolling update the last one may stop before the connection
 * to one that was started again is open, which takes up to a second, and longer on a busy machine.
 */
const REPLICA_WAIT_MS = 5_000;

/** Waits for a replica, because a call fails at once when an attempt to connect fails. */
const untilReachable = async (
  client: Client,
  { timeoutMs, signal }: CallOptions,
): Promise<void> => {
  const isConnecting = false;
  const state = client.getChannel().getConnectivityState(isConnecting);
  if (state === connectivityState.READY || signal?.aborted) return;
  // The other half is for the call, which fails with the reason if there is still none.
  const waitMs = Math.min((timeoutMs ?? DEFAULT_TIMEOUT_MS) / 2, REPLICA_WAIT_MS);
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopWaiting = (): void => resolve();
  signal?.addEventListener('abort', stopWaiting, { once: true });
  client.waitForReady(Date.now() + waitMs, stopWaiting);
  await promise;
  signal?.removeEventListener('abort', stopWaiting);
};

const callerOnce =
  (client: Client, method: MethodDefinition<unknown, unknown>, service: string) =>
  async (request: unknown, options: CallOptions): Promise<unknown> => {
    const beganMs = performance.now();
    await untilReachable(client, options);
    const waitedMs = performance.now() - beganMs;
    return new Promise((resolve, reject) => {
      if (options.signal?.aborted) {
        reject(new KeelsonError('request.cancelled'));
        return;
      }
      const call = client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        metadataOfTrace(),
        { deadline: Date.now() + (options.timeoutMs ?? DEFAULT_TIMEOUT_MS) - waitedMs },
        (error, response) => {
          stopListening();
          if (error) reject(fromGrpcStatus(error, service));
          else resolve(response);
        },
      );
      const stopListening = cancelOn(options.signal, call);
    });
  };

const streamingCaller = (
  client: Client,
  method: MethodDefinition<unknown, unknown>,
  service: string,
) =>
  async function* (request: unknown, options: CallOptions = {}): AsyncGenerator<unknown> {
    if (options.signal?.aborted) throw new KeelsonError('request.cancelled');
    const call: ClientReadableStream<unknown> = client.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      metadataOfTrace(),
      options.timeoutMs === undefined ? {} : { deadline: Date.now() + options.timeoutMs },
    );
    const stopListening = cancelOn(options.signal, call);
    try {
      yield* call;
    } catch (error) {
      throw fromGrpcStatus(error as ServiceError, service);
    } finally {
      stopListening();
      // Leaving the loop early cancels the call; after the end this has no effect. The cancellation also
      // arrives as an error event, which must have a listener although nobody awaits it.
      call.on('error', () => undefined);
      call.cancel();
    }
  };

/** A client with the interface of the service. */
export const createRpcClient = <D extends RpcDefinition>(
  definition: D,
  options: RpcClientOptions,
): RpcClient<D> => {
  const { service, tls } = options;
  const client = new Client(
    toTarget(options.address),
    channelCredentials(tls),
    clientChannelOptions(service, tls),
  );
  const methods = Object.fromEntries(
    Object.entries(toGrpcServiceDefinition(definition)).map(
      ([key, method]): [string, UntypedMethod] => [
        key,
        method.responseStream
          ? streamingCaller(client, method, service)
          : unaryCaller(client, method, service),
      ],
    ),
  );
  return { ...methods, close: () => client.close() } as RpcClient<D>;
};
