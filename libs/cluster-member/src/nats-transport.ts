/**
 * Replication over NATS. The NATS client is loaded on first use, because it takes a tenth of an idle process.
 */
import { rootCertificates } from 'node:tls';
import type { Bus } from '@keelson/bus';
import { KeelsonError } from '@keelson/errors';
import type { ReplicationTransport } from './replication-runs.ts';

export interface NatsSettings {
  /** undefined when this cluster has no NATS server, so that it can only be a secondary. */
  readonly natsUrl?: string | undefined;
  /** Address at which other clusters reach that server; `natsUrl` when absent. */
  readonly clusterAddress?: string | undefined;
  /** Address at which clients reach this cluster, if configured. */
  readonly publicUrl?: string | undefined;
}

export interface NatsTransport extends ReplicationTransport {
  close(): Promise<void>;
}

const connect = async (
  servers: readonly string[],
  trustedRoots: readonly string[] = [],
): Promise<Bus> => {
  const { JetStreamBus } = await import('@keelson/bus/jetstream');
  // With trusted roots the client requires TLS, which addresses other than tls:// do not guarantee.
  const isTls = servers.length > 0 && servers.every((server) => server.startsWith('tls://'));
  return isTls && trustedRoots.length > 0
    ? new JetStreamBus({
        servers,
        connection: { tls: { ca: [...rootCertificates, ...trustedRoots].join('\n') } },
      })
    : new JetStreamBus({ servers });
};

export const openNatsTransport = async (settings: NatsSettings): Promise<NatsTransport> => {
  const { natsUrl, clusterAddress = natsUrl, publicUrl } = settings;
  const bus = natsUrl === undefined ? undefined : await connect([natsUrl]);
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
