/** Verifies client signatures off the event loop (docs/decisions/0014). */
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { ParsedCsr } from '@keelson/x509';
import { ThreadPool } from '../../threads/thread-pool.ts';
import { type CheckedSignature, checkSignature, type SignatureJob } from './check-signature.ts';
import type { SignedText } from './jws.ts';

export interface SignatureChecks {
  /** @param publicKey SubjectPublicKeyInfo, one character per octet */
  isSigned(signed: SignedText, publicKey: string): Promise<boolean>;
  /** Like `parseCsr`, on a worker thread. */
  readCsr(der: Uint8Array): Promise<ParsedCsr>;
}

/** Opens a separate pool; also used by tests, which wait until it is ready. */
export const openSignaturePool = (
  logger: Logger,
  processors?: number,
): ThreadPool<SignatureJob, CheckedSignature> =>
  new ThreadPool(
    {
      entry: new URL('./signature-thread.ts', import.meta.url),
      name: 'signature checks',
      here: checkSignature,
      maxThreads: 1,
      jobsPerMessage: 16,
      messagesAtATime: 8,
      messagesOfOwner: 8,
    },
    logger,
    processors,
  );

export const createSignatureChecks = ({
  logger,
  stopping,
  processors,
}: {
  readonly logger: Logger;
  readonly processors?: number | undefined;
  readonly stopping: AbortSignal;
}): SignatureChecks => {
  const pool = openSignaturePool(logger, processors);
  stopping.addEventListener('abort', () => void pool.end(stopping.reason), { once: true });
  const check = async (job: SignatureJob): Promise<CheckedSignature> =>
    stopping.aborted ? checkSignature(job) : pool.run(job);
  return {
    isSigned: async (signed, publicKey) => {
      const checked = await check({ kind: 'jws', signed, publicKey });
      return checked.kind === 'jws' && checked.isValid;
    },
    readCsr: async (der) => {
      // A copy, because the buffer may be part of a larger one.
      const checked = await check({ kind: 'csr', der: Uint8Array.from(der) });
      if (checked.kind !== 'csr') throw new KeelsonError('internal');
      return checked.csr;
    },
  };
};
