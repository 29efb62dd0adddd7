/** Signatures of clients, checked beside the thread that answers requests (docs/decisions/0090). */
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { ParsedCsr } from '@keelson/x509';
import { workBeside } from '../../threads/job-thread.ts';
import type { SignedText } from '../domain/jws.ts';
import { type CheckedSignature, checkSignature, type SignatureJob } from './check-signature.ts';

export interface SignatureChecks {
  /** @param publicKey SubjectPublicKeyInfo, a character an octet */
  isSigned(signed: SignedText, publicKey: string): Promise<boolean>;
  /** As `parseCsr`. */
  readCsr(der: Uint8Array): Promise<ParsedCsr>;
}

export const SIGNATURE_THREAD = new URL('./signature-thread.ts', import.meta.url);

export const createSignatureChecks = (options: {
  readonly logger: Logger;
  readonly stopping: AbortSignal;
}): SignatureChecks => {
  const check = workBeside<SignatureJob, CheckedSignature>(
    {
      entry: SIGNATURE_THREAD,
      name: 'signature-checks',
      here: checkSignature,
    },
    options,
  );
  return {
    isSigned: async (signed, publicKey) => {
      const checked = await check({ kind: 'jws', signed, publicKey });
      return checked.kind === 'jws' && checked.isValid;
    },
    readCsr: async (der) => {
      // A copy of its own: the buffer may be part of a larger one.
      const checked = await check({ kind: 'csr', der: Uint8Array.from(der) });
      if (checked.kind !== 'csr') throw new KeelsonError('internal');
      return checked.csr;
    },
  };
};
