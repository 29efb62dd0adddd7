/** Entry `@keelson/edge/stream`: kept apart so that a standalone process never loads gRPC. */
export type { CallEntries } from './call-dispatcher.ts';
export { type ConnectedEdge, connectEdge } from './connect-edge.ts';
export type { EdgePoolOptions, ReplicaStatus } from './edge-pool.ts';
export { createEdgeServer, type EdgeServerOptions } from './edge-server.ts';
