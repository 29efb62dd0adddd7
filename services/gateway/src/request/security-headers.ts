/** Headers of every response that restrict what browsers do with it. */
import type { IncomingMessage } from 'node:http';

export type SecurityHeaders = (request: IncomingMessage) => Readonly<Record<string, string>>;

/**
 * HSTS is ignored for IP addresses (RFC 6797 §8.1.1). For localhost it would disable plain HTTP on all ports
 * of the machine, including those of other programs.
 */
const IS_ANYWHERE = /^(?:[^:[]*\.)?localhost(?::|$)|^[\d.]+(?::|$)|^\[/i;

/** @param hstsSeconds time for which browsers use only HTTPS for the host; 0 omits the header */
export const createSecurityHeaders = (hstsSeconds: number): SecurityHeaders => {
  const plain = { 'x-content-type-options': 'nosniff' };
  const strict = { ...plain, 'strict-transport-security': `max-age=${hstsSeconds}` };
  return ({ socket, headers: { host = '' } }) => {
    const isEncrypted = 'encrypted' in socket && socket.encrypted === true;
    return isEncrypted && hstsSeconds > 0 && !IS_ANYWHERE.test(host) ? strict : plain;
  };
};
