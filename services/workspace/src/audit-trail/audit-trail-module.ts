/** The audit trail: who has changed what in an organization. It knows the records of all other modules. */
import type { ResourceSchema } from '@keelson/jsonapi';
import type { PeriodicWork } from '@keelson/locks';
import type { ServiceContext } from '../base/service-context.ts';
import { AUDIT_EVENT } from './audit-event-document.ts';
import { removeEndedEvents } from './audit-event-removal.ts';

export { auditTrailOrganizationSteps } from './audit-event-removal.ts';
export { auditEventRoutes } from './audit-event-routes.ts';
export { createAuditTrail } from './audited-store.ts';

/** The resources that its routes answer with. */
export const AUDIT_TRAIL_RESOURCES: readonly ResourceSchema[] = [AUDIT_EVENT];

const TEN_MINUTES_MS = 600_000;

/**
 * Background work by name; it pauses while the service is sealed.
 * @param limit of the events of one organization
 */
export const auditTrailUpkeep = (
  context: ServiceContext,
  limit: number,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => ({
  'audit-events': {
    everyMs: TEN_MINUTES_MS,
    round: async (options) => {
      if (!isSealed()) await removeEndedEvents(context, limit, options);
      return false;
    },
  },
});
