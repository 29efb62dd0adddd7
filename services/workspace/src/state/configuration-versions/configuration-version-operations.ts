import { KeelsonError } from '@keelson/errors';
import { newResourceId, type Page } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Transaction } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { notFound } from '../../base/not-found.ts';
import {
  requireWorkspace,
  type WorkspaceAccessResult,
} from '../../workspaces/access/access-operations.ts';
import { requireAnnouncer } from '../../workspaces/access/upload-access-operations.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { storeWorkspaceConfiguration } from '../../workspaces/model/workspace-configuration-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import type { StoredContent } from '../contents/domain/stored-content.ts';
import {
  adoptContent,
  readLooseContent,
  releaseContent,
  storeContent,
} from '../contents/state-content-operations.ts';
import {
  type ConfigurationVersion,
  isGzip,
  MAX_ARCHIVE_BYTES,
} from '../model/domain/configuration-version.ts';
import type { StateContext } from '../seams/state-context.ts';
import type { ConfigurationVersionTables } from './configuration-version-projections.ts';
import { configurationVersionRecords, workspaceReadmes } from './configuration-version-records.ts';
import { findReadme } from './readme-reader.ts';

export type ConfigurationVersionInput = Pick<
  ConfigurationVersion,
  'autoQueueRuns' | 'speculative' | 'provisional'
>;

/** Creates a configuration version without files, which awaits its upload. */
export const createConfigurationVersion = (
  { store, clock }: StateContext,
  principal: Principal,
  workspaceId: string,
  given: ConfigurationVersionInput,
): Promise<ConfigurationVersion> =>
  store.transact(async (tx) => {
    await requireWorkspace(tx, principal, { workspaceId }, 'canQueueRun');
    const createdAtMs = clock.nowMs();
    const version: ConfigurationVersion = {
      ...given,
      id: newResourceId('cv'),
      workspaceId,
      status: 'pending',
      statusTimesMs: {},
      source: 'tfe-api',
      archive: null,
      createdById: principal.kind === 'user' ? principal.id : null,
      hasRun: false,
      announcedWith: principal.tokenId,
      createdAtMs,
    };
    await configurationVersionRecords.write(tx, [version.id], version);
    return version;
  });

/** Accepts the first upload, and replacements until a run uses the files. */
const requireReplaceable = ({ status, hasRun }: ConfigurationVersion): void => {
  if (status === 'pending' || (status === 'uploaded' && !hasRun)) return;
  throw new KeelsonError('workspace.conflict', {
    text: hasRun
      ? 'a run was queued with the uploaded configuration, whose files stay as they are'
      : `a configuration version that is ${status} accepts no upload`,
  });
};

/** Whether it becomes the workspace's current configuration version. */
const becomesCurrent = ({ speculative, provisional }: ConfigurationVersionInput): boolean =>
  !speculative && !provisional;

const storeReadme = (tx: Transaction, ownerId: string, markdown: string | null): void => {
  if (markdown === null) workspaceReadmes.delete(tx, ownerId);
  else workspaceReadmes.write(tx, [ownerId], { markdown });
};

export interface NewFiles {
  readonly workspace: Workspace;
  readonly version: ConfigurationVersion;
  readonly archive: StoredContent;
  /** Text of the README of the folder that runs work in, null when there is none. */
  readonly readme: string | null;
  /** Whether their run may apply without the confirmation of an authorized user. */
  readonly mayApply: boolean;
}

/** Gives a version its files: it becomes the workspace's current one if it may, and a run follows if it says so. */
export const storeUploaded = async (
  context: StateContext,
  tx: Transaction,
  { workspace, version, archive, readme, mayApply }: NewFiles,
): Promise<void> => {
  const uploaded: ConfigurationVersion = {
    ...version,
    status: 'uploaded',
    statusTimesMs: { uploaded: context.clock.nowMs() },
    archive,
  };
  await configurationVersionRecords.write(tx, [version.id], uploaded);
  const isCurrent = becomesCurrent(version);
  const next = isCurrent
    ? storeWorkspaceConfiguration(tx, workspace, {
        currentId: version.id,
        hasReadme: readme !== null,
      })
    : workspace;
  if (!version.speculative) storeReadme(tx, isCurrent ? workspace.id : version.id, readme);
  if (next !== workspace) await workspaceRecords.write(tx, workspace.id, next);
  for (const step of context.stateSteps) {
    await step.onConfigurationUploaded?.(tx, { workspace: next, version: uploaded, mayApply });
  }
};

