/**
 * The header names of the edge. The neutral name is primary; the name used by the vendor's clients
 * is an alias. Any vendor header on /v1 selects the vendor dialect (docs/divergences).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { CLIENT_CERTIFICATE, CLIENT_CERTIFICATE_CHAIN } from '@keelson/edge';
import { Dialect } from '@keelson/proto/edge/v1/edge';

const NEUTRAL = 'x-service-';
const VENDOR = 'x-vault-';

const named = (name: string) => ({ primary: NEUTRAL + name, alias: VENDOR + name });

/** Headers that exist under both prefixes, by their name in this code. */
const SHARED = {
  token: named('token'),
  namespace: named('namespace'),
  wrapTtl: named('wrap-ttl'),
  wrapFormat: named('wrap-format'),
  index: named('index'),
  mfa: named('mfa'),
} as const;

/** The value of a header by its primary name, else by its alias. */
export const serviceHeader = (
  headers: IncomingHttpHeaders,
  name: keyof typeof SHARED,
): string | undefined => {
  const { primary, alias } = SHARED[name];
  const value = headers[primary] ?? headers[alias];
  return typeof value === 'string' ? value : value?.[0];
};

/** RFC 6750 §2.1; the name of the scheme in any case (RFC 9110 §11.1). */
export const bearerToken = (headers: IncomingHttpHeaders): string =>
  /^bearer (.*)$/i.exec(headers.authorization ?? '')?.[1]?.trim() ?? '';

/** The credentials of Basic authentication as they are (RFC 7617 §2), "" without any. */
export const basicCredentials = (headers: IncomingHttpHeaders): string =>
  /^basic ([\w+/=-]*)$/i.exec(headers.authorization ?? '')?.[1] ?? '';

export const dialectOf = (headers: IncomingHttpHeaders): Dialect => {
  for (const name in headers) if (name.startsWith(VENDOR)) return Dialect.VENDOR;
  return Dialect.SPECIFICATION;
};

/** Headers passed to services. All others stay in the gateway, tokens above all. */
const FORWARDED: readonly string[] = [
  'accept',
  'accept-language',
  'content-type',
  'content-encoding',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'user-agent',
  'terraform-version',
  'x-terraform-integration',
  // Webhook deliveries: the event, the id of the delivery, and its signature.
  'idempotency-key',
  'x-event-key',
  'x-gitea-delivery',
  'x-gitea-event',
  'x-gitea-signature',
  'x-github-delivery',
  'x-github-event',
  'x-gitlab-event',
  'x-gitlab-event-uuid',
  'x-gitlab-token',
  'x-hub-signature',
  'x-hub-signature-256',
  'x-request-id',
  'x-request-uuid',
];

/** Headers for the service, including `extra` ones that the mount's tuning passes through. */
export const forwardedHeaders = (
  headers: IncomingHttpHeaders,
  extra: readonly string[] = [],
): Record<string, string> => {
  const forwarded: Record<string, string> = {};
  for (const name of FORWARDED) {
    const value = headers[name];
    if (typeof value === 'string') forwarded[name] = value;
  }
  for (const name of ['index', 'mfa'] as const) {
    const value = serviceHeader(headers, name);
    if (value !== undefined) forwarded[SHARED[name].primary] = value;
  }
  for (const given of extra) {
    const name = given.toLowerCase();
    const value = headers[name];
    if (value !== undefined && !isCredential(name))
      forwarded[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return forwarded;
};

const isCredential = (name: string): boolean =>
  name === SHARED.token.primary ||
  name === SHARED.token.alias ||
  name === PRESENTED_TOKEN ||
  name === PRESENTED_CREDENTIALS ||
  name === CLIENT_CERTIFICATE ||
  name === CLIENT_CERTIFICATE_CHAIN ||
  name === 'authorization' ||
  name === 'cookie';

/**
 * An engine's description of a request for the audit entry, JSON in base64; never sent to a client.
 */
export const AUDITED_REQUEST = 'x-audited-request';

/**
 * Headers that an engine may always answer with; the mount's tuning allows further ones. The
 * `access-control-` headers here have no effect without `access-control-allow-origin`, which is not
 * among them.
 */
const ENGINE_ANSWERS: ReadonlySet<string> = new Set([
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-expose-headers',
  'access-control-max-age',
  'allow',
  'cache-control',
  'content-disposition',
  'content-length',
  'content-transfer-encoding',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'link',
  'location',
  'replay-nonce',
  'retry-after',
  'www-authenticate',
  SHARED.index.primary,
  SHARED.index.alias,
]);

export const isAllowedAnswerHeader = (name: string, allowed: readonly string[]): boolean =>
  ENGINE_ANSWERS.has(name) ||
  (name !== AUDITED_REQUEST && allowed.some((other) => other.toLowerCase() === name));

/** Carries the token to a service whose answer needs it (Allowed.pass_token); never taken from a client. */
export const PRESENTED_TOKEN = 'x-presented-token';

/** Carries the credentials of Basic authentication (Allowed.pass_credentials); never taken from a client. */
export const PRESENTED_CREDENTIALS = 'x-presented-credentials';
