/** Where a browser may return to after a login at a provider of identities. */

/** The address of the own machine, at which a program listens at a port that is free (RFC 8252 §7.3). */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The URI without its port; undefined unless it is one of the own machine. */
const withoutPort = (uri: string): string | undefined => {
  if (!URL.canParse(uri)) return undefined;
  const url = new URL(uri);
  if (url.protocol !== 'http:' || !LOOPBACK.has(url.hostname)) return undefined;
  url.port = '';
  return url.href;
};

/** Whether the URI is one of those that are allowed, character by character but for the port of the own machine. */
export const isAllowedRedirect = (allowed: readonly string[], uri: string): boolean => {
  const own = withoutPort(uri);
  return (
    allowed.includes(uri) || (own !== undefined && allowed.some((one) => withoutPort(one) === own))
  );
};
