/** The log line of a promotion: what this cluster had of its former primary, and what it may lack. */
import type { Logger } from '@keelson/logging';
import type { ReplicationKind } from '@keelson/replication';
import type { PromotionPlan } from './domain/promotion.ts';

export const logPromotion =
  (logger: Logger) =>
  (kind: ReplicationKind, { isSafe, missingEntries, services, unheardMs }: PromotionPlan): void => {
    if (isSafe) {
      logger.info({ kind }, 'promoted: everything of the former primary is here');
      return;
    }
    const missing = Object.fromEntries(
      services.map((one) => [one.service, one.missingEntries] as const),
    );
    logger.warn(
      { kind, missing_entries: missingEntries, missing, unheard_ms: unheardMs },
      'promoted without the end of the log of the former primary: what it committed since is not here (docs/runbooks/unplanned-failover.md)',
    );
  };
