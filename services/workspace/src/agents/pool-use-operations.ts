/** Which workspaces, projects and organizations name a pool of their own. */
import { refuseInvalid } from '@keelson/jsonapi';
import type { Reads, Transaction } from '@keelson/storage';
import { attributeViolation } from '../validation/domain/violation.ts';
import { agentPoolNames, agentPoolRecords, agentPoolUsers } from './agent-pool-records.ts';
import { isOpenTo, type PoolUser, withoutNamed } from './domain/agent-pool.ts';

const ATTRIBUTES = {
  workspace: 'agent-pool-id',
  project: 'default-agent-pool-id',
  organization: 'default-agent-pool-id',
} as const;

const requireUsable = async (reads: Reads, user: PoolUser, poolId: string): Promise<void> => {
  const pool = await agentPoolRecords.find(reads, poolId);
  const attribute = ATTRIBUTES[user.kind];
  if (pool?.organizationId !== user.organizationId) {
    refuseInvalid([attributeViolation(attribute, 'Agent pool not found')]);
  } else if (!isOpenTo(pool, user)) {
    refuseInvalid([
      attributeViolation(
        attribute,
        `Agent pool ${user.kind} does not have access to use this agent pool`,
      ),
    ]);
  }
};

/**
 * Notes that `user` names another pool than before; null is none.
 * @throws KeelsonError `jsonapi.invalid_attribute` for a pool of another organization, or one not open to it
 */
export const changePoolUse = async (
  tx: Transaction,
  user: PoolUser,
  before: string | null | undefined,
  after: string | null | undefined,
): Promise<void> => {
  if (after != null) await requireUsable(tx, user, after);
  if (before === after) return;
  if (before != null) agentPoolUsers.delete(tx, before, user.id);
  if (after != null) agentPoolUsers.write(tx, [after, user.id], { kind: user.kind });
};

/** A workspace or project is gone: no pool allows or excludes it any more, nor is one its own. */
export const removePoolUser = async (
  tx: Transaction,
  user: PoolUser,
  poolId: string | null | undefined,
): Promise<void> => {
  await changePoolUse(tx, user, poolId, null);
  for (const name of await agentPoolNames.keys(tx, [user.organizationId])) {
    const place = await agentPoolNames.find(tx, user.organizationId, name);
    const pool = place && (await agentPoolRecords.find(tx, place.id));
    const next = pool && withoutNamed(pool, user.id);
    if (next !== undefined && next !== pool) agentPoolRecords.write(tx, [next.id], next);
  }
};
