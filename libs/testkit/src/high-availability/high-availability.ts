/** The services that a cluster depends on, each on several machines; set up with deploy/high-availability. */
export { type HaProxy, startGatewayProxy, startPostgresProxy, startTcpProxy } from './haproxy.ts';
export { type NatsCluster, startNatsCluster } from './nats-cluster.ts';
export { type PatroniCluster, type PatroniNode, startPatroni } from './patroni.ts';
export { type PgBouncer, startPgBouncer } from './pgbouncer.ts';
export { type SentinelGroup, startSentinelGroup } from './sentinel.ts';
