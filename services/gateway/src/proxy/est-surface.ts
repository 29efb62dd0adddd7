/**
 * /.well-known/est (RFC 7030 §3.2.2): each request is one to the path of the mount that answers it, and is
 * decided about like any other there. A token comes as the password of HTTP Basic or as on /v1; without
 * one the certificate of the TLS client has to do.
 */
import { hasCode, KeelsonError } from '@keelson/errors';
import type { EnrolmentDefinition, Location } from '@keelson/proto/pki/v1/enrolment';
import type { RpcService } from '@keelson/rpc';
import { hasClientCertificate } from '../tls/client-certificate.ts';
import type { Exchange } from './exchange.ts';
import { bearerToken, serviceHeader } from './header-names.ts';
import type { ServeExchange } from './v1-surface.ts';

export const EST_PREFIX = '/.well-known/est';

export interface EstParts {
  readonly enrolment: RpcService<typeof EnrolmentDefinition>;
  readonly serveV1: ServeExchange;
}

const CHALLENGE = 'Basic realm="est", charset="UTF-8"';

/** RFC 7617 §2: the password, which is a token; whatever the user's name is. */
const basicPassword = (authorization: string | undefined): string | undefined => {
  const [, base64] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? '') ?? [];
  if (base64 === undefined) return undefined;
  const text = Buffer.from(base64, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : text.slice(colon + 1);
};

const tokenOf = ({ request: { headers } }: Exchange, { acceptsBasic }: Location): string =>
  (acceptsBasic ? basicPassword(headers.authorization) : undefined) ??
  (serviceHeader(headers, 'token') || bearerToken(headers));

/** Label and operation of "/simpleenroll" or "/label/simpleenroll". */
const parsePath = (path: string): { label: string; operation: string } => {
  const slash = path.lastIndexOf('/');
  return { label: path.slice(1, Math.max(slash, 1)), operation: path.slice(slash + 1) };
};

/** @throws KeelsonError `pki.est_unauthenticated` */
const pathFor = (exchange: Exchange, location: Location, token: string): string => {
  if (!location.isAuthenticated || token !== '') return location.path;
  if (location.certificatePath !== '' && hasClientCertificate(exchange.request))
    return location.certificatePath;
  throw new KeelsonError('pki.est_unauthenticated', {
    needed: [
      ...(location.acceptsBasic ? ['a token as the password of HTTP Basic'] : []),
      ...(location.certificatePath === '' ? [] : ['a certificate of the TLS client']),
      ...(location.acceptsBasic || location.certificatePath !== '' ? [] : ['a token']),
    ].join(', or '),
  });
};

export const createEstSurface =
  ({ enrolment, serveV1 }: EstParts): ServeExchange =>
  async (exchange) => {
    exchange.group = 'est';
    const { head, signal } = exchange;
    const location = await enrolment.locate(parsePath(head.path), { signal });
    try {
      const token = tokenOf(exchange, location);
      exchange.head = { ...head, path: `/${pathFor(exchange, location, token)}` };
      exchange.token = token;
      return await serveV1(exchange);
    } catch (error) {
      // Whether the token is unknown or may not do this is told apart in the audit entry only.
      const isDenied = hasCode(error, 'sys.permission_denied');
      if (!isDenied && !hasCode(error, 'pki.est_unauthenticated')) throw error;
      exchange.answerHeaders['www-authenticate'] = CHALLENGE;
      if (!isDenied) throw error;
      throw new KeelsonError(
        'pki.est_unauthenticated',
        { needed: 'a token that may do so' },
        { cause: error },
      );
    } finally {
      exchange.head = head;
    }
  };
