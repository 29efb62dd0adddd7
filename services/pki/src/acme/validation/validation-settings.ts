/** How a mount's challenges are validated: by its own settings and those of the process. */

import type { AcmeSettings } from '../config/acme-settings.ts';
import type { AcmeConfig } from '../config/domain/acme-config.ts';
import { type ValidationSettings } from './challenge-attempt.ts';

/** An attempt is over before its claim on the queue's entry is (`CLAIM_MS`). */
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
