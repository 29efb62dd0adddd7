import { availableParallelism } from 'node:os';
import type { Logger } from '@keelson/logging';
import type { SigningIssuer } from '../issuers/domain/signing-issuer.ts';
import type { Role } from '../roles/domain/role.ts';
import {
  type CertificateOrder,
  type MadeCertificate,
  makeCertificate,
} from './make-certificate.ts';
import { ThreadedMaker } from './threaded-maker.ts';

export interface CertificateMaker {
  /** As `makeCertificate`; `sys.sealed` when `forget` came before it was done. */
  make(
    issuer: SigningIssuer,
    role: Role | undefined,
    order: CertificateOrder,
  ): Promise<MadeCertificate>;
  /** Lets go of all private keys; resolves when the threads that had them have ended. */
  forget(): Promise<void>;
}

/** More would only take cores from the thread that answers. */
const MAX_THREADS = 4;

/** A maker beside the thread that answers requests, where there is a core for it. */
export const createCertificateMaker = (logger: Logger): CertificateMaker => {
  const cores = availableParallelism();
  return cores === 1
    ? { make: makeCertificate, forget: () => Promise.resolve() }
    : new ThreadedMaker({ maxThreads: Math.min(cores - 1, MAX_THREADS), logger });
};
