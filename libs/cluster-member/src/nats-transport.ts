/** Replication over NATS. Its client is loaded with its first use: it is a tenth of an idle process. */
import { rootCertificates } from 'node:tls';
import type { Bus } from '@keelson/bus';
import { KeelsonError } from '@keelson/errors';
import type { ReplicationTransport } from './replication-runs.ts';

export interface NatsSettings {
  /** undefined: this cluster has none, and can be a secondary only. */
  readonly natsUrl?: string | undefined;
  /** Where other clusters reach that server; the same address when absent. */
  readonly clusterAddress?: string | undefined;
  /** Where clients reach this cluster, when it is configured. */
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
  // With these the client insists on TLS, which other addresses do not promise.
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

/** Of a service that takes no part in replication. */
export const NO_TRANSPORT: ReplicationTransport = {
  bus: undefined,
  clusterAddress: '',
  apiAddress: '',
  connect: () => Promise.reject(new KeelsonError('bus.unavailable')),
};
