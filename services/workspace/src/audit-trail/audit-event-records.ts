import { setImmediate } from 'node:timers/promises';
import { collection, type Reads, type Transaction } from '@keelson/storage';
import { type AuditEvent, auditEventShape } from './domain/audit-event.ts';
import { toEventKey } from './domain/event-key.ts';

/** Organization id, key of the event (`domain/event-key.ts`): the newest is the first. */
export const auditEvents = collection('audit-events', {
  scope: 'shared',
  version: 1,
  shape: auditEventShape,
  owner: { kind: 'organization', by: '*' },
});

export const storeAuditEvent = (tx: Transaction, event: AuditEvent): void =>
  auditEvents.write(tx, [event.organizationId, toEventKey(event)], event);

const READ_AT_ONCE = 1000;

/**
 * Keys of the events of an organization, newest first, in portions: reads of a local store do not wait for anything, and
 * others get their turns in between.
 */
export async function* eventKeys(
  reads: Reads,
  organizationId: string,
): AsyncGenerator<readonly string[]> {
  for (let after: string | undefined; ; ) {
    const keys = await auditEvents.keys(reads, [organizationId], {
      limit: READ_AT_ONCE,
      ...(after !== undefined && { after }),
    });
    yield keys;
    if (keys.length < READ_AT_ONCE) return;
    after = keys.at(-1);
    await setImmediate();
  }
}
