import { readableOnly, type Transaction } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import { releaseContent } from '../contents/state-content-operations.ts';
import type { ConfigurationVersion } from '../model/domain/configuration-version.ts';

/** Keyed by `cv-…`. */
export const configurationVersionRecords = keyedRecords<ConfigurationVersion>(
  'shared/configuration-versions/',
);

/** Workspace id, `cv-…`. */
export const workspaceConfigurationVersions = keyedRecords<Record<never, never>>(
  'shared/workspace-configuration-versions/',
);

/**
 * README of a workspace's current configuration, keyed by `ws-…`, and of a provisional one, keyed by `cv-…`.
 */
export const workspaceReadmes = keyedRecords<{ readonly markdown: string }>(
  'shared/workspace-readmes/',
);

/** Removes the configuration versions of a deleted workspace. */
export const removeConfigurationVersionsOf = async (
  tx: Transaction,
  workspaceId: string,
): Promise<void> => {
  workspaceReadmes.delete(tx, workspaceId);
  for (const id of await workspaceConfigurationVersions.keys(tx, [workspaceId])) {
    const version = await configurationVersionRecords.find(readableOnly(tx), id);
    await releaseContent(tx, version?.archive ?? null);
    configurationVersionRecords.delete(tx, id);
    workspaceReadmes.delete(tx, id);
    workspaceConfigurationVersions.delete(tx, workspaceId, id);
  }
};
