import { type Config, ConfigError, composeConfig } from '@keelson/config';
import { SECRETS_LIMITS } from '@keelson/edge';
import { createNetworks } from '@keelson/edge/networks';
import { KeelsonError } from '@keelson/errors';
import {
  enrolledSettings,
  processSettings,
  publicAddressSettings,
  sentinelSettings,
} from '@keelson/runtime';
import { Type } from 'typebox';

const Port = (description: string, fallback: number) =>
  Type.Integer({ description, minimum: 0, maximum: 65_535, default: fallback });

const listenSettings = Type.Object(
  {
    listenAddress: Type.String({
      description: 'Address to which the HTTP and HTTPS ports are bound.',
      default: '127.0.0.1',
      mistakenFor: ['httpHost', 'host', 'bindAddress', 'listen'],
    }),
    httpPort: Port('Port of plain HTTP; 0 chooses a free one.', 8200),
    httpsPort: Port('Port of HTTPS, opened if there is a certificate; 0 chooses a free one.', 8443),
    tlsCertificateFile: Type.Optional(
      Type.String({ description: 'Certificate chain of HTTPS, PEM; reloaded when it changes.' }),
    ),
    tlsKeyFile: Type.Optional(
      Type.String({
        secretFile: true,
        description: 'Private key of HTTPS, PEM; reloaded when it changes.',
      }),
    ),
    hstsSeconds: Type.Integer({
      description:
        'Time for which browsers must use HTTPS for this host (Strict-Transport-Security); 0 omits the header. Never sent for localhost.',
      minimum: 0,
      default: 31_536_000,
    }),
    requestClientCertificates: Type.Boolean({
      description:
        'Whether HTTPS requests client certificates even where no mount of the auth method cert exists, for EST enrolment by certificate. Browsers that have one may ask their users.',
      default: false,
    }),
    publicUrl: publicAddressSettings.properties.publicUrl,
    trustedProxies: Type.Array(Type.String(), {
      description:
        'Addresses and networks (CIDR) of proxies whose X-Forwarded-For is trusted; all others are ignored.',
      default: [],
    }),
    clientCertificatesFrom: Type.Array(Type.String(), {
      description:
        'Addresses and networks (CIDR) of proxies that terminate TLS and whose Client-Cert and Client-Cert-Chain (RFC 9440) name the certificates of the client. They must remove those that a client sends. Ignored from all others.',
      default: [],
    }),
    proxyProtocolFrom: Type.Array(Type.String(), {
      description:
        'Addresses and networks (CIDR) of proxies that begin every connection with a PROXY protocol header of version 2, which states the client. A connection from them without it is closed; from all others the header is refused as malformed.',
      default: [],
    }),
  },
  { title: 'Addresses and certificates for clients' },
);

const limitSettings = Type.Object(
  {
    requestBodyLimitBytes: Type.Integer({
      description: 'Largest request body.',
      minimum: 1024,
      default: SECRETS_LIMITS.bodyBytes,
    }),
    webhookBodyLimitBytes: Type.Integer({
      description:
        'Largest delivery of a repository webhook. Providers send up to 25 MB after very large pushes.',
      minimum: 1024,
      maximum: 25 * 1024 * 1024,
      default: 5 * 1024 * 1024,
    }),
    uploadLimitBytes: Type.Integer({
      description: 'Largest upload to a signed address (states); streamed to the service.',
      minimum: 1024,
      default: 1_073_741_824,
    }),
    requestTimeLimitSeconds: Type.Integer({
      description: 'Time limit for answering a request.',
      minimum: 1,
      maximum: 3600,
      default: 90,
    }),
    keepAliveSeconds: Type.Integer({
      description: 'Time after which an idle client connection is closed.',
      minimum: 1,
      default: 75,
    }),
    maxConnections: Type.Integer({
      description:
        'Client connections allowed at a time on each port; others are closed. A low limit of open files lowers it (docs/metrics.md).',
      minimum: 16,
      default: 8192,
    }),
    clientMaxConnections: Type.Integer({
      description:
        'Client connections allowed at a time for one client address (one /64 of IPv6), on both ports together; trusted proxies are exempt.',
      minimum: 4,
      default: 1024,
    }),
    requestsUnderWay: Type.Integer({
      description:
        'Requests to the APIs in progress at a time, live streams included; beyond it the answer is 503.',
      minimum: 16,
      default: 8192,
    }),
    clientRequestsUnderWay: Type.Integer({
      description: 'The same for one client address (one /64 of IPv6).',
      minimum: 4,
      default: 1024,
    }),
    requestsAtOnce: Type.Integer({
      description:
        'Requests that the services work on at a time for this gateway. Others wait, and organizations, namespaces, users and addresses take turns.',
      minimum: 1,
      default: 128,
    }),
    tenantRequestsAtOnce: Type.Integer({
      description:
        'The same for one tenant: an organization by its tokens, a user, a namespace below the root, a mount of the root namespace, or an address without a token.',
      minimum: 1,
      // Writes that wait share a flush of the disk, so that fewer places would slow a single tenant down.
      default: 64,
    }),
    tenantRequestsWaiting: Type.Integer({
      description: 'Requests of one tenant that may wait; beyond it the answer is 429.',
      minimum: 1,
      default: 1024,
    }),
    tenantLiveStreams: Type.Integer({
      description:
        'Live streams of one tenant at a time, each of one page of the console; others end, and their pages ask again every few seconds.',
      minimum: 1,
      default: 128,
    }),
  },
  { title: 'Limits of clients' },
);

