import { expect, test } from 'vitest';
import type { AuditEvent } from './audit-event.ts';
import { isUntil, matches, parseEventKey, toEventKey } from './event-key.ts';

const event = (order: number, workspaceId: string | null = 'ws-1'): AuditEvent => ({
  id: '0f1e2d3c-0000-4000-8000-000000000000',
  organizationId: 'org-1',
  order,
  requestId: 'req',
  actor: { kind: 'user', id: 'user-1', tokenId: 'at-1' },
  resource: {
    type: 'team_access',
    id: 'tws-1',
    name: null,
    action: 'create',
    workspaceId,
    userId: null,
  },
});

test('a key tells what lists are filtered by', () => {
  expect(parseEventKey(toEventKey(event(1_893_456_000_000_001)))).toEqual({
    order: 1_893_456_000_000_001,
    actorId: 'user-1',
    resourceType: 'team_access',
    workspaceId: 'ws-1',
  });
  expect(parseEventKey(toEventKey(event(1, null))).workspaceId).toBe('');
});

test('the newest event has the first key', () => {
  const keys = [3, 1, 20, 1_893_456_000_000_000].map((order) => toEventKey(event(order)));
  expect(keys.toSorted().map((key) => parseEventKey(key).order)).toEqual([
    1_893_456_000_000_000, 20, 3, 1,
  ]);
});

test('times divide events by the millisecond in which they happened', () => {
  const facts = parseEventKey(toEventKey(event(5_000_500)));
  expect([isUntil(facts, 4999), isUntil(facts, 5000)]).toEqual([false, true]);
  const isBefore = (beforeMs: number) => matches(facts, { beforeMs });
  expect([isBefore(5000), isBefore(5001)]).toEqual([false, true]);
});
