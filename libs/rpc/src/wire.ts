/** Entry `@keelson/rpc/wire`: errors and traces on any wire, for those who do not speak gRPC. */
export { injectTraceContext, serveInTrace, type TraceCarrier } from './trace-context.ts';
export { fromWireError, toWireError, type WireError } from './wire-error.ts';
