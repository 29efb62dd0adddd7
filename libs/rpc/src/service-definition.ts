import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { decodeMessage, encodeMessage } from './message-codec.ts';
import { fullMethodName, type RpcDefinition, type RpcMethod } from './rpc-service.ts';

const toMethodDefinition = (
  definition: RpcDefinition,
  method: RpcMethod,
): MethodDefinition<unknown, unknown> => ({
  path: `/${fullMethodName(definition, method)}`,
  originalName: method.name,
  requestStream: method.requestStream,
  responseStream: method.responseStream,
  requestSerialize: (message) => encodeMessage(method.requestType, message),
  requestDeserialize: (bytes) => decodeMessage(method.requestType, bytes),
  responseSerialize: (message) => encodeMessage(method.responseType, message),
  responseDeserialize: (bytes) => decodeMessage(method.responseType, bytes),
});

/** A ts-proto generic definition as the description that grpc-js serves and calls. */
export const toGrpcServiceDefinition = (definition: RpcDefinition): ServiceDefinition =>
  Object.fromEntries(
    Object.entries(definition.methods).map(([name, method]) => [
      name,
      toMethodDefinition(definition, method),
    ]),
  );
