/** Uses of secret ids that all clusters of a performance set share: the primary counts them. */
import { answeringSecondaries, askPrimary, type ReplicationMember } from '@keelson/cluster-member';
import { type EdgeService, edgeResponse } from '@keelson/edge';
import { roleIdRecords, roleRecords } from './approle-records.ts';
import { type AppRoleContext, countUse } from './secret-id-operations.ts';

const METHOD = 'COUNT';

interface Use {
  readonly roleId: string;
  readonly accessor: string;
}

export const countingOnPrimary =
  (member: ReplicationMember): AppRoleContext['countOnPrimary'] =>
  async ({ uuid, local }, roleId, accessor) => {
    const body: Use = { roleId, accessor };
    const mount = { uuid, local, type: 'approle' };
    const { status } = await askPrimary(member, { method: METHOD, mount, body });
    return status === 204;
  };

/** Wraps the service for secondaries: counts for them, and passes on all other requests. */
export const countingForSecondaries = (
  context: Pick<AppRoleContext, 'store' | 'clock'>,
  edge: EdgeService,
): EdgeService =>
  answeringSecondaries(edge, METHOD, async (mount, use) => {
    const { roleId, accessor } = use as Use;
    const { store } = context;
    const { name = '' } = (await roleIdRecords(mount).find(store, roleId)) ?? {};
    const role = name === '' ? undefined : await roleRecords(mount).find(store, name);
    const isCounted = role !== undefined && (await countUse(context, mount, role, accessor));
    return edgeResponse(isCounted ? 204 : 404);
  });
