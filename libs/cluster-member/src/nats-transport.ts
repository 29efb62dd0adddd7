/**
 * Replication over NATS. The NATS client is loaded on first use, because it takes a tenth of an idle process.
 */
import { rootCertificates } from 'node:tls';
import type { Bus } from '@keelson/bus';
import { KeelsonError } from '@keelson/errors';
import type { ReplicationTransport } from './replication-runs.ts';

export interface NatsSettings {
  /**
   * One server or several of a NATS cluster, separated by commas; undefined when this cluster has none, so that it
   * can only be a secondary.
   */
  readonly natsUrl?: string | undefined;
  /** Copies of each stream. */
  readonly natsReplicas: number;
  /** Address at which other clusters reach that server; `natsUrl` when absent. */
  readonly clusterAddress?: string | undefined;
  /** Address at which clients reach this cluster, if configured. */
  readonly publicUrl?: string | undefined;
}

export interface NatsTransport extends ReplicationTransport {
  close(): Promise<void>;
}

/** @param addresses each of one server, or of several separated by commas */
const connect = async (
  addresses: readonly string[],
  trustedRoots: readonly string[] = [],
  replicas = 1,
): Promise<Bus> => {
  const { JetStreamBus } = await import('@keelson/bus/jetstream');
  const servers = addresses.flatMap((address) => address.split(','));
  // With trusted roots the client requires TLS, which addresses other than tls:// do not guarantee.
  const isTls = servers.length > 0 && servers.every((server) => server.startsWith('tls://'));
  return isTls && trustedRoots.length > 0
    ? new JetStreamBus({
        servers,
        replicas,
        connection: { tls: { ca: [...rootCertificates, ...trustedRoots].join('\n') } },
      })
    : new JetStreamBus({ servers, replicas });
};

export const openNatsTransport = async (settings: NatsSettings): Promise<NatsTransport> => {
  const { natsUrl, natsReplicas, clusterAddress = natsUrl, publicUrl } = settings;
  const bus = natsUrl === undefined ? undefined : await connect([natsUrl], [], natsReplicas);
  return {
    bus,
    clusterAddress: clusterAddress ?? '',
    apiAddress: publicUrl ?? '',
    connect,
    close: async () => bus?.close(),
  };
};

/** The transport of a service that takes no part in replication. */
export const NO_TRANSPORT: ReplicationTransport = {
  bus: undefined,
  clusterAddress: '',
  apiAddress: '',
  connect: () => Promise.reject(new KeelsonError('bus.unavailable')),
};
