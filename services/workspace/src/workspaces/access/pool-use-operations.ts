/** Records which workspaces, projects and organizations name an agent pool in their own settings. */
import { refuseInvalid } from '@keelson/jsonapi';
import type { Reads, Transaction } from '@keelson/storage';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { agentPoolRecords, agentPoolUsers } from '../model/agent-pool-records.ts';
import { isOpenTo, NO_SUCH_POOL, type PoolUser, withoutNamed } from '../model/domain/agent-pool.ts';

const ATTRIBUTES = {
  workspace: 'agent-pool-id',
  project: 'default-agent-pool-id',
  organization: 'default-agent-pool-id',
} as const;

const requireUsable = async (reads: Reads, user: PoolUser, poolId: string): Promise<void> => {
  const pool = await agentPoolRecords.find(reads, poolId);
  const attribute = ATTRIBUTES[user.kind];
  if (pool?.organizationId !== user.organizationId) {
    refuseInvalid([attributeViolation(attribute, NO_SUCH_POOL)]);
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
 * Records that `user` now names another pool; null means no pool.
 * @throws KeelsonError `jsonapi.invalid_attribute` for a pool of another organization, or one that the user
 * may not use
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

/** Removes a deleted workspace or project from the lists of all pools, and from the users of its own pool. */
export const removePoolUser = async (
  tx: Transaction,
  user: PoolUser,
  poolId: string | null | undefined,
): Promise<void> => {
  await changePoolUse(tx, user, poolId, null);
  for (const pool of await agentPoolRecords.by.named.records(tx, user.id)) {
    await agentPoolRecords.write(tx, [pool.id], withoutNamed(pool, user.id));
  }
};
