/** Settings that several processes share, each declared once. */
import { LOG_LEVELS } from '@keelson/logging';
import { Type } from 'typebox';

/** Settings of every process. */
export const processSettings = Type.Object({
  otlpEndpoint: Type.Optional(
    Type.String({
      description: 'OTLP/HTTP collector of traces, without /v1/traces. Not set: no tracing.',
      pattern: '^https?://',
    }),
  ),
  logLevel: Type.Union(
    LOG_LEVELS.map((level) => Type.Literal(level)),
    { description: 'Lowest level that is logged.', default: 'info' },
  ),
});

const SysAddresses = Type.Array(Type.String(), {
  description: 'host:port of sys; a DNS name stands for all its replicas.',
  default: ['sys:9000'],
});

/** The address that clients use: for the gateway, and for webhooks at repository providers. */
export const publicAddressSettings = Type.Object({
  publicUrl: Type.Optional(
    Type.String({
      description:
        'Scheme and authority that clients use, for absolute links and webhooks. The same in the gateway and the workspace service. Not set: taken from the Host header.',
      pattern: '^https?://[^/]+$',
    }),
  ),
});

/** Settings of a process that gets its mTLS certificate from sys. */
export const enrolledSettings = Type.Object({
  sysAddresses: SysAddresses,
  internalCaFile: Type.String({
    description: 'Certificate of the internal CA, PEM: internal-ca-certificate.pem.',
  }),
  joinTokenFile: Type.String({
    description: 'File with the join token that keelson-internal-ca created for this service.',
  }),
});

/** Settings of a process with stores. */
export const storeSettings = Type.Object({
  storeCacheBytes: Type.Integer({
    description:
      'Memory for the caches of a store: four fifths for records, one fifth for recent changes. A process has one store, standalone three.',
    default: 40 * 1024 * 1024,
    minimum: 1024 * 1024,
  }),
});

/** Settings of a service that is called over gRPC and stores records. */
export const servingSettings = Type.Object({
  rpcAddress: Type.String({
    description: 'host:port on which other processes of the installation reach this one.',
    default: '0.0.0.0:9000',
  }),
  probeAddress: Type.Optional(
    Type.String({
      description:
        'host:port of a plain HTTP port for orchestrators: /healthz, /metrics, and /readyz, which checks the database. Not set: no port is opened.',
      pattern: '^.+:\\d+$',
    }),
  ),
  databaseUrl: Type.String({
    description: "Connection string of the service's own PostgreSQL database.",
    secret: true,
  }),
});

/** Settings of a process that takes part in replication between clusters. */
export const replicationSettings = Type.Object({
  natsUrl: Type.Optional(
    Type.String({
      description:
        'NATS server with JetStream on which this cluster publishes its logs: nats://host:port. A primary needs one.',
      pattern: '^(nats|tls|wss?)://',
    }),
  ),
  clusterAddress: Type.Optional(
    Type.String({
      description:
        'Address at which other clusters reach this NATS server. Not set: the same address.',
      pattern: '^(nats|tls|wss?)://',
    }),
  ),
});

/** Settings of a service with work that one replica at a time does. */
export const electingSettings = Type.Object({
  redisUrl: Type.String({
    description: 'Redis that elects workers: redis://host:6379.',
    secret: true,
  }),
});
