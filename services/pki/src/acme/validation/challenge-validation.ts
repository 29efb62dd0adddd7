/** One attempt at proving control over an identifier (RFC 8555 §8, RFC 8737, RFC 8738). */
import type { ChallengeType } from '../domain/challenge-types.ts';
import type { AddressRanges } from './address-policy.ts';
import { validateDns01 } from './dns-01.ts';
import { validateDnsAccount01 } from './dns-account-01.ts';
import { validateHttp01 } from './http-01.ts';
import { validateTlsAlpn01 } from './tls-alpn-01.ts';
import { ValidationFailure, type ValidationProblem } from './validation-failure.ts';

export interface ChallengeAttempt {
  readonly type: ChallengeType;
  /** As in the authorization: lower-case ASCII without "*.", or an IP address as RFC 5952 writes it. */
  readonly identifier: { readonly type: 'dns' | 'ip'; readonly value: string };
  /** Of the authorization: the order asked for "*." and the name. */
  readonly wildcard: boolean;
  readonly token: string;
  /** Token, dot, thumbprint of the account's key (RFC 8555 §8.1). */
  readonly keyAuthorization: string;
  /** As the client knows it: dns-account-01 hashes it, the others do not look at it. */
  readonly accountUrl: string;
}

/** Plain data: they go from thread to thread. */
export interface ValidationSettings {
  /** "address:port" of the DNS server that is asked; empty for those of the system. */
  readonly dnsResolver: string;
  /** Where http-01 (80) and tls-alpn-01 (443) connect to; redirects may go to both. */
  readonly ports: { readonly http: number; readonly tls: number };
  readonly addressRanges: AddressRanges;
  /** Of one connection, and of the whole attempt. */
  readonly timeoutsMs: { readonly connect: number; readonly attempt: number };
}

/** `retry`: may heal with time (a record that is not everywhere yet); `invalid`: will not. */
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
 * Never throws for what the other side does, only when `stopping` is aborted. What is said to the client
 * holds nothing of a response that was read: the server must not become a way to read what only it can
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
