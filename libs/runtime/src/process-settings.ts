/** Settings that several processes share; each is declared here once. */
import { LOG_LEVELS } from '@keelson/logging';
import { Type } from 'typebox';

/** Every process. */
export const processSettings = Type.Object({
  otlpEndpoint: Type.Optional(
    Type.String({
      description: 'OTLP/HTTP collector of traces, without /v1/traces; no tracing when not set.',
      pattern: '^https?://',
    }),
  ),
  logLevel: Type.Union(
    LOG_LEVELS.map((level) => Type.Literal(level)),
    { description: 'Least level that is logged.', default: 'info' },
  ),
});

const SysAddresses = Type.Array(Type.String(), {
  description: 'host:port of sys; a DNS name stands for all its replicas.',
  default: ['sys:9000'],
});

/** A process that gets its mTLS certificate from sys. */
export const enrolledSettings = Type.Object({
  sysAddresses: SysAddresses,
  internalCaFile: Type.String({
    description: 'Certificate of the internal CA, PEM: internal-ca-certificate.pem.',
  }),
  joinTokenFile: Type.String({
    description: 'File with the join token that keelson-internal-ca made for this service.',
  }),
});

/** A process with stores. */
export const storeSettings = Type.Object({
  storeCacheBytes: Type.Integer({
    description:
      'Memory for the caches of a store: four fifths for records, one fifth for which of them changed. A process has one store, standalone three.',
    default: 40 * 1024 * 1024,
    minimum: 1024 * 1024,
  }),
});

/** A service that is reached over gRPC and keeps records. */
export const servingSettings = Type.Object({
  rpcAddress: Type.String({
    description: 'host:port on which other processes of the installation reach this one.',
    default: '0.0.0.0:9000',
  }),
  probeAddress: Type.Optional(
    Type.String({
      description:
        'host:port of a plain HTTP port for orchestrators: /healthz, and /readyz, which asks the database; none is opened when not set.',
      pattern: '^.+:\\d+$',
    }),
  ),
  databaseUrl: Type.String({
    description: "Connection string of the service's own PostgreSQL database.",
    secret: true,
  }),
});

/** A process that takes part in replication between clusters. */
export const replicationSettings = Type.Object({
  natsUrl: Type.Optional(
    Type.String({
      description:
        'NATS server with JetStream that this cluster publishes its logs on, as nats://host:port; without one the cluster can be no primary.',
      pattern: '^(nats|tls|wss?)://',
    }),
  ),
  clusterAddress: Type.Optional(
    Type.String({
      description:
        'Address under which other clusters reach that NATS server; the same as this one does when not set.',
      pattern: '^(nats|tls|wss?)://',
    }),
  ),
});

/** A service with work that one replica at a time does. */
export const electingSettings = Type.Object({
  redisUrl: Type.String({
    description: 'Redis that elects workers: redis://host:6379.',
    secret: true,
  }),
});
