export { clientChannelOptions, MAX_MESSAGE_BYTES } from './channel-options.ts';
export { fromGrpcStatus, toGrpcStatus } from './grpc-status.ts';
export { type EnrolmentOptions, enrolIdentity } from './internal-issuer/enrolled-identity.ts';
export { type EnrolmentFiles, enrolIdentityFromFiles } from './internal-issuer/enrolment-files.ts';
export {
  type InternalIssuer,
  type InternalIssuerOptions,
  openInternalIssuer,
  SERVICE_NAMES,
  type ServiceName,
} from './internal-issuer/internal-issuer.ts';
export type { RenewedIdentity } from './internal-issuer/renewed-identity.ts';
export { decodeMessage, encodeMessage } from './message-codec.ts';
export { peerService } from './peer.ts';
export {
  type Callers,
  type GrpcRegistration,
  implementService,
  type ReportBug,
  type ServiceOptions,
} from './registration.ts';
export { createRpcClient, type RpcClient, type RpcClientOptions } from './rpc-client.ts';
export { createRpcServer, type RpcServer, type RpcServerOptions } from './rpc-server.ts';
export {
  type CallOptions,
  fullMethodName,
  type RpcDefinition,
  type RpcMethod,
  type RpcService,
  type UntypedMethod,
} from './rpc-service.ts';
export { toGrpcServiceDefinition } from './service-definition.ts';
export {
  channelCredentials,
  serviceDnsName,
  TlsIdentity,
  type TlsMaterial,
  type TrustedAuthority,
} from './tls-identity.ts';
export {
  fromWireError,
  injectTraceContext,
  serveInTrace,
  type TraceCarrier,
  toWireError,
  type WireError,
} from './wire.ts';
