/**
 * Clients in browsers (RFC 8555 §6.1). Cross-origin access lets any web page use an ACME server
 * that only its visitor can reach, so a mount must enable it: by `Access-Control-Allow-Origin` in
 * its `allowed_response_headers`.
 */
import { type EdgeMethod, type EdgeResponse, edgeResponse, methodRefused } from '@keelson/edge';
import type { Mount } from '@keelson/proto/edge/v1/edge';

const ALLOW_ORIGIN = 'access-control-allow-origin';
/** How long a browser may cache the answer to a preflight request. */
const MAX_AGE_SECONDS = 86_400;

/** Without credentials, because ACME clients are identified by their signature. */
const SHARED = [
  { name: ALLOW_ORIGIN, value: '*' },
  { name: 'access-control-expose-headers', value: 'Link, Location, Replay-Nonce, Retry-After' },
] as const;

const isShared = ({ allowedResponseHeaders }: Mount): boolean =>
  allowedResponseHeaders.some((name) => name.toLowerCase() === ALLOW_ORIGIN);

export const withCrossOrigin = (mount: Mount, response: EdgeResponse): EdgeResponse =>
  isShared(mount)
    ? { ...response, head: { ...response.head, headers: [...response.head.headers, ...SHARED] } }
    : response;

/** The methods of a resource, with OPTIONS only if the mount is shared with other origins. */
export const methodsOn = (mount: Mount, methods: readonly EdgeMethod[]): readonly EdgeMethod[] =>
  isShared(mount) ? [...methods, 'OPTIONS'] : methods;

/**
 * The answer to the preflight request that a browser sends before a POST with the content type of JOSE.
 * @throws KeelsonError `request.unsupported_operation` if the mount is not shared
 */
export const answerPreflight = (mount: Mount, methods: readonly EdgeMethod[]): EdgeResponse => {
  if (!isShared(mount)) throw methodRefused(methods);
  const allowed = edgeResponse(204, {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': 'Content-Type',
    'access-control-max-age': String(MAX_AGE_SECONDS),
  });
  return withCrossOrigin(mount, allowed);
};
