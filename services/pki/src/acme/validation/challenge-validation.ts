/** One attempt at proving control over an identifier (RFC 8555 §8, RFC 8737, RFC 8738). */
import type { ChallengeType } from '../orders/domain/challenge-types.ts';
import type { ChallengeAttempt, ValidationSettings } from './challenge-attempt.ts';
import { validateDns01 } from './dns-01.ts';
import { validateDnsAccount01 } from './dns-account-01.ts';
import { validateHttp01 } from './http-01.ts';
import { validateTlsAlpn01 } from './tls-alpn-01.ts';
import { ValidationFailure, type ValidationProblem } from './validation-failure.ts';

/** `retry` may succeed later, for example once a DNS record has propagated; `invalid` will not. */
export type ChallengeOutcome =
  | { readonly kind: 'valid' }
  | { readonly kind: 'retry' | 'invalid'; readonly problem: ValidationProblem };

const VALIDATIONS: Readonly<
  Record<
    ChallengeType,
    (attempt: ChallengeAttempt, settings: ValidationSettings, signal: AbortSignal) => Promise<void>
  >
> = {
  'http-01': validateHttp01,
  'dns-01': validateDns01,
  'tls-alpn-01': validateTlsAlpn01,
  'dns-account-01': validateDnsAccount01,
};

/**
 * Throws only when `stopping` is aborted, never because of the peer's behaviour. Problems quote
 * nothing from a response, so that the service cannot be used to read from hosts that only it can
 * reach.
 */
export const validateChallenge = async (
  attempt: ChallengeAttempt,
  settings: ValidationSettings,
  stopping?: AbortSignal,
): Promise<ChallengeOutcome> => {
  const { attempt: limitMs } = settings.timeoutsMs;
  const abort = new AbortController();
  let isTooLate = false;
  const timer = setTimeout(() => {
    isTooLate = true;
    abort.abort();
  }, limitMs);
  const stop = (): void => abort.abort(stopping?.reason);
  stopping?.addEventListener('abort', stop);
  if (stopping?.aborted) stop();
  try {
    await VALIDATIONS[attempt.type](attempt, settings, abort.signal);
    return { kind: 'valid' };
  } catch (error) {
    stopping?.throwIfAborted();
    if (error instanceof ValidationFailure) return { kind: error.kind, problem: error.problem };
    if (!isTooLate) throw error;
    const seconds = Math.round(limitMs / 100) / 10;
    const detail = `${attempt.type} was not answered within ${seconds} s`;
    return { kind: 'retry', problem: { type: 'connection', detail } };
  } finally {
    clearTimeout(timer);
    stopping?.removeEventListener('abort', stop);
  }
};
