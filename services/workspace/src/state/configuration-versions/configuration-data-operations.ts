/** Withholds, restores, archives and deletes the files of configurations that are no longer current. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Store, Transaction, TransactOptions } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { limitsOf } from '../../base/retention/domain/retention-policy.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { findWorkspaceConfiguration } from '../../workspaces/model/workspace-configuration-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { releaseContent } from '../contents/state-content-operations.ts';
import type { ConfigurationVersion } from '../model/domain/configuration-version.ts';
import { applyToAged } from '../retention/aged-versions.ts';
import {
  type BackingDataAction,
  DELETED,
  decideRetention,
  nextStatus,
  WITHHELD,
} from '../retention/domain/backing-data.ts';
import { loadRuleInForce } from '../retention/retention-operations.ts';
import type { StateContext } from '../seams/state-context.ts';
import { requireConfigurationVersion } from './configuration-version-operations.ts';
import type { ConfigurationVersionTables } from './configuration-version-projections.ts';
import { configurationVersionRecords, workspaceReadmes } from './configuration-version-records.ts';

const KEPT = 'uploaded';

/** Why the files of a version are kept: new runs start with them, or an unfinished run uses them. */
const findNeed = async (
  { stateSteps }: StateContext,
  reads: Reads,
  workspace: Workspace,
  versionId: string,
): Promise<string | undefined> => {
  const current = await findWorkspaceConfiguration(reads, workspace);
  if (current?.currentId === versionId) return 'it is current';
  for (const step of stateSteps) {
    const need = await step.findConfigurationNeed?.(reads, workspace.id, versionId);
    if (need !== undefined) return need;
  }
  return undefined;
};

const applyAction = async (
  tx: Transaction,
  version: ConfigurationVersion,
  action: BackingDataAction,
  nowMs: number,
): Promise<boolean> => {
  const status = nextStatus(KEPT, version.status, action);
  if (status === undefined) return false;
  if (status === DELETED) {
    await releaseContent(tx, version.archive);
    workspaceReadmes.delete(tx, version.id);
  }
  await configurationVersionRecords.write(tx, [version.id], {
    ...version,
    status,
    archive: status === DELETED ? null : version.archive,
    statusTimesMs: { ...version.statusTimesMs, [status]: nowMs },
  });
  return true;
};

/** Makes a change that requires permission to update the workspace. */
const changeVersion = (
  { store }: StateContext,
  principal: Principal,
  versionId: string,
  change: (tx: Transaction, version: ConfigurationVersion, workspace: Workspace) => Promise<void>,
): Promise<void> =>
  store.transact(async (tx) => {
    const { version, workspace } = await requireConfigurationVersion(
      tx,
      principal,
      versionId,
      'canUpdate',
    );
    await change(tx, version, workspace);
  });

/** @throws KeelsonError `request.invalid` when the version is still needed or its status does not allow it */
export const changeConfigurationData = (
  context: StateContext,
  principal: Principal,
  versionId: string,
  action: BackingDataAction,
): Promise<void> =>
  changeVersion(context, principal, versionId, async (tx, version, workspace) => {
    const isAllowed =
      (await findNeed(context, tx, workspace, versionId)) === undefined &&
      (await applyAction(tx, version, action, context.clock.nowMs()));
    if (!isAllowed) throw new KeelsonError('request.invalid', { text: 'transition not allowed' });
  });

/**
 * Deletes the files of a version that no run needs.
 * @throws KeelsonError `workspace.conflict`
 */
export const archiveConfigurationVersion = (
  context: StateContext,
  principal: Principal,
  versionId: string,
): Promise<void> =>
  changeVersion(context, principal, versionId, async (tx, version, workspace) => {
    const reason =
      version.status === 'uploaded'
        ? await findNeed(context, tx, workspace, versionId)
        : `it is ${version.status}`;
    if (reason !== undefined) {
      throw new KeelsonError('workspace.conflict', {
        text: `transition not allowed: configuration could not be archived because ${reason}`,
      });
    }
    await releaseContent(tx, version.archive);
    await configurationVersionRecords.write(tx, [version.id], {
      ...version,
      status: 'archived',
      statusTimesMs: { ...version.statusTimesMs, archived: context.clock.nowMs() },
      archive: null,
    });
  });

const findDue = async (context: StateContext, reads: Reads, id: string, nowMs: number) => {
  const version = await configurationVersionRecords.find(reads, id);
  const workspace = version && (await workspaceRecords.find(reads, version.workspaceId));
  if (version === undefined || workspace === undefined) return undefined;
  const limits = limitsOf(await loadRuleInForce(reads, workspace), 'configurationVersions');
  if (limits === undefined) return undefined;
  const withheldAtMs = version.statusTimesMs[WITHHELD];
  const action = decideRetention(KEPT, { ...version, withheldAtMs }, limits, nowMs);
  if (action === undefined || (await findNeed(context, reads, workspace, id)) !== undefined)
    return undefined;
  return { version, action, keepLatest: limits.keepLatest };
};

const countNewer = async (
  store: Pick<Store, 'select'>,
  { id, workspaceId, createdAtMs }: ConfigurationVersion,
  limit: number,
): Promise<number> => {
  const newer = await store.select((tables: Kysely<ConfigurationVersionTables>) =>
    tables
      .selectFrom('configuration_version')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('status', '=', KEPT)
      .where((row) =>
        row.or([
          row('created_at', '>', createdAtMs),
          row.and([row('created_at', '=', createdAtMs), row('id', '>', id)]),
        ]),
      )
      .limit(limit),
  );
  return newer.length;
};

/** One pass over all configuration versions that may be due under a policy. */
export const applyConfigurationRetention = (
  context: StateContext,
  options: TransactOptions,
): Promise<void> =>
  applyToAged(
    context,
    {
      table: 'configuration_version',
      kept: KEPT,
      findDue: (reads, id, nowMs) => findDue(context, reads, id, nowMs),
      countNewer,
      applyAction,
    },
    options,
  );
