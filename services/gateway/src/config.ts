import { type Config, ConfigError, composeConfig } from '@keelson/config';
import { SECRETS_LIMITS } from '@keelson/edge';
import { createNetworks } from '@keelson/edge/networks';
import { KeelsonError } from '@keelson/errors';
import { enrolledSettings, processSettings } from '@keelson/runtime';
import { Type } from 'typebox';
import { ANONYMOUS_PART } from './limits/body-budget.ts';

const Port = (description: string, fallback: number) =>
  Type.Integer({ description, minimum: 0, maximum: 65_535, default: fallback });

/** What every process that serves clients is told. */
export const gatewayConfig = Type.Object({
  listenAddress: Type.String({
    description: 'Address that the HTTP and HTTPS ports are bound to.',
    default: '127.0.0.1',
  }),
  httpPort: Port('Port of plain HTTP; 0 takes a free one.', 8200),
  httpsPort: Port('Port of HTTPS, opened when there is a certificate; 0 takes a free one.', 8443),
  tlsCertificateFile: Type.Optional(
    Type.String({ description: 'Certificate chain of HTTPS, PEM; read again when it changes.' }),
  ),
  tlsKeyFile: Type.Optional(
    Type.String({ description: 'Private key of HTTPS, PEM; read again when it changes.' }),
  ),
  hstsSeconds: Type.Integer({
    description:
      'How long browsers are told on HTTPS to use nothing else for this host (Strict-Transport-Security); 0 does not tell them. Never told for localhost.',
    minimum: 0,
    default: 31_536_000,
  }),
  requestClientCertificates: Type.Boolean({
    description:
      'HTTPS asks clients for a certificate, for EST enrolment by certificate; a browser that has one may ask its user which to show.',
    default: false,
  }),
  publicUrl: Type.Optional(
    Type.String({
      description:
        'Scheme and authority under which clients reach this address, for absolute links; taken from the Host header when not set.',
      pattern: '^https?://[^/]+$',
    }),
  ),
  trustedProxies: Type.Array(Type.String(), {
    description:
      'Addresses and networks (CIDR) of proxies in front, which may say in X-Forwarded-For who the client is; nobody else may.',
    default: [],
  }),
  requestBodyLimitBytes: Type.Integer({
    description: 'Largest request body.',
    minimum: 1024,
    default: SECRETS_LIMITS.bodyBytes,
  }),
  anonymousBodyLimitBytes: Type.Integer({
    description:
      'Largest request body of a caller without a token: ACME, OCSP, EST, unsealing, the ceremonies of key shares.',
    minimum: 1024,
    // The largest message of ACME and EST.
    default: 256 * 1024,
  }),
  bodiesLimitBytes: Type.Integer({
    description:
      'Bytes of all request bodies whose requests are under way; a quarter of it for callers without a token. More are answered 503. Uploads to signed addresses do not count.',
    minimum: 4 * 1024,
    default: 64 * 1024 * 1024,
  }),
  clientBodiesLimitBytes: Type.Integer({
    description: 'The same of one client address.',
    minimum: 1024,
    default: 32 * 1024 * 1024,
  }),
  uploadLimitBytes: Type.Integer({
    description: 'Largest body of an upload to a signed address (states); passed on as it arrives.',
    minimum: 1024,
    default: 1_073_741_824,
  }),
  transferTimeLimitSeconds: Type.Integer({
    description:
      'How long the upload or download of a state, a configuration or a plan at a signed address may take.',
    minimum: 1,
    maximum: 86_400,
    default: 3600,
  }),
  requestTimeLimitSeconds: Type.Integer({
    description: 'Time after which an unanswered request is given up.',
    minimum: 1,
    maximum: 3600,
    default: 90,
  }),
  keepAliveSeconds: Type.Integer({
    description: 'How long an idle client connection is kept.',
    minimum: 1,
    default: 75,
  }),
  auditRequired: Type.Boolean({
    description:
      'Requests fail while no enabled audit device accepts their entries. false serves and logs them: for the time it takes to disable a device that is broken for good.',
    default: true,
  }),
  auditDirectories: Type.Array(Type.String(), {
    description:
      'Folders that audit files may lie in; empty: anywhere but folders of the system and of Keelson. A folder below the data folder has to be named here.',
    default: [],
  }),
  rateLimit: Type.Union([Type.Integer({ minimum: 4, maximum: 1_000_000 }), Type.Literal('off')], {
    description:
      'Requests per second on /api/v2 for each user (each address when unauthenticated), counted by each gateway unless they share a count; below 4 deployed clients stop working.',
    default: 30,
  }),
  clientRateLimit: Type.Union(
    [Type.Integer({ minimum: 1, maximum: 1_000_000 }), Type.Literal('off')],
    {
      description:
        'Requests per second on /v1 and for EST of each client address (each /64 of IPv6), counted by each gateway; not of this machine itself.',
      default: 1000,
    },
  ),
});
export type GatewayConfig = Config<typeof gatewayConfig>;

/** @throws ConfigError where a body that is allowed could never be received, or a proxy is no address */
export const requireConsistent = (config: GatewayConfig): void => {
  const { requestBodyLimitBytes, anonymousBodyLimitBytes } = config;
  const { bodiesLimitBytes, clientBodiesLimitBytes } = config;
  const problems: string[] = [];
  const require = (name: string, given: number, leastBytes: number, why: string): void => {
    if (given < leastBytes) problems.push(`${name} must be at least ${leastBytes}, ${why}.`);
  };
  require('KEELSON_CLIENT_BODIES_LIMIT_BYTES', clientBodiesLimitBytes, requestBodyLimitBytes, 'one body of KEELSON_REQUEST_BODY_LIMIT_BYTES');
  require('KEELSON_BODIES_LIMIT_BYTES', bodiesLimitBytes, Math.max(
    requestBodyLimitBytes,
    anonymousBodyLimitBytes / ANONYMOUS_PART,
  ), 'one body of KEELSON_REQUEST_BODY_LIMIT_BYTES, and four of KEELSON_ANONYMOUS_BODY_LIMIT_BYTES');
  if ((config.tlsCertificateFile === undefined) !== (config.tlsKeyFile === undefined))
    problems.push('KEELSON_TLS_CERTIFICATE_FILE and KEELSON_TLS_KEY_FILE go together.');
  try {
    createNetworks(config.trustedProxies);
  } catch (error) {
    problems.push(`KEELSON_TRUSTED_PROXIES: ${KeelsonError.from(error).message}.`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
};

/** What a gateway in a process of its own is told besides. */
export const gatewayProcessConfig = composeConfig(
  gatewayConfig,
  enrolledSettings,
  Type.Object({
    workspaceAddresses: Type.Array(Type.String(), {
      description: 'host:port of the workspace service; a DNS name stands for all its replicas.',
      default: ['workspace:9000'],
    }),
    pkiAddresses: Type.Array(Type.String(), {
      description: 'host:port of the pki service; a DNS name stands for all its replicas.',
      default: ['pki:9000'],
    }),
    rateLimitRedisUrl: Type.Optional(
      Type.String({
        description:
          'Redis in which several gateways count one rate limit: redis://host:6379; each counts for itself when not set, or while it cannot be reached.',
        pattern: '^rediss?://',
        secret: true,
      }),
    ),
  }),
  processSettings,
);