/** @returns sees every piece of an upload, and throws when it is no gzip file or too large */
export const refuseOtherThanArchive = (): ((piece: Uint8Array) => void) => {
  let sizeBytes = 0;
  return (piece) => {
    if (sizeBytes === 0 && piece.byteLength > 1 && !isGzip(piece)) {
      throw new KeelsonError('request.invalid', { text: 'the configuration is not a tar.gz file' });
    }
    sizeBytes += piece.byteLength;
    if (sizeBytes > MAX_ARCHIVE_BYTES) {
      throw new KeelsonError('request.too_large', { limitBytes: MAX_ARCHIVE_BYTES });
    }
  };
};

/**
 * Stores the archive of a configuration version, replacing an earlier upload that no run uses. The caller
 * holds a signed URL; it acts with the current rights of the caller who created the version.
 * @throws KeelsonError `request.too_large`, `workspace.conflict`, `workspace.not_found` when that caller may
 * no longer queue runs
 */
export const uploadConfiguration = async (
  context: StateContext,
  versionId: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const { store } = context;
  const announced = await configurationVersionRecords.find(store, versionId);
  if (announced === undefined) throw notFound('configuration version');
  const owner = await requireAnnouncer(context, store, announced, 'canQueueRun');
  requireReplaceable(announced);
  const content = await storeContent(context, pieces, refuseOtherThanArchive());
  const folder = owner.workspace.settings.workingDirectory ?? '';
  const readme = !announced.speculative
    ? await findReadme(await readLooseContent(context, content), folder)
    : null;
  await store.transact(async (tx) => {
    const version = await configurationVersionRecords.find(tx, versionId);
    const workspace = version && (await workspaceRecords.find(tx, version.workspaceId));
    if (version === undefined || workspace === undefined) throw notFound('configuration version');
    const { permissions } = await requireAnnouncer(context, tx, version, 'canQueueRun');
    requireReplaceable(version);
    await releaseContent(tx, version.archive);
    const archive = await adoptContent(context, tx, content);
    const mayApply = permissions.canQueueApply;
    await storeUploaded(context, tx, { workspace, version, archive, readme, mayApply });
  });
};

export interface ConfigurationVersionAccess extends WorkspaceAccessResult {
  readonly version: ConfigurationVersion;
}

/** @throws KeelsonError `workspace.not_found` */
export const requireConfigurationVersion = async (
  reads: Reads,
  principal: Principal,
  versionId: string,
  permission: 'canReadRun' | 'canQueueRun' | 'canUpdate' = 'canReadRun',
): Promise<ConfigurationVersionAccess> => {
  const version = await configurationVersionRecords.find(reads, versionId);
  if (version === undefined) throw notFound('configuration version');
  const address = { workspaceId: version.workspaceId };
  return { ...(await requireWorkspace(reads, principal, address, permission)), version };
};

export interface ConfigurationVersionPage {
  readonly versions: readonly ConfigurationVersion[];
  readonly totalCount: number;
}

/** Configuration versions of a workspace, newest first. */
export const listConfigurationVersions = async (
  { store }: StateContext,
  principal: Principal,
  workspaceId: string,
  { number, size }: Page,
): Promise<ConfigurationVersionPage> => {
  await requireWorkspace(store, principal, { workspaceId }, 'canReadRun');
  const [counted] = await store.select((tables: Kysely<ConfigurationVersionTables>) =>
    tables
      .selectFrom('configuration_version')
      .where('workspace_id', '=', workspaceId)
      .select((rows) => rows.fn.countAll<number | bigint>().as('versions')),
  );
  const rows = await store.select((tables: Kysely<ConfigurationVersionTables>) =>
    tables
      .selectFrom('configuration_version')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(size)
      .offset((number - 1) * size),
  );
  const found = await Promise.all(
    rows.map(({ id }) => configurationVersionRecords.find(readableOnly(store), id)),
  );
  return {
    versions: found.filter((version) => version !== undefined),
    totalCount: Number(counted?.versions ?? 0),
  };
};
