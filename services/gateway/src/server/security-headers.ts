/** Headers of every answer that tell browsers what not to do with it. */
import type { IncomingMessage } from 'node:http';

export type SecurityHeaders = (request: IncomingMessage) => Readonly<Record<string, string>>;

/**
 * RFC 6797 §8.1.1 takes no notice of it for addresses. For localhost it would end plain HTTP on all ports
 * of the machine, those of other programs too.
 */
const IS_ANYWHERE = /^(?:[^:[]*\.)?localhost(?::|$)|^[\d.]+(?::|$)|^\[/i;

/** @param hstsSeconds how long browsers use nothing but HTTPS for the host; 0 does not say so */
export const createSecurityHeaders = (hstsSeconds: number): SecurityHeaders => {
  const plain = { 'x-content-type-options': 'nosniff' };
  const strict = { ...plain, 'strict-transport-security': `max-age=${hstsSeconds}` };
  return ({ socket, headers: { host = '' } }) => {
    const isEncrypted = 'encrypted' in socket && socket.encrypted === true;
    return isEncrypted && hstsSeconds > 0 && !IS_ANYWHERE.test(host) ? strict : plain;
  };
};
