import type { AuthContext } from '@grpc/grpc-js/build/src/auth-context.js';
import { servicesOfSubjectAltName } from './tls-identity.ts';

export interface PeerCall {
  getAuthContext(): AuthContext;
}

/**
 * The calling service as proved by its certificate, or undefined for a caller without a certificate of the
 * internal CA (grpc-js shows a certificate only if the handshake verified it).
 */
export const peerService = (call: PeerCall): string | undefined => {
  const certificate = call.getAuthContext().sslPeerCertificate;
  return certificate && servicesOfSubjectAltName(certificate.subjectaltname ?? '')[0];
};
