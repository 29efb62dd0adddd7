/**
 * Replication over NATS. The NATS client is loaded on first use, because it takes a tenth of an idle process.
 */
import { rootCertificates } from 'node:tls';
import type { Bus } from '@keelson/bus';
import type { NatsCredentials } from '@keelson/bus/jetstream';
import { KeelsonError } from '@keelson/errors';
import {
  type NatsAdmission,
  type NatsAdmissionSettings,
  readNatsAdmission,
} from './nats-admission.ts';
import type { ReplicationTransport } from './replication-runs.ts';

export interface NatsSettings extends NatsAdmissionSettings {
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

interface Connection {
  readonly credentials: NatsCredentials | undefined;
  readonly trustedRoots?: readonly string[] | undefined;
  /** Copies of each stream. */
  readonly replicas?: number;
}

/** @param addresses each of one server, or of several separated by commas */
const connect = async (
  addresses: readonly string[],
  { authorities, certificate }: NatsAdmission,
  { credentials, trustedRoots = [], replicas = 1 }: Connection,
): Promise<Bus> => {
  const { JetStreamBus } = await import('@keelson/bus/jetstream');
  const servers = addresses.flatMap((address) => address.split(','));
  // With TLS material the client requires TLS. Roots of an activation concern only addresses that are tls://.
  const isTls = servers.length > 0 && servers.every((server) => server.startsWith('tls://'));
  const roots = [
    ...(authorities === undefined ? [] : [authorities]),
    ...(isTls ? trustedRoots : []),
  ];
  const tls = {
    ...(roots.length > 0 && { ca: [...rootCertificates, ...roots].join('\n') }),
    ...certificate,
  };
  return new JetStreamBus({
    servers,
    replicas,
    credentials,
    ...(Object.keys(tls).length > 0 && { connection: { tls } }),
  });
};

/** @throws ConfigError for credentials that cannot be used */
export const openNatsTransport = async (settings: NatsSettings): Promise<NatsTransport> => {
  const { natsUrl, natsReplicas, clusterAddress = natsUrl, publicUrl } = settings;
  const admission = readNatsAdmission(settings);
  const bus =
    natsUrl === undefined
      ? undefined
      : await connect([natsUrl], admission, {
          credentials: admission.own,
          replicas: natsReplicas,
        });
  return {
    bus,
    clusterAddress: clusterAddress ?? '',
    apiAddress: publicUrl ?? '',
    connect: (addresses, trustedRoots) =>
      connect(addresses, admission, { credentials: admission.remote, trustedRoots }),
    close: async () => bus?.close(),
  };
};

/** The transport of a service that takes no part in replication. */
export const NO_TRANSPORT: ReplicationTransport = {
  bus: undefined,
  clusterAddress: '',
  apiAddress: '',
  connect: () =>
    Promise.reject(
      new KeelsonError('bus.unavailable', { reason: 'this service takes no part in replication' }),
    ),
};
