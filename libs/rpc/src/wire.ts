/** Entry point `@keelson/rpc/wire`: errors and traces for transports other than gRPC. */
export { injectTraceContext, serveInTrace, type TraceCarrier } from './trace-context.ts';
export { fromWireError, toWireError, type WireError } from './wire-error.ts';
