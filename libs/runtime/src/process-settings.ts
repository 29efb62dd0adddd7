/** Settings that several processes share, each declared once. */
import { LOG_LEVELS } from '@keelson/logging';
import { Type } from 'typebox';

/** Settings of every process. */
export const processSettings = Type.Object(
  {
    configFile: Type.Optional(
      Type.String({
        description:
          'YAML file with further settings, by the names below without KEELSON_ and in lower case (http_port). The environment wins; so does the argument --config.',
      }),
    ),
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
  },
  { title: 'Process' },
);

const SysAddresses = Type.Array(Type.String(), {
  description: 'host:port of sys; a DNS name may resolve to several replicas.',
  default: ['sys:9000'],
});

/** An address that others get, which therefore has no user or password. */
const PUBLIC_ADDRESS = '^https?://[^/@]+$';

/** The address that clients use, and the only one in mails, webhooks and notifications. */
export const publicAddressSettings = Type.Object(
  {
    publicUrl: Type.Optional(
      Type.String({
        description:
          'Scheme and authority that clients use. The same in the gateway, sys and the workspace service. Not set: an answer has links by the Host header of its request, and no address is made that others follow: no invitation mail, webhook, commit status, link in a notification or issuer of tokens.',
        pattern: PUBLIC_ADDRESS,
      }),
    ),
  },
  { title: 'Addresses and certificates for clients' },
);

/** Settings of a process that gets its mTLS certificate from sys. */
export const enrolledSettings = Type.Object(
  {
    sysAddresses: SysAddresses,
    internalCaFile: Type.String({
      description: 'Certificate of the internal CA, PEM: internal-ca-certificate.pem.',
    }),
    joinTokenFile: Type.String({
      secretFile: true,
      description: 'File with the join token that keelson-internal-ca created for this service.',
    }),
  },
  { title: 'Connections inside the installation' },
);

/** Settings of a process with stores. */
export const storeSettings = Type.Object(
  {
    storeCacheBytes: Type.Integer({
      description:
        'Memory for the caches of a store: four fifths for records, one fifth for recent changes. A process has one store, standalone three.',
      default: 40 * 1024 * 1024,
      minimum: 1024 * 1024,
    }),
  },
  { title: 'Stores' },
);

/** Settings of a service that is called over gRPC and stores records. */
export const servingSettings = Type.Object(
  {
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
      description:
        "Connection string of the service's own PostgreSQL database. Of several hosts (postgres://user:password@first:5432,second:5432/name) the one that takes writes is used.",
      // With other values of target_session_attrs, libpq would accept a standby.
      pattern: '^postgres(ql)?://(?!.*[?&]target_session_attrs=(?!read-write|primary))',
      secret: true,
    }),
    databaseAuthorityFile: Type.Optional(
      Type.String({
        description:
          'Certificates (PEM) of the authority that PostgreSQL has its certificate from. Connections then use TLS, and the name in the certificate must be that in the connection string.',
      }),
    ),
  },
  { title: 'Connections inside the installation' },
);

/** As `PUBLIC_ADDRESS`: the status of replication shows it. */
const NATS_ADDRESS = '^(nats|tls|wss?)://[^@]+$';

/** Settings of a process that takes part in replication between clusters. */
export const replicationSettings = Type.Object(
  {
    natsUrl: Type.Optional(
      Type.String({
        description:
          'NATS server with JetStream on which this cluster publishes its logs: nats://host:port; several of one NATS cluster separated by commas. A primary needs one. Credentials are settings of their own.',
        pattern: NATS_ADDRESS,
      }),
    ),
    clusterAddress: Type.Optional(
      Type.String({
        description:
          'Address at which other clusters reach this NATS server. Not set: the same address.',
        pattern: NATS_ADDRESS,
      }),
    ),
    natsLogin: Type.Optional(
      Type.String({
        description: 'What the NATS server admits this cluster with: "user:password", or a token.',
        secret: true,
      }),
    ),
    natsCredentialsFile: Type.Optional(
      Type.String({
        description: 'In place of natsLogin: credentials file (.creds) with the JWT of a user.',
        secretFile: true,
      }),
    ),
    natsNkeyFile: Type.Optional(
      Type.String({
        description: 'In place of natsLogin: file with the seed of a user nkey ("SU…").',
        secretFile: true,
      }),
    ),
    remoteNatsLogin: Type.Optional(
      Type.String({
        description:
          'The login for the NATS servers of other clusters. Without any setting for these, they are shown the credentials for the own server.',
        secret: true,
      }),
    ),
    remoteNatsCredentialsFile: Type.Optional(
      Type.String({
        description: 'In place of remoteNatsLogin: credentials file (.creds).',
        secretFile: true,
      }),
    ),
    remoteNatsNkeyFile: Type.Optional(
      Type.String({
        description: 'In place of remoteNatsLogin: file with the seed of a user nkey.',
        secretFile: true,
      }),
    ),
    natsAuthorityFile: Type.Optional(
      Type.String({
        description:
          'CA certificates (PEM) that vouch for NATS servers, in addition to those of the system. TLS is required then.',
      }),
    ),
    natsTlsCertificateFile: Type.Optional(
      Type.String({
        description: 'Client certificate (PEM) for NATS servers that verify one.',
      }),
    ),
    natsTlsKeyFile: Type.Optional(
      Type.String({ description: 'Private key of that certificate (PEM).', secretFile: true }),
    ),
    natsReplicas: Type.Integer({
      description:
        'Copies of each log in a NATS cluster: 3 survive the loss of one server, 5 of two. A single server keeps 1.',
      default: 1,
      minimum: 1,
      maximum: 5,
    }),
  },
  { title: 'Replication' },
);

/** Settings of a process that may find its Redis through sentinels. */
export const sentinelSettings = Type.Object(
  {
    redisSentinels: Type.Array(Type.String({ pattern: '^[^,/@]+:\\d+$' }), {
      description:
        'host:port of the sentinels that know which Redis is the master. The URL of Redis then has the name of the master group in place of the host: redis://:password@mymaster/0.',
      default: [],
    }),
    redisSentinelPassword: Type.Optional(
      Type.String({ description: 'Password of the sentinels themselves.', secret: true }),
    ),
    redisAuthorityFile: Type.Optional(
      Type.String({
        description:
          'Certificates (PEM) of the authority that Redis, and its sentinels, have their certificates from. Connections then use TLS, and the name in the certificate must be that in the URL; without it, rediss:// trusts public authorities.',
      }),
    ),
  },
  { title: 'Redis' },
);

/** Settings of a service with work that one replica at a time does. */
export const electingSettings = Type.Object(
  {
    redisUrl: Type.String({
      description: 'Redis that elects workers: redis://host:6379.',
      pattern: '^rediss?://',
      secret: true,
    }),
    ...sentinelSettings.properties,
  },
  { title: 'Redis' },
);
