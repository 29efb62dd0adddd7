import type { Reads, Transaction } from '@keelson/storage';
import { keyedRecords } from '../records/keyed-records.ts';
import { releaseContent } from '../states/state-content-operations.ts';
import type { ConfigurationVersion } from './domain/configuration-version.ts';

/** Keyed by `cv-…`. */
export const configurationVersionRecords = keyedRecords<ConfigurationVersion>(
  'shared/configuration-versions/',
);

/** Workspace id, `cv-…`. */
export const workspaceConfigurationVersions = keyedRecords<{ readonly createdAtMs: number }>(
  'shared/workspace-configuration-versions/',
);

/** What the current configuration of a workspace says of itself, keyed by `ws-…`. */
export const workspaceReadmes = keyedRecords<{ readonly markdown: string }>(
  'shared/workspace-readmes/',
);

/** Those of a workspace, newest first. */
export const listConfigurationVersionIds = async (
  reads: Reads,
  workspaceId: string,
): Promise<readonly string[]> => {
  const ids = await workspaceConfigurationVersions.keys(reads, [workspaceId]);
  const found = await Promise.all(
    ids.map(async (id) => ({
      id,
      createdAtMs:
        (await workspaceConfigurationVersions.find(reads, workspaceId, id))?.createdAtMs ?? 0,
    })),
  );
  return found
    .sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
};

/** With their workspace. */
export const removeConfigurationVersionsOf = async (
  tx: Transaction,
  workspaceId: string,
): Promise<void> => {
  workspaceReadmes.delete(tx, workspaceId);
  for (const id of await workspaceConfigurationVersions.keys(tx, [workspaceId])) {
    const version = await configurationVersionRecords.find(tx, id);
    await releaseContent(tx, version?.archive ?? null);
    configurationVersionRecords.delete(tx, id);
    workspaceConfigurationVersions.delete(tx, workspaceId, id);
  }
};
