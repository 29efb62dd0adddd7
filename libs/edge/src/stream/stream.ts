/** Entry point `@keelson/edge/stream`, separate so that a standalone process does not load gRPC. */
export type { CallEntries } from './call-dispatcher.ts';
export { type ConnectedEdge, connectEdge, type EveryReplica } from './connect-edge.ts';
export type { EdgePoolOptions, ReplicaStatus } from './edge-pool.ts';
export { createEdgeServer, type EdgeServerOptions } from './edge-server.ts';
