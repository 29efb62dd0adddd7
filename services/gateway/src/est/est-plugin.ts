/**
 * /.well-known/est (RFC 7030 §3.2.2): each request is mapped to a path of the mount that answers
 * it, and sys decides about it as about any other request to that path. The token is the password
 * of HTTP Basic, or is sent as on /v1; without a token, the certificate of the TLS client
 * authenticates the request.
 */
import { hasCode, KeelsonError } from '@keelson/errors';
import type { EnrolmentDefinition, Location } from '@keelson/proto/pki/v1/enrolment';
import type { RpcService } from '@keelson/rpc';
import type { FastifyPluginCallback } from 'fastify';
import { answerWith, type ServeExchange } from '../answers/answer-with.ts';
import type { ClientCertificates } from '../request/client-certificate.ts';
import type { Exchange } from '../request/exchange.ts';
import { bearerToken, serviceHeader } from '../request/header-names.ts';

export interface EstParts {
  readonly enrolment: RpcService<typeof EnrolmentDefinition>;
  readonly serveV1: ServeExchange;
  readonly clientCertificates: ClientCertificates;
}

const CHALLENGE = 'Basic realm="est", charset="UTF-8"';

/** The password (RFC 7617 §2), which is a token; the user name is ignored. */
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
const pathFor = (
  location: Location,
  token: string,
  hasClientCertificate: () => boolean,
): string => {
  if (!location.isAuthenticated || token !== '') return location.path;
  if (location.certificatePath !== '' && hasClientCertificate()) return location.certificatePath;
  throw new KeelsonError('pki.est_unauthenticated', {
    needed: [
      ...(location.acceptsBasic ? ['a token as the password of HTTP Basic'] : []),
      ...(location.certificatePath === '' ? [] : ['a certificate of the TLS client']),
      ...(location.acceptsBasic || location.certificatePath !== '' ? [] : ['a token']),
    ].join(', or '),
  });
};

const createServeEst =
  ({ enrolment, serveV1, clientCertificates }: EstParts): ServeExchange =>
  async (exchange) => {
    const { head } = exchange;
    const location = await enrolment.locate(parsePath(head.path), exchange);
    try {
      const token = tokenOf(exchange, location);
      const hasCertificate = () => clientCertificates(exchange.request).length > 0;
      exchange.head = { ...head, path: `/${pathFor(location, token, hasCertificate)}` };
      exchange.token = token;
      return await serveV1(exchange);
    } catch (error) {
      // The client cannot distinguish an unknown token from one without permission; the audit entry
      // does.
      const isDenied =
        hasCode(error, 'sys.permission_denied') || hasCode(error, 'sys.token_required');
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

/** Routes every method and path, because the mount decides which ones exist. */
export const estPlugin: FastifyPluginCallback<EstParts> = (app, parts, done) => {
  const serve = createServeEst(parts);
  for (const path of ['/', '/*']) app.all(path, answerWith(serve));
  done();
};