const auditSettings = Type.Object(
  {
    auditRequired: Type.Boolean({
      description:
        'Whether requests fail while no enabled audit device accepts their entries. Use false, which serves and logs them, only while disabling a broken device.',
      default: true,
    }),
    auditDirectories: Type.Array(Type.String(), {
      description:
        'Folders allowed for audit files. Empty: any except those of the system and of Keelson. A folder below the data folder must be listed here.',
      default: [],
    }),
  },
  { title: 'Audit' },
);

const rateSettings = Type.Object(
  {
    rateLimit: Type.Union([Type.Integer({ minimum: 4, maximum: 1_000_000 }), Type.Literal('off')], {
      description:
        'Requests per second on /api/v2 per user (per address if unauthenticated), counted by each gateway unless they share a Redis. Below 4, deployed clients stop working.',
      default: 30,
    }),
    clientRateLimit: Type.Union(
      [Type.Integer({ minimum: 1, maximum: 1_000_000 }), Type.Literal('off')],
      {
        description:
          'Requests per second on /v1 and EST per client address (per /64 for IPv6), counted by each gateway. The machine itself is exempt.',
        default: 1000,
      },
    ),
  },
  { title: 'Limits of clients' },
);

/** Settings of every process that serves clients. */
export const gatewayConfig = composeConfig(
  listenSettings,
  limitSettings,
  rateSettings,
  auditSettings,
);
export type GatewayConfig = Config<typeof gatewayConfig>;

/** @throws ConfigError when half of a certificate is missing, or a proxy is not an address */
export const requireConsistent = (config: GatewayConfig): void => {
  const problems: string[] = [];
  if ((config.tlsCertificateFile === undefined) !== (config.tlsKeyFile === undefined))
    problems.push('KEELSON_TLS_CERTIFICATE_FILE and KEELSON_TLS_KEY_FILE go together.');
  for (const [name, ranges] of [
    ['KEELSON_TRUSTED_PROXIES', config.trustedProxies],
    ['KEELSON_CLIENT_CERTIFICATES_FROM', config.clientCertificatesFrom],
    ['KEELSON_PROXY_PROTOCOL_FROM', config.proxyProtocolFrom],
  ] as const)
    try {
      createNetworks(ranges);
    } catch (error) {
      problems.push(`${name}: ${KeelsonError.from(error).message}.`);
    }
  if (problems.length > 0) throw new ConfigError(problems);
};

/** Extra settings of a gateway that runs as its own process. */
export const gatewayProcessConfig = composeConfig(
  gatewayConfig,
  enrolledSettings,
  Type.Object(
    {
      workspaceAddresses: Type.Array(Type.String(), {
        description:
          'host:port of the workspace service; a DNS name may resolve to several replicas.',
        default: ['workspace:9000'],
      }),
      pkiAddresses: Type.Array(Type.String(), {
        description: 'host:port of the pki service; a DNS name may resolve to several replicas.',
        default: ['pki:9000'],
      }),
      authAddresses: Type.Array(Type.String(), {
        description: 'host:port of the auth service; a DNS name may resolve to several replicas.',
        default: ['auth:9000'],
      }),
      rateLimitRedisUrl: Type.Optional(
        Type.String({
          description:
            'Redis through which several gateways share one rate limit: redis://host:6379. Not set, or while it cannot be reached: each gateway counts alone.',
          pattern: '^rediss?://',
          secret: true,
        }),
      ),
      drainSeconds: Type.Integer({
        description:
          'Time from the signal to stop until new connections are refused. /readyz says 503 from its start, so that load balancers choose another gateway before this one closes.',
        default: 5,
        minimum: 0,
        maximum: 20,
      }),
    },
    { title: 'Connections inside the installation' },
  ),
  sentinelSettings,
  processSettings,
);
