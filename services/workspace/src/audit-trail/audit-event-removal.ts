/** The end of events: by age, by number, and with their organization. */
import type { Store, TransactOptions } from '@keelson/storage';
import type { ServiceContext } from '../base/service-context.ts';
import { findOrganizationByName } from '../identity/model/organization-records.ts';
import type { OrganizationSteps } from '../identity/seams/organization-steps.ts';
import { auditEvents, eventKeys } from './audit-event-records.ts';
import { KEPT_MS } from './domain/audit-event.ts';
import { isUntil, parseEventKey } from './domain/event-key.ts';

const REMOVAL_BATCH = 500;

const removeKeys = async (
  store: Store,
  organizationId: string,
  keys: readonly string[],
  options?: TransactOptions,
): Promise<void> => {
  for (let from = 0; from < keys.length; from += REMOVAL_BATCH)
    await store.transact((tx) => {
      for (const key of keys.slice(from, from + REMOVAL_BATCH))
        auditEvents.delete(tx, organizationId, key);
    }, options);
};

/** Removes events that are older than they are kept, or more than `limit`. */
export const removeEndedEvents = async (
  { store, clock }: ServiceContext,
  limit: number,
  options: TransactOptions,
): Promise<void> => {
  const endMs = clock.nowMs() - KEPT_MS - 1;
  for (const name of await auditEvents.keys(store, [])) {
    const organizationId = name.replace(/\/$/, '');
    const ended: string[] = [];
    let kept = 0;
    for await (const keys of eventKeys(store, organizationId))
      for (const key of keys) {
        if (kept === limit || isUntil(parseEventKey(key), endMs)) ended.push(key);
        else kept += 1;
      }
    await removeKeys(store, organizationId, ended, options);
  }
};

/** Removes the events of an organization in portions, because the transaction that deletes it must not be too large. */
export const auditTrailOrganizationSteps = (store: Store): OrganizationSteps => ({
  beforeOrganizationRemoved: async (_, organizationName) => {
    const organization = await findOrganizationByName(store, organizationName);
    if (organization === undefined) return;
    for await (const keys of eventKeys(store, organization.id))
      await removeKeys(store, organization.id, keys);
  },
});
