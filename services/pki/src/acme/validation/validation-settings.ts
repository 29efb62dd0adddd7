/** Settings for validating a mount's challenges, combined from the mount and the process. */

import type { AcmeSettings } from '../config/acme-settings.ts';
import type { AcmeConfig } from '../config/domain/acme-config.ts';
import { type ValidationSettings } from './challenge-attempt.ts';

/**
 * Shorter than a claim on a queue entry (`CLAIM_MS`), so that an attempt ends before its claim
 * expires.
 */
export const TIMEOUTS_MS = { connect: 10_000, attempt: 20_000 } as const;

export const toValidationSettings = (
  process: Pick<AcmeSettings, 'acmeHttpPort' | 'acmeTlsPort'>,
  mount: Pick<
    AcmeConfig,
    'dnsResolver' | 'challengePermittedIpRanges' | 'challengeExcludedIpRanges'
  >,
): ValidationSettings => ({
  dnsResolver: mount.dnsResolver,
  ports: { http: process.acmeHttpPort, tls: process.acmeTlsPort },
  addressRanges: {
    permitted: mount.challengePermittedIpRanges,
    excluded: mount.challengeExcludedIpRanges,
  },
  timeoutsMs: TIMEOUTS_MS,
});
